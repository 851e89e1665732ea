/// @file
/// Produced puts as an accelerator sees them: a kernel writes element i straight into the packets that carry
/// it, and the receiver's kernel reads it from there. Passed to kernels by value; see tca/produced.cuh.
///
/// Nothing is packed, and there is no barrier between the arithmetic that produces an element and its
/// store, nor between its arrival and its use. An element takes whole packets, 16 bytes for every 12 of its
/// own.
///
/// Packets have two buffers, for even steps and for odd ones. An element of step n overwrites that of step
/// n - 2, which must have been read by then:
///   - In a guarded chain, the receiver's start of step n - 1 says that it is done reading step n - 2, and
///     the sender's start of step n waits for this. This is signalled for each lot of 32 elements, by the
///     part to which the lot belongs.
///   - In an unguarded chain this is not signalled, and `write` and `read` take the number of the step. The
///     caller guarantees that the receiver has read element i of step n - 2, or never will, when it writes
///     that of step n. That holds, for example, if two ranks produce for each other and element i of a step
///     is written after that of the step before has been read.
///
/// verify/models/produced.pml models both.
#pragma once

#include <cstring>
#include <type_traits>

#include "tca/device/mistakes.hpp"
#include "tca/device/packet.hpp"
#include "tca/device/stores.hpp"

namespace tca {

namespace device {

inline constexpr Word elements_per_lot = 32;  // one a lane of a warp

TCA_DEVICE constexpr Word packets_of_element(std::size_t bytes) {
  constexpr std::size_t carried = Packet::words * sizeof(Word);
  return static_cast<Word>((bytes + carried - 1) / carried);
}
TCA_DEVICE constexpr Word lots_of(Word elements) {
  return (elements + elements_per_lot - 1) / elements_per_lot;
}

// One end of a produced put.
struct Produced {
  Packet* packets = nullptr;  // at the receiver: two buffers
  // At the sender, one per lot: the last step that the receiver has read; see above. For a produced signal,
  // at the receiver: the last step that was raised.
  Word* acks = nullptr;
  const ElementCheck* check = nullptr;  // in device memory; null where elements are not checked
  Word elements = 0;
  Word first_lot = 0;  // its number among those of all ends that send, or that receive
  Word buffer = 0;     // packets of a buffer
  Word link = 0;

  TCA_DEVICE Packet* buffer_of(Word step) const {
    return packets + static_cast<std::size_t>((step & 1) * buffer);
  }
};

// The place of an element's first packet in a buffer. Its others follow at distances of a lot, so that the
// lanes of a warp write and read adjacent packets.
TCA_DEVICE constexpr Word place_of_element(Word i, Word packets_each) {
  return i / elements_per_lot * (elements_per_lot * packets_each) + i % elements_per_lot;
}

}  // namespace device

/// The sending end of a produced put of elements T.
template <class T>
struct DeviceProducedPut : device::Produced {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr device::Word packets_each = device::packets_of_element(sizeof(T));

  /// Sends an element, 0 to `elements` - 1, once in a step, by one thread. One outside this range goes
  /// nowhere.
  TCA_DEVICE void write(device::Word i, const T& value, device::Word step) const {
    using namespace device;
    if (check != nullptr) ElementChecks::note(check, i, elements, link, step);
    if (i >= elements) return;
    Word words[packets_each][Packet::words] = {};
    std::memcpy(words, &value, sizeof(T));
    Packet* const to = buffer_of(step) + place_of_element(i, packets_each);
    TCA_UNROLL
    for (Word k = 0; k < packets_each; ++k)
      to[static_cast<std::size_t>(k * elements_per_lot)].write(Packet::of(words[k], step));
  }
};

/// The receiving end of a produced put of elements T.
template <class T>
struct DeviceProducedArrival : device::Produced {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr device::Word packets_each = device::packets_of_element(sizeof(T));

  /// Waits for an element of a step and calls use(element); any number of threads may read the same one.
  /// Returns false, without that call, if it has given up; `limits` are the chain's.
  template <class Use>
  TCA_DEVICE bool read_for(device::Word i, device::Word step, const device::WaitLimits& limits,
                           const Use& use) const {
    using namespace device;
    if (i >= elements) return refuse(i, step, limits);
    Packet come[1][packets_each];
    if (!await_elements(i, 1, i + 1, step, limits, come)) return false;
    use(element_of(come[0]));
    return true;
  }

