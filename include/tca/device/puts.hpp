// A single put that a kernel makes by itself: stores into another rank's part of a window, which wait for
// nobody.
//
// `ThreadGroup` carries the put: it is a block or a thread on a GPU, threads on the host. A group has a
// lane() and the number of its lanes(), and sync() between its lanes, which also keeps the compiler from
// moving memory accesses across it.
#pragma once

#include <type_traits>

#include "tca/device/stores.hpp"
#include "tca/device/window.hpp"

namespace tca::device {

// A number as large as the alignment of T; any copy of elements can be made of such.
template <class T>
using AtomOf = std::conditional_t<
    alignof(T) >= 16, Atom16,
    std::conditional_t<alignof(T) == 8, std::uint64_t,
                       std::conditional_t<alignof(T) == 4, std::uint32_t,
                                          std::conditional_t<alignof(T) == 2, std::uint16_t, std::uint8_t>>>>;

// Copies contiguous atoms, neighbouring ones by neighbouring lanes. Unlike `copy_atoms` it has no loops,
// and counts in 64 bits.
template <class Atom, class ThreadGroup>
TCA_DEVICE void copy_row(std::byte* to, const std::byte* from, std::uint64_t atoms,
                         const ThreadGroup& group) {
  constexpr Word in_flight = 4;  // loads before the first store: one latency of memory for four atoms
  const std::uint64_t lanes = group.lanes();
  for (std::uint64_t base = group.lane(); base < atoms; base += in_flight * lanes) {
    Atom held[in_flight] = {};
    TCA_UNROLL
    for (Word k = 0; k < in_flight; ++k) {
      const std::uint64_t atom = base + k * lanes;
      if (atom < atoms) held[k] = reinterpret_cast<const Atom*>(from)[atom];
    }
    TCA_UNROLL
    for (Word k = 0; k < in_flight; ++k) {
      const std::uint64_t atom = base + k * lanes;
      if (atom < atoms) reinterpret_cast<Atom*>(to)[atom] = held[k];
    }
  }
}

// Copies between addresses that differ by a multiple of an atom. Small atoms are used up to the first
// address at which both are aligned, and after the last.
template <class Atom, class Small, class ThreadGroup>
TCA_DEVICE void copy_aligned(std::byte* to, const std::byte* from, std::uint64_t bytes,
                             const ThreadGroup& group) {
  if constexpr (sizeof(Atom) <= sizeof(Small)) {
    copy_row<Small>(to, from, bytes / sizeof(Small), group);
  } else {
    std::uint64_t head = (0 - reinterpret_cast<std::uintptr_t>(to)) % sizeof(Atom);
    if (head > bytes) head = bytes;
    const std::uint64_t body = (bytes - head) / sizeof(Atom) * sizeof(Atom);
    copy_row<Small>(to, from, head / sizeof(Small), group);
    copy_row<Atom>(to + head, from + head, body / sizeof(Atom), group);
    copy_row<Small>(to + head + body, from + head + body, (bytes - head - body) / sizeof(Small), group);
  }
}

// Copies with the largest atoms that the two addresses allow.
template <class Small, class ThreadGroup>
TCA_DEVICE void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes,
                           const ThreadGroup& group) {
  const auto apart =
      static_cast<Word>(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
  if (apart % 16 == 0) {
    copy_aligned<Atom16, Small>(to, from, bytes, group);
  } else if (apart % 8 == 0) {
    copy_aligned<std::uint64_t, Small>(to, from, bytes, group);
  } else if (apart % 4 == 0) {
    copy_aligned<std::uint32_t, Small>(to, from, bytes, group);
  } else if (apart % 2 == 0) {
    copy_aligned<std::uint16_t, Small>(to, from, bytes, group);
  } else {
    copy_aligned<std::uint8_t, Small>(to, from, bytes, group);
  }
}

struct Refuse {
  // Tells the host of a refused put, if it is the first of this rank's kernels. One thread calls it. It is
  // out of line and takes its arguments by value, so that a put needs neither its registers nor the window in
  // memory.
  static TCA_DEVICE_APART void put(Word* refused, Refusal* told, Refusal what) {
    if (count_up(refused, ~Word{0}) != 0) return;
    told->rank = what.rank;
    told->offset = what.offset;
    told->count = what.count;
    told->held = what.held;
    // Release: pairs with the acquire of the host, which then reads the rest.
    store_release(&told->window, what.window);
  }
};

// Whether a put is within the target's part; if not, one lane reports it.
template <class T, class ThreadGroup>
TCA_DEVICE bool may_put(const DeviceWindow<T>& window, Word rank, std::uint64_t offset, std::uint64_t count,
                        const ThreadGroup& group) {
  const std::uint64_t held = rank < window.size ? window.elements[rank] : 0;
  if (rank < window.size && count <= held && offset <= held - count) return true;
  const Refusal what{window.number, rank, offset, count, held};
  if (group.lane() == 0) Refuse::put(window.refused, window.refusal, what);
  return false;
}

// Both of these store nothing and return false, on every lane, if the put would be outside the target's
// part.
template <class T, class ThreadGroup>
TCA_DEVICE bool put_value(const DeviceWindow<T>& window, Word rank, std::uint64_t offset, const T& value,
                          const ThreadGroup& group) {
  if (!may_put(window, rank, offset, 1, group)) return false;
  if (group.lane() == 0) window.parts[rank][offset] = value;
  return true;
}

template <class T, class ThreadGroup>
TCA_DEVICE bool put_elements(const DeviceWindow<T>& window, Word rank, std::uint64_t offset, const T* from,
                             std::uint64_t count, const ThreadGroup& group) {
  if (!may_put(window, rank, offset, count, group)) return false;
  group.sync();  // sends what any lane has stored
  copy_bytes<AtomOf<T>>(reinterpret_cast<std::byte*>(window.parts[rank] + offset),
                        reinterpret_cast<const std::byte*>(from), count * sizeof(T), group);
  group.sync();  // any lane may overwrite it
  return true;
}

}  // namespace tca::device
