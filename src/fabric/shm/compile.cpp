#include "fabric/shm/compile.hpp"

#include <algorithm>
#include <optional>

#include "fabric/shm/memory.hpp"

namespace tca::shm {

namespace {

using Puts = std::vector<const fabric::Put*>;

// Long moves pay from this many bytes per step on; C libraries move fewer with ordinary stores in any case.
constexpr std::size_t worth_long_moves = 8192;

// From this many bytes per step on, stores that bypass the caches are faster, if they ever are. Two blocks
// between far cores (EPYC, Zen 3) take, bypassing the caches and from cache to cache:
//   - through a ring: of 512 bytes each 0.94 and 0.79 us, of 1,152 bytes each 1.09 and 1.30 us
//   - in place: of 4,608 bytes each 3.4 and 2.6 us, of 8 KB each 2.6 and 3.4 us
constexpr std::size_t worth_nontemporal_into_ring = 2048, worth_nontemporal_in_place = 16384;

Puts carried_by(const Puts& puts, Protocol protocol) {
  Puts selected;
  std::copy_if(puts.begin(), puts.end(), std::back_inserter(selected),
               [&](const fabric::Put* put) { return put->shape != nullptr && put->protocol == protocol; });
  return selected;
}

// Returns how many steps `ready` may lag behind a step that sends these puts, 0 or 1, or -1 if they need no
// `ready`. Both ends compute this from the same puts.
int ready_lag(const Puts& puts, bool guarded, bool mutual) {
  if (guarded && !carried_by(puts, direct).empty()) return 0;
  return !carried_by(puts, staged).empty() && !mutual ? 1 : -1;
}

Puts select(const Puts& puts, bool counted) {
  Puts selected;
  std::copy_if(puts.begin(), puts.end(), std::back_inserter(selected),
               [&](const fabric::Put* put) { return static_cast<bool>(put->length) == counted; });
  return selected;
}

std::size_t bytes_of(const Puts& puts, Protocol protocol) {
  std::size_t bytes = 0;
  for (const fabric::Put* put : carried_by(puts, protocol)) bytes += put->shape->bytes();
  return bytes;
}

bool is_long(const Puts& puts) { return bytes_of(puts, staged) >= worth_long_moves; }

bool has_rows(const Puts& puts) {
  return std::any_of(puts.begin(), puts.end(),
                     [](const fabric::Put* put) { return put->shape->loop_count > 0; });
}

std::size_t nontemporal_bytes(const Puts& puts) {
  std::size_t bytes = 0;
  for (const fabric::Put* put : carried_by(puts, direct))
    if (base::worth_nontemporal(*put->shape)) bytes += put->shape->bytes();
  return bytes;
}

// Decides how this rank stores the puts that it sends over a link, or which ways it will try.
void choose_stores(Link& link, const Puts& puts, Nontemporal nontemporal,
                   std::vector<StoreModeTuner>& trials) {
  link.nontemporal_in_place = nontemporal_bytes(puts) >= worth_nontemporal_in_place;
  link.nontemporal_into_ring = bytes_of(puts, staged) >= worth_nontemporal_into_ring;
  const bool past_caches =
      nontemporal != Nontemporal::never && (link.nontemporal_in_place || link.nontemporal_into_ring);
  if (past_caches && nontemporal == Nontemporal::always) {
    link.stores = StoreMode::nontemporal;
    return;
  }
  std::vector<StoreMode> ways;
  if (is_long(puts) && has_rows(carried_by(puts, staged))) ways.push_back(StoreMode::bulk_copy);
  ways.push_back(StoreMode::ordinary);
  if (past_caches) ways.push_back(StoreMode::nontemporal);
  if (ways.size() == 1) return;
  link.trial = static_cast<std::int16_t>(trials.size());
  trials.emplace_back(ways);
}

Copy copy_of(const fabric::Put& put, const base::Shape* shape) {
  return {address(put.to_memory, put.to, put.to_offset), address(put.from_memory, put.from, put.from_offset),
          shape};
}

std::uint32_t add_copies(std::vector<Copy>& copies, const Puts& puts, Protocol protocol) {
  const Puts carried = carried_by(puts, protocol);
  for (const fabric::Put* put : carried) copies.push_back(copy_of(*put, put->shape));
  return static_cast<std::uint32_t>(carried.size());
}

// Returns the shape with which two puts between the same windows are walked together, if there is one. Both
// ends get the same result.
std::optional<base::Shape> walk_together(const fabric::Put& first, const fabric::Put& second) {
  if (*first.shape != *second.shape || first.to_memory != second.to_memory ||
      first.from_memory != second.from_memory)
    return std::nullopt;
  return base::interleave(*first.shape, static_cast<std::int64_t>(second.to_offset - first.to_offset),
                          static_cast<std::int64_t>(second.from_offset - first.from_offset));
}

// Returns the copies of the staged puts, the only ones that walk two faces together. With one side dense,
// as here, this took a third less time than one face after the other. Without a dense side it took up to
// twice as much, because four walks a page apart then meet in the same few sets of the caches.
std::vector<Copy> staged_copies(const Puts& puts, Shapes& shapes) {
  std::vector<Copy> copies;
  const Puts carried = carried_by(puts, staged);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const fabric::Put& put = *carried[i];
    std::optional<base::Shape> both;
    if (i + 1 < carried.size()) both = walk_together(put, *carried[i + 1]);
    copies.push_back(copy_of(put, both ? &*shapes.insert(*both).first : put.shape));
    if (both) ++i;
  }
  return copies;
}

// Returns the same copies in parts that fit a long move; blocks are not cut.
std::vector<Copy> split(const std::vector<Copy>& copies, Shapes& shapes) {
  std::vector<Copy> parts;
  for (const Copy& copy : copies) {
    if (copy.shape->loop_count == 0) {
      parts.push_back(copy);
      continue;
    }
    for (const base::Part& part : base::split(*copy.shape, long_move))
      parts.push_back(
          {copy.to + part.to_shift, copy.from + part.from_shift, &*shapes.insert(part.shape).first});
  }
  return parts;
}

// Returns the copies through a ring in their order there, which is the same on both sides. Short runs are
// read from the end to the beginning: what the sender has written last is still in the nearest cache, and
// starting with what it wrote first would evict that before its turn. On a Xeon both columns of 64^3
// doubles took 43 us in writing order and 28 us in this one; rows of a line or more take 10 % longer in it.
std::vector<Copy> ring_order(const Puts& puts, Shapes& shapes) {
  std::vector<Copy> copies = staged_copies(puts, shapes);
  if (!is_long(puts)) return copies;
  copies = split(copies, shapes);
  const auto is_short = [](const Copy& copy) { return copy.shape->run < cache_line; };
  if (std::all_of(copies.begin(), copies.end(), is_short)) std::reverse(copies.begin(), copies.end());
  return copies;
}

std::uint32_t append(std::vector<Copy>& copies, const std::vector<Copy>& more) {
  copies.insert(copies.end(), more.begin(), more.end());
  return static_cast<std::uint32_t>(more.size());
}

std::uint32_t append(std::vector<CountedCopy>& copies, const Puts& counted) {
  for (const fabric::Put* put : counted)
    copies.push_back({copy_of(*put, put->shape), put->length, put->protocol});
  return static_cast<std::uint32_t>(counted.size());
}

}  // namespace