  /// The same for the elements `first`, `first + stride` and so on below `end`: calls use(i, element) for
  /// each. It loads `at_once` of them together, since one after the other each would take a trip to the L2
  /// even if all have arrived.
  template <device::Word at_once, class Use>
  TCA_DEVICE bool read_every(device::Word first, device::Word stride, device::Word end, device::Word step,
                             const device::WaitLimits& limits, const Use& use) const {
    using namespace device;
    if (end > elements) return refuse(end - 1, step, limits);
    for (Word base = first; base < end; base += at_once * stride) {
      Packet come[at_once][packets_each];
      if (!await_elements(base, stride, end, step, limits, come)) return false;
      TCA_UNROLL
      for (Word k = 0; k < at_once; ++k)
        if (base + k * stride < end) use(base + k * stride, element_of(come[k]));
    }
    return true;
  }

  /// The same, with a place for the element. A large one takes fewer registers the other way.
  TCA_DEVICE bool read(device::Word i, T& value, device::Word step, const device::WaitLimits& limits) const {
    return read_for(i, step, limits, [&](const T& come) { value = come; });
  }

 private:
  // Waits for those of the elements `first`, `first + stride` and so on that are below `end`. It loads all packets
  // before it looks at any: one round trip to the L2.
  template <device::Word count>
  TCA_DEVICE bool await_elements(device::Word first, device::Word stride, device::Word end, device::Word step,
                                 const device::WaitLimits& limits,
                                 device::Packet (&come)[count][packets_each]) const {
    using namespace device;
    const auto is_wanted = [&](Word e) { return e == 0 || first + e * stride < end; };
    const Packet* from[count];
    TCA_UNROLL
    for (Word e = 0; e < count; ++e)
      from[e] = buffer_of(step) + place_of_element(first + e * stride, packets_each);
    BoundedWait waiting(limits, step);
    for (;;) {
      TCA_UNROLL
      for (Word e = 0; e < count; ++e) {
        TCA_UNROLL
        for (Word k = 0; k < packets_each; ++k)
          if (is_wanted(e)) come[e][k] = from[e][static_cast<std::size_t>(k * elements_per_lot)].read_once();
      }
      Word missing = no_element;
      TCA_UNROLL
      for (Word e = 0; e < count; ++e) {
        TCA_UNROLL
        for (Word k = 0; k < packets_each; ++k)
          if (is_wanted(e) && !come[e][k].carries(step)) missing = first + e * stride;
      }
      if (missing == no_element) return true;
      if (!waiting.keep_polling(link)) {
        if (check != nullptr) ElementChecks::tell(check, Mistake::not_come, missing, elements, link, step);
        return false;
      }
    }
  }
  static constexpr device::Word no_element = ~device::Word{0};

  static TCA_DEVICE T element_of(const device::Packet (&come)[packets_each]) {
    using namespace device;
    Word words[packets_each][Packet::words];
    TCA_UNROLL
    for (Word k = 0; k < packets_each; ++k) {
      TCA_UNROLL
      for (Word w = 0; w < Packet::words; ++w) words[k][w] = come[k].word(w);
    }
    T value;
    std::memcpy(&value, words, sizeof(T));
    return value;
  }

  // An element that does not exist never arrives.
  TCA_DEVICE bool refuse(device::Word i, device::Word step, const device::WaitLimits& limits) const {
    using namespace device;
    if (check != nullptr) ElementChecks::tell(check, Mistake::out_of_range, i, elements, link, step);
    store_relaxed(limits.waiting + link, step);
    end_wait_in_vain(limits);
    return false;
  }
};

/// The two ends of a produced signal, which follows what kernels have stored by themselves into windows of
/// the target, such as those of DeviceWindow: it is raised by a kernel after them on the stream, or after a
/// barrier of theirs. It has no guard. Each step is raised once, and may be awaited by any threads.
struct DeviceProducedSignal {
  device::Word* raised = nullptr;  // at the receiver: the last step that was raised

  /// By one thread. Release: what happened before it is visible to any thread that has awaited it.
  TCA_DEVICE void raise(device::Word step) const { device::store_release(raised, step); }
  TCA_DEVICE bool there() const { return raised != nullptr; }
};
struct DeviceExpectedSignal {
  const device::Word* raised = nullptr;
  device::Word link = 0;

  /// Returns false if it has given up; `limits` are the chain's.
  TCA_DEVICE bool await(device::Word step, const device::WaitLimits& limits) const {
    return device::await(raised, step, link, limits);
  }
  TCA_DEVICE bool there() const { return raised != nullptr; }
};

namespace device {

/// How far a chain has come, for a kernel that counts its steps by itself: in an unguarded chain with
/// produced puts alone. Call `last` before the first step, and `keep` after the last one, by a group of
/// threads that no other thread is behind any more.
struct Progress {
  Word* steps = nullptr;  // see DeviceChain
  WaitLimits limits;      // for DeviceProducedArrival::read

