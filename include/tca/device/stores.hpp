// The direct protocol: the sender stores into the final place, then raises one signal a segment.
//
// Guarded, it first needs the receiver's word that it is done reading what arrived in the step before; the receiver
// gives it as soon as all of its parts have come to `start`.
//
// `Block` is who carries a segment: a block on a GPU, a thread on the host. It has part() and parts(), lane() and
// lanes() within, sync() between its lanes, and all(b), which is true on every lane when b is on each, and orders memory as
// sync() does.
#pragma once

#include "tca/device/patience.hpp"

namespace tca::device {

struct alignas(16) Atom16 {
  std::uint64_t low, high;
};

// The owner of a segment or of its arrival.
template <class Item>
struct Segment {
  Item item;
  Word number = 0;  // within the put
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

// Stores nothing before `may_store`, which is asked once when the first atoms are already on their way here; false when
// it said no.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // only what has been loaded is stored
#endif
template <class Atom, class Block, class MayStore>
TCA_DEVICE bool copy_atoms(const Stores& put, Word begin, Word end, const Block& block,
                           const MayStore& may_store) {
  constexpr Word in_flight = 4;  // loads before the first store: one L2 latency for four atoms
  for (Word base = begin; base < end; base += in_flight * block.lanes()) {
    Atom atoms[in_flight];
    std::byte* to[in_flight];
    TCA_UNROLL
    for (Word k = 0; k < in_flight; ++k) {
      const Word atom = base + block.lane() + k * block.lanes();
      if (atom >= end) break;
      const Position position = put.loops.at(atom);
      atoms[k] = *reinterpret_cast<const Atom*>(put.from + put.from_pitches.offset(position, sizeof(Atom)));
      to[k] = put.to + put.to_pitches.offset(position, sizeof(Atom));
    }
    if (base == begin && !may_store()) return false;
    TCA_UNROLL
    for (Word k = 0; k < in_flight; ++k) {
      if (base + block.lane() + k * block.lanes() < end) *reinterpret_cast<Atom*>(to[k]) = atoms[k];
    }
  }
  return true;
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class Block, class MayStore>
TCA_DEVICE bool copy_segment(const Stores& put, Word segment, const Block& block, const MayStore& may_store) {
  const Word begin = segment * put.segment_atoms;
  const Word end = put.loops.atoms - begin < put.segment_atoms ? put.loops.atoms : begin + put.segment_atoms;
  if (put.source_comes && !may_store()) return false;
  switch (put.atom_bytes) {
    case 16:
      return copy_atoms<Atom16>(put, begin, end, block, may_store);
    case 8:
      return copy_atoms<std::uint64_t>(put, begin, end, block, may_store);
    case 4:
      return copy_atoms<std::uint32_t>(put, begin, end, block, may_store);
    case 2:
      return copy_atoms<std::uint16_t>(put, begin, end, block, may_store);
    default:
      return copy_atoms<std::uint8_t>(put, begin, end, block, may_store);
  }
}

// One lane's wait until a flag has reached a step. Acquire: pairs with the release that raised it.
TCA_DEVICE bool await(const Word* flag, Word step, Word link, const Patience& patience) {
  Waiting waiting(patience, step);
  while (!reached(load_acquire(flag), step)) {
    if (!waiting.goes_on(link)) return false;
  }
  return true;
}

// A part to which nothing is sent could come to `start` twice before another has come once. It waits until all have
// come to the start before, so that each is counted once a step.
TCA_DEVICE bool await_other_parts(const DeviceChain& chain, Word step) {
  Waiting waiting(chain.patience, step);
  // Relaxed: it only keeps counts apart, and `count_up` orders those.
  while (!reached(load_relaxed(chain.posted), step - 1)) {
    if (!waiting.goes_on(no_link)) return false;
  }
  return true;
}

// "I am done reading what arrived in the step before": said by the last part to come. A single kernel that runs the
// whole chain has come as a whole, and says so by its first part. False, on every lane, when it gave up.
template <class Block>
TCA_DEVICE_APART bool post_ready(const DeviceChain& chain, Word step, Block block, bool whole_grid_is_here) {
  if (chain.readies.count == 0) return true;
  bool last = block.part() == 0;
  if (!whole_grid_is_here) {
    // The other lanes' reads come before the count.
    if (!block.all(block.lane() != 0 || await_other_parts(chain, step))) return false;
    last = block.any(block.lane() == 0 && count_up(chain.count, block.parts() - 1) == block.parts() - 1);
  }
  if (!last) return true;
  for (Word i = block.lane(); i < chain.readies.count; i += block.lanes()) {
    store_release(chain.readies[i].flag, step);  // pairs with the acquire in `send_stores`
  }
  if (block.lane() == 0) store_relaxed(chain.posted, step);
  return true;
}

// Whose permission this lane's share of `send_stores` would have to wait for; no_link when there is none such.
template <class Block>
TCA_DEVICE_APART Word missing_permission(const DeviceChain& chain, Word step, Block block) {
  for (Word s = block.part() + block.lane() * block.parts(); s < chain.segments_out;
       s += block.lanes() * block.parts()) {
    const Segment<Stores> segment = find_segment(chain.stores, s);
    const Word* ready = segment.item.ready;
    if (ready != nullptr && !reached(load_acquire(ready), step)) return segment.item.link;
  }
  return no_link;
}

// The same of the arrivals that this lane looks for.
template <class Block>
TCA_DEVICE_APART Word missing_stores(const DeviceChain& chain, Word step, Block block) {
  for (Word s = block.part() + block.lane() * block.parts(); s < chain.segments_in;
       s += block.lanes() * block.parts()) {
    const Segment<Arrivals> segment = find_segment(chain.arrivals, s);
    if (!reached(load_acquire(segment.item.arrived + segment.number), step)) return segment.item.link;
  }
  return no_link;
}

// Both return false when they gave up.
template <class Block>
TCA_DEVICE bool send_stores(const DeviceChain& chain, Word step, Block block, bool with_copy_engine) {
  if (chain.segments_out == 0) return true;
  for (Word s = block.part(); s < chain.segments_out; s += block.parts()) {
    const Segment<Stores> segment = find_segment(chain.stores, s);
    const Stores& put = segment.item;
    if (put.by_copy_engine && with_copy_engine) continue;
    const auto may_store = [&] {
      return put.ready == nullptr ||
             block.all(block.lane() != 0 || await(put.ready, step, put.link, chain.patience));
    };
    if (put.loops.atoms > 0 && !copy_segment(put, segment.number, block, may_store)) return false;
  }
  block.sync();
  // A lane each: a release waits until the block's stores have arrived, which takes as long for one as for all.
  for (Word s = block.part() + block.lane() * block.parts(); s < chain.segments_out;
       s += block.lanes() * block.parts()) {
    const Segment<Stores> segment = find_segment(chain.stores, s);
    if (segment.item.by_copy_engine && with_copy_engine) continue;
    store_release(segment.item.arrived + segment.number, step);  // pairs with the acquire in `receive_stores`
  }
  return true;
}

template <class Block>
TCA_DEVICE bool receive_stores(const DeviceChain& chain, Word step, Block block) {
  if (chain.segments_in == 0) return true;
  bool arrived = true;
  for (Word s = block.part() + block.lane() * block.parts(); arrived && s < chain.segments_in;
       s += block.lanes() * block.parts()) {
    const Segment<Arrivals> segment = find_segment(chain.arrivals, s);
    arrived = await(segment.item.arrived + segment.number, step, segment.item.link, chain.patience);
  }
  return block.all(arrived);
}

}  // namespace tca::device
