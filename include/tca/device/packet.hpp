/// @file
/// A Packet carries 12 bytes of data together with a flag that says they have arrived. One access stores its
/// 16 bytes and one loads them, so neither a fence nor a second store separates the data from the signal.
/// The protocol ll (tca/device/ll.hpp), small collectives and sums are made of packets, and a kernel may use
/// them for a protocol of its own:
///
///     auto box = world.window<tca::device::Packet>(n);      // on the host: zeros, which carry no step
///
///     box.parts[to][i].write(Packet::of(value, step));      // in the sender's kernel, with box.device()
///
///     const Packet* const mine = box.parts[box.rank] + i;   // in the receiver's
///     BoundedWait waiting(limits, step);                    // with a team's or a chain's limits
///     Packet got = mine->read_once();
///     while (!got.carries(step)) {
///       if (!waiting.keep_polling(from)) return false;
///       got = mine->read_once();
///     }
///     use(got.data());
///
/// The flag is a number on which both sides agree, usually that of the step. It must differ from what the
/// same place held before; a new window holds zeros, so begin with 1.
///
/// Once a packet carries the flag, the receiver may assume that its data are those that were written with it,
/// and no more. Both accesses are relaxed: nothing else that the sender has stored need have arrived, other
/// packets included, so each must be checked. The sender may not write to a place again before it knows that
/// the receiver has read it: by an acknowledgement, or by anything that the receiver sends only after that.
#pragma once

#include "tca/device/memory.hpp"

namespace tca::device {

/// A value in registers. Only `write` and `read_once` may access a place in a window through which values
/// travel: a plain copy may be torn. Such a place needs nothing but the type's alignment.
struct alignas(16) Packet {
  static constexpr Word words = 3;  ///< of data

  std::uint64_t low, high;  ///< words 0 and 1; word 2 and, in the upper half, the flag

  static TCA_DEVICE Packet of(const Word (&data)[words], Word flag) {
    return {std::uint64_t{data[1]} << 32 | data[0], std::uint64_t{flag} << 32 | data[2]};
  }
  /// With 8 bytes of data and nothing in the third word, for values that must not be split across two
  /// packets.
  static TCA_DEVICE Packet of(std::uint64_t data, Word flag) { return {data, std::uint64_t{flag} << 32}; }

  TCA_DEVICE bool carries(Word flag) const { return static_cast<Word>(high >> 32) == flag; }
  TCA_DEVICE Word word(Word k) const { return static_cast<Word>(k == 0 ? low : k == 1 ? low >> 32 : high); }
  TCA_DEVICE std::uint64_t data() const { return low; }  ///< words 0 and 1

  /// Stores a packet here, in this rank's window or in another's. Relaxed, of system scope: it arrives
  /// whole, and is not ordered with anything.
  TCA_DEVICE void write(Packet packet);
  /// Loads what is here now, whole, without waiting for anything; `carries` says whether it is what the
  /// caller waits for. Relaxed, of system scope.
  TCA_DEVICE Packet read_once() const;
  /// Loads as `read_once` does, and acquires: what the sender stored before a fence and this packet can be
  /// read after. For a sender on the same GPU, and for any.
  TCA_DEVICE Packet read_acquire_gpu() const;
  TCA_DEVICE Packet read_acquire() const;
};
static_assert(sizeof(Packet) == 16);

#ifdef __CUDA_ARCH__

// PTX's memory consistency model treats an access of a scalar as one operation, whole or not there at all,
// and knows scalars of 128 bits from PTX ISA 8.3 (CUDA 12.3) on. An access of a vector is as many
// operations as it has elements, in no order. Before 12.3 a vector is used in the scalar's place all the
// same: it is the same instruction on sm_80 and sm_90 (LDG.E.128.STRONG.SYS, STG.E.128.STRONG.SYS), only
// with a weaker promise.
#if __CUDACC_VER_MAJOR__ > 12 || __CUDACC_VER_MINOR__ >= 3
#define TCA_STORE_PACKET \
  "{\n\t.reg .b128 packet;\n\tmov.b128 packet, {%1, %2};\n\tst.relaxed.sys.global.b128 [%0], packet;\n\t}"
#define TCA_LOAD_PACKET(how) \
  "{\n\t.reg .b128 packet;\n\tld." how ".global.b128 packet, [%2];\n\tmov.b128 {%0, %1}, packet;\n\t}"
#else
#define TCA_STORE_PACKET "st.relaxed.sys.global.v2.u64 [%0], {%1, %2};"
#define TCA_LOAD_PACKET(how) "ld." how ".global.v2.u64 {%0, %1}, [%2];"
#endif
TCA_DEVICE void Packet::write(Packet packet) {
  asm volatile(TCA_STORE_PACKET ::"l"(this), "l"(packet.low), "l"(packet.high) : "memory");
}
TCA_DEVICE Packet Packet::read_once() const {
  Packet packet;
  asm volatile(TCA_LOAD_PACKET("relaxed.sys") : "=l"(packet.low), "=l"(packet.high) : "l"(this) : "memory");
  return packet;
}
TCA_DEVICE Packet Packet::read_acquire_gpu() const {
  Packet packet;
  asm volatile(TCA_LOAD_PACKET("acquire.gpu") : "=l"(packet.low), "=l"(packet.high) : "l"(this) : "memory");
  return packet;
}
TCA_DEVICE Packet Packet::read_acquire() const {
  Packet packet;
  asm volatile(TCA_LOAD_PACKET("acquire.sys") : "=l"(packet.low), "=l"(packet.high) : "l"(this) : "memory");
  return packet;
}
#undef TCA_STORE_PACKET
#undef TCA_LOAD_PACKET

#else

// Hosts need not have atomics of 16 bytes. So the half with the flag is stored last, with release, and loaded
// first, with acquire: a thread that sees the flag has the rest.
TCA_DEVICE void Packet::write(Packet packet) {
  std::atomic_ref(low).store(packet.low, std::memory_order_relaxed);
  std::atomic_ref(high).store(packet.high, std::memory_order_release);
}
TCA_DEVICE Packet Packet::read_once() const {
  Packet& here = const_cast<Packet&>(*this);
  const std::uint64_t flagged = std::atomic_ref(here.high).load(std::memory_order_acquire);
  return {std::atomic_ref(here.low).load(std::memory_order_relaxed), flagged};
}
TCA_DEVICE Packet Packet::read_acquire_gpu() const { return read_once(); }
TCA_DEVICE Packet Packet::read_acquire() const { return read_once(); }

#endif

}  // namespace tca::device