  TCA_DEVICE bool there() const { return steps != nullptr; }
  TCA_DEVICE Word last() const { return steps[0]; }
  TCA_DEVICE void keep(Word step, Word lane, Word lanes) const {
    for (Word e = lane; e < max_parts; e += lanes) steps[e] = step;
  }
};

}  // namespace device

/// A chain with produced puts. Its ends are in device memory, those of this rank's puts first; if it has no
/// guard and elements are not checked, nothing needs them there.
struct DeviceProducedChain : DeviceChain {
  const device::Produced* produced = nullptr;
  device::Word produced_out = 0, produced_in = 0;
  device::Flag produced_guarded = 0, produced_checked = 0;

  TCA_DEVICE device::Progress progress() const { return {steps, limits}; }
};

namespace device {

// Returns the first lot of an end that belongs to one of several who take those of all ends in turn.
TCA_DEVICE Word own_lot(const Produced& end, Word index, Word count) {
  return (index + count - end.first_lot % count) % count;
}

// In these functions `Group` carries a part of the chain, to which lots belong in turn. Every lane of the
// group calls them, between two calls of sync(): the first two if the chain has a guard, the third if
// elements are checked.

// Calls visit(end, lot) for the lots of this lane. Each end begins with a different warp, as a single one
// would take its trips to the L2 one after the other.
template <class Group, class Visit>
TCA_DEVICE void for_lots(const Produced* ends, Word count, const Group& group, const Visit& visit) {
  constexpr Word warp = 32;
  Word lane = group.lane();
  for (Word e = 0; e < count; ++e) {
    const Produced& end = ends[e];
    const Word lots = lots_of(end.elements);
    for (Word l = own_lot(end, group.part(), group.parts()) + lane * group.parts(); l < lots;
         l += group.lanes() * group.parts())
      visit(end, l);
    if (group.lanes() > warp) lane = lane < warp ? lane + group.lanes() - warp : lane - warp;
  }
}

// The acknowledgements of a lane's lots. If there is one, as usual, its place is looked up once: the ends
// are in memory, and would take a trip to the L2 in every step.
class OwnAcks {
 public:
  OwnAcks() = default;
  template <class Group>
  TCA_DEVICE OwnAcks(const Produced* ends, Word count, const Group& group) : ends_(ends), count_(count) {
    for_lots(ends, count, group, [&](const Produced& end, Word lot) {
      if (lots_++ > 0) return;
      ack_ = end.acks + lot;
      link_ = end.link;
    });
  }

  // Calls visit(ack, link) for each.
  template <class Group, class Visit>
  TCA_DEVICE void each(const Group& group, const Visit& visit) const {
    if (lots_ == 1) visit(ack_, link_);
    if (lots_ > 1)
      for_lots(ends_, count_, group, [&](const Produced& end, Word lot) { visit(end.acks + lot, end.link); });
  }

 private:
  const Produced* ends_ = nullptr;
  Word count_ = 0, lots_ = 0, link_ = 0;
  Word* ack_ = nullptr;
};

template <class Group>
TCA_DEVICE OwnAcks acks_of_sent(const DeviceProducedChain& chain, const Group& group) {
  return {chain.produced, chain.produced_out, group};
}
template <class Group>
TCA_DEVICE OwnAcks acks_of_arrived(const DeviceProducedChain& chain, const Group& group) {
  return {chain.produced + chain.produced_out, chain.produced_in, group};
}

// Tells the senders that this part is done reading `step`. Relaxed: a thread that has read an element has
// its packets in registers, so no later store of the sender can overtake the loads.
template <class Group>
TCA_DEVICE void acknowledge_elements(const OwnAcks& arrived, Word step, const Group& group) {
  arrived.each(group, [&](Word* ack, Word) { store_relaxed(ack, step); });
}

// Waits until this part's lots may be written in `step`. Returns false, on this lane alone, if it has given up.
template <class Group>
TCA_DEVICE bool await_room_for_elements(const OwnAcks& sent, const WaitLimits& limits, Word step,
                                        const Group& group) {
  bool good = true;
  sent.each(group, [&](const Word* ack, Word link) {
    BoundedWait waiting(limits, step);
    while (good && !reached(load_relaxed(ack), step - 2)) good = waiting.keep_polling(link);
  });
  return good;
}

// Reports those elements of this part that were not written in `step`.
template <class Group>
TCA_DEVICE_APART void check_elements(const DeviceProducedChain& chain, Word step, Group group) {
  for_lots(chain.produced, chain.produced_out, group, [&](const Produced& end, Word lot) {
    for (Word i = lot * elements_per_lot; i < (lot + 1) * elements_per_lot && i < end.elements; ++i) {
      if (load_relaxed(end.check->written + i) != step)
        ElementChecks::tell(end.check, Mistake::not_written, i, end.elements, end.link, step);
    }
  });
}

}  // namespace device

}  // namespace tca