Link compile_link(int partner, const Traffic& traffic, bool guarded, Nontemporal nontemporal, Moves& moves,
                  Shapes& shapes) {
  const bool mutual = !traffic.out.empty() && !traffic.in.empty();
  const int out_lag = ready_lag(traffic.out, guarded, mutual);
  // Those that are not counted; counted ones are handled separately.
  const Traffic fixed{select(traffic.out, false), select(traffic.in, false)};
  const Traffic counted{select(traffic.out, true), select(traffic.in, true)};
  std::vector<Copy>& copies = moves.copies;
  Link link;
  link.partner = partner;
  link.first_copy = static_cast<std::uint32_t>(copies.size());
  choose_stores(link, fixed.out, nontemporal, moves.trials);
  link.direct_count = add_copies(copies, fixed.out, direct);
  link.gather_count = append(copies, ring_order(fixed.out, shapes));
  link.scatter_count = append(copies, ring_order(fixed.in, shapes));
  link.pull_count = add_copies(copies, fixed.in, pull);
  const Rings out = Rings::of(bytes_of(traffic.out, staged), counted.out.size()),
              in = Rings::of(bytes_of(traffic.in, staged), counted.in.size());
  link.out_ring = out.data;
  link.in_ring = in.data;
  if (!counted.out.empty() || !counted.in.empty()) {
    CountedCopies::Row row{.first = static_cast<std::uint32_t>(moves.counted.copies.size()),
                           .out_at = static_cast<std::uint32_t>(bytes_of(fixed.out, staged)),
                           .in_at = static_cast<std::uint32_t>(bytes_of(fixed.in, staged)),
                           .out_lengths = out.lengths,
                           .in_lengths = in.lengths};
    row.out = append(moves.counted.copies, counted.out);
    row.in = append(moves.counted.copies, counted.in);
    link.counted = static_cast<std::int32_t>(moves.counted.rows.size());
    moves.counted.rows.push_back(row);
  }
  link.puts = !traffic.out.empty();
  link.expects = !traffic.in.empty();
  link.needs_ready = out_lag >= 0;
  link.ready_lags = out_lag == 1;
  link.posts_ready = ready_lag(traffic.in, guarded, mutual) >= 0;
  link.is_pulled = !carried_by(traffic.out, pull).empty();
  link.pulls = !carried_by(traffic.in, pull).empty();
  return link;
}

}  // namespace tca::shm
