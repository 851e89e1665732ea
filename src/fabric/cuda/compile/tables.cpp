#include "fabric/cuda/compile/tables.hpp"

#include "fabric/cuda/compile/plan.hpp"

namespace tca::cuda {

device::Stores stores_of(const base::Shape& shape, std::byte* to, const std::byte* from) {
  device::Stores stores;
  stores.from = from;
  stores.to = to;
  stores.atom_bytes = std::min(atom_bytes(shape, Side::from, reinterpret_cast<std::uintptr_t>(from), 16),
                               atom_bytes(shape, Side::to, reinterpret_cast<std::uintptr_t>(to), 16));
  stores.loops = loops_of(shape, stores.atom_bytes);
  stores.from_pitches = pitches_of(shape, Side::from);
  stores.to_pitches = pitches_of(shape, Side::to);
  stores.end_segment = segments_of(shape.bytes());
  stores.segment_atoms = (stores.loops.atoms + stores.end_segment - 1) / stores.end_segment;
  return stores;
}

void set_up_counters(DeviceChain& chain, Word id, const std::vector<int>& partners,
                     std::chrono::milliseconds time_limit, Inbox& inbox, Room& room) {
  chain.steps = inbox.own<Word>(room.take((device::max_parts + 2) * sizeof(Word)));
  chain.count = chain.steps + device::max_parts;
  chain.posted = chain.count + 1;
  chain.barrier = inbox.own<std::uint64_t>(room.take(sizeof(std::uint64_t)));
  device::WaitLimits& limits = chain.limits;
  limits.chain = id;
  limits.abort = &inbox.abort();
  limits.gave_up = &inbox.gave_up();
  limits.waiting = room.take_words(partners.size());
  limits.gone = inbox.gone();
  limits.over = inbox.over();
  limits.ranks = room.take_ranks(partners);
  limits.limit_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(time_limit).count());
}

}  // namespace tca::cuda
