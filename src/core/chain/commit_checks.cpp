// What may be wrong with a chain, as a single rank can detect it.
#include <algorithm>
#include <map>
#include <set>

#include "base/layout/region.hpp"
#include "core/chain/commit.hpp"
#include "core/words.hpp"

namespace tca::core {

namespace {

using base::Region;

// A put, identified by the rank that declared it and its index in that rank's list.
struct Numbered {
  int rank;
  std::size_t index;
};

template <class Ends>
std::vector<int> partners_of(const Ends* ends) {
  std::vector<int> partners;
  if (ends != nullptr)
    for (const auto& arrival : ends->arrivals) partners.push_back(arrival->partner);
  return partners;
}

// A step's accesses to this rank's part of a window: the regions written, followed by those read, and the
// put of each.
struct Uses {
  std::vector<Region> regions;
  std::vector<Numbered> puts;
  std::size_t written = 0;

  void add(const Region& region, Numbered put) {
    regions.push_back(region);
    puts.push_back(put);
  }
};

}  // namespace

// Names a put, and gives its layout on the side of `region`: "put 2 of rank 0 (block of 64)".
std::string Commit::name_of(int rank, std::size_t index, const base::Region& region,
                            std::uint32_t window) const {
  const std::shared_ptr<WindowState> found = world_.find_window(window);
  const std::string layout =
      found == nullptr ? std::string() : fmt::format(" ({})", region.describe(found->element_bytes()));
  return fmt::format("put {} of rank {}{}", index, rank, layout);
}

std::string Commit::in_words(base::ByteRange bytes, std::uint32_t window, int rank) const {
  const std::shared_ptr<WindowState> found = world_.find_window(window);
  return core::in_words(bytes, found == nullptr ? 1 : found->element_bytes(), world_.window_title(window),
                        rank);
}

std::string Commit::what_comes(const Descriptor& d, std::size_t number, int from) const {
  if (d.produced)
    return fmt::format("put {} of rank {} produces {} elements for rank {}", number, from, d.elements, d.to);
  if (d.shape == nullptr) return fmt::format("rank {} signals rank {}", from, d.to);
  const Region region = Region::written(d.to_offset, *d.shape);
  return fmt::format("{} writes {}", name_of(from, number, region, d.to_window),
                     in_words({region.offset, region.end()}, d.to_window, d.to));
}

Problems Commit::problems() const {
  Problems problems = own_;
  if (!is_same_) return problems;
  for (const Arrival& arrival : arrivals_)
    if (arrival.from != world_.rank()) check_windows(arrival.from, arrival.index, arrival.put, problems);
  check_expectations(problems);
  check_counted(problems);
  check_produced(problems);
  check_overlaps(problems);
  return problems;
}

// Checks that this rank still has both windows of a put in which it takes part.
void Commit::check_windows(int rank, std::size_t index, const Descriptor& put, Problems& problems) const {
  if (put.shape == nullptr) return;
  for (const std::uint32_t id : std::set{put.to_window, put.from_window}) {
    if (world_.find_window(id) != nullptr) continue;
    problems.add([&] {
      return fmt::format(
          "put {} of rank {} uses {}, which rank {} has destroyed; keep a handle of it until the commit",
          index, rank, world_.window_title(id), world_.rank());
    });
  }
}

// Checks the targets of this rank's own puts. Sources were checked when they were declared.
void Commit::check_bounds(Problems& problems) const {
  for (std::size_t i = 0; i < chain_.draft_->descriptors.size(); ++i) {
    const Descriptor& d = chain_.draft_->descriptors[i];
    if (d.shape == nullptr) continue;
    const std::shared_ptr<WindowState> window = world_.find_window(d.to_window);
    if (window == nullptr) continue;  // check_windows reports it
    const auto have = static_cast<std::int64_t>(window->bytes(d.to));
    const Region region = Region::written(d.to_offset, *d.shape);
    if (region.end() > have) {
      problems.add([&] {
        return fmt::format("{}, which has {}", what_comes(d, i, world_.rank()),
                           count_in_words(have / static_cast<std::int64_t>(window->element_bytes())));
      });
    }
  }
}

void Commit::check_expectations(Problems& problems) const {
  const int me = world_.rank();
  const std::set<int> expected(chain_.draft_->expected.begin(), chain_.draft_->expected.end());
  std::set<int> senders;
  for (const Arrival& arrival : arrivals_) {
    const int rank = arrival.from;
    if (!senders.insert(rank).second || expected.contains(rank)) continue;
    problems.add([&] {
      return fmt::format("{}, which does not expect it; add expect({}) on rank {}",
                         what_comes(arrival.put, arrival.index, rank), rank, me);
    });
  }
  for (const int rank : expected) {
    if (!senders.contains(rank)) {
      problems.add([&] {
        return fmt::format(
            "rank {0} expects rank {1}, which puts and signals nothing to it; have rank {1} put or "
            "signal({0}), or leave out expect({1})",
            me, rank);
      });
    }
  }
}

// Checks that this rank expects every counted put to it, and no others, since it has to know what has
// arrived.
void Commit::check_counted(Problems& problems) const {
  const int me = world_.rank();
  const std::vector<int> expected = partners_of(chain_.counted_.get());
  std::set<int> partners(expected.begin(), expected.end());
  for (const Arrival& arrival : arrivals_)
    if (arrival.put.counted) partners.insert(arrival.from);
  for (const int rank : partners) {
    const auto puts = std::ranges::count_if(
        arrivals_, [&](const Arrival& arrival) { return arrival.from == rank && arrival.put.counted; });
    const auto arrivals = std::ranges::count(expected, rank);
    if (puts == arrivals) continue;
    problems.add([&] {
      return fmt::format(
          "rank {0} makes {1} counted put{2} to rank {3}, which expects {4}; call expect_counted({0}) on "
          "rank {3} once for each",
          rank, puts, puts == 1 ? "" : "s", me, arrivals);
    });
  }
}

// Checks that this rank expects every produced put to it, and no others, and with the same elements.
void Commit::check_produced(Problems& problems) const {
  const int me = world_.rank();
  const std::vector<int> expecting = partners_of(chain_.produced_.get());
  std::set<int> partners(expecting.begin(), expecting.end());
  for (const Arrival& arrival : arrivals_)
    if (arrival.put.produced) partners.insert(arrival.from);
  for (const int rank : partners) {
    std::vector<Elements> sent, expected;
    for (const auto& [from, index, d] : arrivals_)
      if (from == rank && d.produced) sent.push_back({rank, d.elements, d.element_bytes});
    if (chain_.produced_ != nullptr)
      for (const auto& end : chain_.produced_->arrivals)
        if (end->partner == rank) expected.push_back({rank, end->elements, end->element_bytes});
    if (sent == expected) continue;
    const auto in_words = [](const std::vector<Elements>& all) {
      std::string text;
      for (const Elements& one : all)
        text += (text.empty() ? "" : ", ") +
                (one.count == 0 ? "a signal" : fmt::format("{} elements of {} bytes", one.count, one.bytes));
      return text.empty() ? std::string("none") : text;
    };
    problems.add([&] {
      return fmt::format(
          "rank {0} makes these produced puts to rank {1}: {2}; rank {1} expects: {3}; call "
          "expect_produced({0}) on "
          "rank {1} once for each, with the same elements",
          rank, me, in_words(sent), in_words(expected));
    });
  }
}

// Checks this rank's windows: a step writes no byte twice, and writes no byte that this rank sends in the
// same step.
void Commit::check_overlaps(Problems& problems) const {
  const int me = world_.rank();
  std::map<std::uint32_t, Uses> windows;
  for (const auto& [from, index, d] : arrivals_)
    if (d.shape != nullptr) windows[d.to_window].add(Region::written(d.to_offset, *d.shape), {from, index});
  for (auto& [id, uses] : windows) uses.written = uses.regions.size();
  for (std::size_t i = 0; i < puts().size(); ++i) {
    const Descriptor& d = puts()[i];
    if (d.shape != nullptr) windows[d.from_window].add(Region::read(d.from_offset, *d.shape), {me, i});
  }
  for (const auto& [id, uses] : windows) {
    for (const base::Meeting& meeting : base::meetings(uses.regions, uses.written)) {
      problems.add([&, window = id, &uses = uses] {
        const auto bytes = base::intersect(uses.regions[meeting.first], uses.regions[meeting.second]);
        const auto name = [&](std::size_t use) {
          return name_of(uses.puts[use].rank, uses.puts[use].index, uses.regions[use], window);
        };
        return fmt::format("{} writes {}, which {} {}", name(meeting.first), in_words(*bytes, window, me),
                           name(meeting.second),
                           meeting.second < uses.written ? "writes too" : "reads in the same step");
      });
    }
  }
}

}  // namespace tca::core
