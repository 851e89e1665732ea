// The direct protocol: the sender stores into the final place, then raises one signal per segment.
//
// In a guarded chain the sender first needs the receiver's permission: "I am done reading what arrived in
// the step before". The receiver gives it as soon as all of its parts have reached `start`.
//
// `ThreadGroup` carries a part of the chain: it is a block or a warp on a GPU, a thread on the host. A
// group has its part() and the number of parts(), a lane() and the number of its lanes(), sync() between
// its lanes, any(b), and all(b), which is true on every lane if b is true on each, and orders memory as
// sync() does.
#pragma once

#include "tca/device/counted.hpp"
#include "tca/device/times.hpp"
#include "tca/device/wait_limits.hpp"

namespace tca::device {

struct alignas(16) Atom16 {
  std::uint64_t low, high;
};

// A segment, or its arrival: the put that it belongs to, and its number within that put.
template <class Item>
struct Segment {
  Item item;
  Word number = 0;
};

template <class Item>
TCA_DEVICE Segment<Item> find_segment(const Table<Item>& table, Word segment) {
  Word first = 0, i = 0;
  Item item = table[0];
  while (segment >= item.end_segment) {
    first = item.end_segment;
    item = table[++i];
  }
  return {item, segment - first};
}

// Copies the put's atoms from `begin` to `end`. It asks `may_store` once, when the first atoms are already
// on their way here, and stores nothing before; false if the answer was no.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // only what has been loaded is stored
#endif
template <class Atom, class ThreadGroup, class MayStore>
TCA_DEVICE bool copy_atoms(const Stores& put, Word begin, Word end, const ThreadGroup& group,
                           const MayStore& may_store) {
  constexpr Word in_flight = 4;  // loads before the first store: one L2 latency for four atoms
  for (Word base = begin; base < end; base += in_flight * group.lanes()) {
    Atom atoms[in_flight];
    std::byte* to[in_flight];
    TCA_UNROLL
    for (Word k = 0; k < in_flight; ++k) {
      const Word atom = base + group.lane() + k * group.lanes();
      if (atom >= end) break;
      const Position position = put.loops.at(atom);
      atoms[k] = *reinterpret_cast<const Atom*>(put.from + put.from_pitches.offset(position, sizeof(Atom)));
      to[k] = put.to + put.to_pitches.offset(position, sizeof(Atom));
    }
    if (base == begin && !may_store()) return false;
    TCA_UNROLL
    for (Word k = 0; k < in_flight; ++k) {
      if (base + group.lane() + k * group.lanes() < end) *reinterpret_cast<Atom*>(to[k]) = atoms[k];
    }
  }
  return true;
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class ThreadGroup, class MayStore>
TCA_DEVICE bool copy_segment(const Stores& put, Word segment, const ThreadGroup& group,
                             const MayStore& may_store) {
  const Word begin = segment * put.segment_atoms;
  const Word end = put.loops.atoms - begin < put.segment_atoms ? put.loops.atoms : begin + put.segment_atoms;
  if (put.source_comes && !may_store()) return false;
  switch (put.atom_bytes) {
    case 16:
      return copy_atoms<Atom16>(put, begin, end, group, may_store);
    case 8:
      return copy_atoms<std::uint64_t>(put, begin, end, group, may_store);
    case 4:
      return copy_atoms<std::uint32_t>(put, begin, end, group, may_store);
    case 2:
      return copy_atoms<std::uint16_t>(put, begin, end, group, may_store);
    default:
      return copy_atoms<std::uint8_t>(put, begin, end, group, may_store);
  }
}

// Cuts a counted put short to a number of elements, and stores that number beside the signals of its first
// segment. Returns false if permission was not given.
template <class ThreadGroup, class MayStore>
TCA_DEVICE bool send_length(Stores& put, Word elements, Word segment, const ThreadGroup& group,
                            const MayStore& may_store) {
  const Word bytes = elements * put.element_bytes, whole = bytes / put.atom_bytes;
  put.loops.atoms = whole;
  // The rest of a block, less than an atom, goes by bytes, with the segment that it would begin.
  const Word rest = bytes % put.atom_bytes;
  const bool has_rest = rest > 0 && segment == whole / put.segment_atoms;
  if (segment != 0 && !has_rest) return true;
  if (!may_store()) return false;
  if (segment == 0 && group.lane() == 0) *put.length_there = elements;
  for (Word i = group.lane(); has_rest && i < rest; i += group.lanes())
    put.to[bytes - rest + i] = put.from[bytes - rest + i];
  return true;
}

// Waits, by one lane, until a flag has reached a step. Acquire: pairs with the release that raised the flag.
TCA_DEVICE bool await(const Word* flag, Word step, Word link, const WaitLimits& limits) {
  BoundedWait waiting(limits, step);
  while (!reached(load_acquire(flag), step)) {
    if (!waiting.keep_polling(link)) return false;
  }
  return true;
}

// Waits until all parts have reached the `start` of the step before, so that each is counted once a step: a
// part to which nothing is sent could otherwise reach `start` twice before another has reached it once.
TCA_DEVICE bool await_other_parts(const DeviceChain& chain, Word step) {
  BoundedWait waiting(chain.limits, step);
  // Relaxed: it only keeps counts apart, and `count_up` orders those.
  while (!reached(load_relaxed(chain.posted), step - 1)) {
    if (!waiting.keep_polling(no_link)) return false;
  }
  return true;
}

// How the parts of a chain come to a step.
enum class PartsStart : std::uint8_t {
  apart,        // each by itself
  together,     // none before all are done with the step before
  with_kernel,  // likewise, since their kernel begins with it
};

// Tells the partners "I am done reading what arrived in the step before". The last part to reach `start`
// says so; if parts start together, the first part does, and parts are not counted. False, on every lane,
// if it gave up.
template <class ThreadGroup>
TCA_DEVICE_APART bool post_ready(const DeviceChain& chain, Word step, ThreadGroup group, PartsStart starts) {
  if (chain.readies.count == 0) return true;
  bool last = group.part() == 0;
  if (starts == PartsStart::apart) {
    // This vote also puts the other lanes' reads before the count.
    if (!group.all(group.lane() != 0 || await_other_parts(chain, step))) return false;
    last = group.any(group.lane() == 0 && count_up(chain.count, group.parts() - 1) == group.parts() - 1);
  }
  if (!last) return true;
  for (Word i = group.lane(); i < chain.readies.count; i += group.lanes()) {
    // Pairs with the acquire in `send_stores`. A kernel that begins has stored and loaded nothing, and
    // earlier ones have ended: what they have stored is in this GPU's L2. So no fence, which takes 0.5 us,
    // is needed there.
    if (starts == PartsStart::with_kernel)
      store_relaxed(chain.readies[i].flag, step);
    else
      store_release(chain.readies[i].flag, step);
  }
  if (group.lane() == 0) store_relaxed(chain.posted, step);
  return true;
}

// Returns the link whose permission this lane's share of `send_stores` would have to wait for, or no_link.
template <class ThreadGroup>
TCA_DEVICE_APART Word missing_permission(const DeviceChain& chain, Word step, ThreadGroup group) {
  for (Word s = group.part() + group.lane() * group.parts(); s < chain.segments_out;
       s += group.lanes() * group.parts()) {
    const Segment<Stores> segment = find_segment(chain.stores, s);
    const Word* ready = segment.item.ready;
    if (ready != nullptr && !reached(load_acquire(ready), step)) return segment.item.link;
  }
  return no_link;
}

// Returns the link for whose arrivals this lane's share of `receive_stores` would have to wait, or no_link.
template <class ThreadGroup>
TCA_DEVICE_APART Word missing_stores(const DeviceChain& chain, Word step, ThreadGroup group) {
  for (Word s = group.part() + group.lane() * group.parts(); s < chain.segments_in;
       s += group.lanes() * group.parts()) {
    const Segment<Arrivals> segment = find_segment(chain.arrivals, s);
    if (!reached(load_acquire(segment.item.arrived + segment.number), step)) return segment.item.link;
  }
  return no_link;
}

// Both return false if they gave up. With `counts` there may be counted puts.
template <bool counts = false, class ThreadGroup>
TCA_DEVICE bool send_stores(const DeviceChain& chain, Word step, ThreadGroup group, bool with_copy_engine) {
  if (chain.segments_out == 0) return true;
  for (Word s = group.part(); s < chain.segments_out; s += group.parts()) {
    Segment<Stores> segment = find_segment(chain.stores, s);
    Stores& put = segment.item;
    if (put.by_copy_engine && with_copy_engine) continue;
    const auto may_store = [&] {
      return put.ready == nullptr ||
             group.all(group.lane() != 0 || await(put.ready, step, put.link, chain.limits));
    };
    if constexpr (counts) {
      if (put.length != nullptr) {
        const Word elements = *put.length;
        if (elements == no_length || !send_length(put, elements, segment.number, group, may_store))
          return false;
        if (put.loops.atoms <= segment.number * put.segment_atoms) continue;
      }
    }
    if (put.loops.atoms > 0 && !copy_segment(put, segment.number, group, may_store)) return false;
  }
  group.sync();
  // Each lane raises one signal: a release waits until the group's stores have arrived, which takes as long
  // for many as for one.
  for (Word s = group.part() + group.lane() * group.parts(); s < chain.segments_out;
       s += group.lanes() * group.parts()) {
    const Segment<Stores> segment = find_segment(chain.stores, s);
    if (segment.item.by_copy_engine && with_copy_engine) continue;
    store_release(segment.item.arrived + segment.number, step);  // pairs with the acquire in `receive_stores`
  }
  return true;
}

// Out of line, for the sake of chains without counted puts, whose code is inline.
template <class ThreadGroup>
TCA_DEVICE_APART bool send_counted_stores(const DeviceChain& chain, Word step, ThreadGroup group,
                                          bool with_copy_engine) {
  return send_stores<true>(chain, step, group, with_copy_engine);
}

template <class ThreadGroup>
TCA_DEVICE bool receive_stores(const DeviceChain& chain, Word step, ThreadGroup group) {
  if (chain.segments_in == 0) return true;
  bool arrived = true;
  for (Word s = group.part() + group.lane() * group.parts(); arrived && s < chain.segments_in;
       s += group.lanes() * group.parts()) {
    const Segment<Arrivals> segment = find_segment(chain.arrivals, s);
    bool at_once = true;
    if constexpr (TakesTimes<ThreadGroup>)
      at_once = reached(load_acquire(segment.item.arrived + segment.number), step);
    arrived = await(segment.item.arrived + segment.number, step, segment.item.link, chain.limits);
    if (arrived) note_arrival(group, segment.item.link, step, at_once);
  }
  return group.all(arrived);
}

}  // namespace tca::device
