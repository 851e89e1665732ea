#include "core/chain/commit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/fail.hpp"
#include "base/layout/region.hpp"
#include "core/words.hpp"
#include "route/choose.hpp"
#include "tca/device/counted.hpp"

namespace tca::core {

namespace {

using base::Region;

void write(base::Writer& writer, const Descriptor& d) {
  writer.put(d).put(d.shape != nullptr);
  if (d.shape != nullptr) writer.put(*d.shape);
}

Descriptor read(base::Reader& reader, WorldState& world) {
  auto d = reader.get<Descriptor>();
  d.shape = reader.get<bool>() ? world.intern(reader.get<base::Shape>()) : nullptr;
  return d;
}

// A put, identified by the rank that declared it and its index in that rank's list.
struct Numbered {
  int rank;
  std::size_t index;
};

// The accesses of a step to this rank's part of a window: the regions that are written, followed by those
// that are read, and the put of each.
struct Uses {
  std::vector<Region> regions;
  std::vector<Numbered> puts;
  std::size_t written = 0;

  void add(const Region& region, Numbered put) {
    regions.push_back(region);
    puts.push_back(put);
  }
};

// Hands out this rank's ends of the counted or produced puts that a rank makes, in the order in which they were
// declared.
template <class Ends>
class InTurn {
 public:
  InTurn(const Ends* ends, int rank) : ends_(ends), rank_(rank) {}

  auto* next_put() { return ends_->puts[put_++].get(); }
  auto* next_arrival() {
    while (ends_->arrivals[arrival_]->partner != rank_) ++arrival_;
    return ends_->arrivals[arrival_++].get();
  }

 private:
  const Ends* ends_;
  int rank_;
  std::size_t put_ = 0, arrival_ = 0;
};

}  // namespace

void Commit::run() {
  choose_channels();
  check_windows(world_.rank(), chain_.draft_->descriptors, own_);
  check_bounds(own_);
  exchange();
  const Problems problems = this->problems();
  world_.free_released(what());
  bind(agree(problems));
}

std::string Commit::what() const { return fmt::format("commit of chain '{}'", chain_.name_); }

// Names a put, and says its layout on the side of `region`: "put 2 of rank 0 (block of 64)".
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

void Commit::choose_channels() {
  std::vector<Descriptor>& puts = chain_.draft_->descriptors;
  route::Taken taken;
  const std::vector<std::size_t> puts_to = count_puts(puts, world_.size());
  for (std::size_t i = 0; i < puts.size(); ++i) {
    Descriptor& d = puts[i];
    if (d.shape == nullptr) {
      d.fabric = static_cast<std::uint16_t>(world_.fabric_to(d.to));
      if (d.produced && !world_.fabrics()[d.fabric]->carries_produced()) {
        own_.add([&] {
          return fmt::format(
              "put {} of rank {} is produced by a kernel, and none reaches rank {}, which is reached over "
              "{}; put "
              "from a window instead, which the kernel or the host fills before the start",
              i, world_.rank(), d.to, world_.fabrics()[d.fabric]->name());
        });
      }
      continue;
    }
    const std::size_t first = world_.first_fabric(d.to_window, d.from_window);
    const std::span usable = std::span(world_.fabrics()).subspan(first);
    try {
      const route::Choice choice = route::choose(
          usable, world_.costs(), {d.to, *d.shape, puts_to[static_cast<std::size_t>(d.to)], d.counted},
          chain_.route_, taken);
      d.fabric = static_cast<std::uint16_t>(first + static_cast<std::size_t>(choice.fabric));
      taken.add(*world_.fabrics()[d.fabric], choice.protocol, d.to, *d.shape);
      d.protocol = static_cast<std::uint16_t>(choice.protocol);
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      // The error is only noted, since the others wait for this rank in the exchange.
      own_.add([&] { return fmt::format("put {} of rank {}: {}", i, world_.rank(), error.what()); });
    }
  }
}

void Commit::exchange() {
  base::Writer writer;
  writer.put_string(chain_.name_).put(chain_.guarded_).put(own_.total() == 0);
  writer.put(chain_.draft_->descriptors.size());
  for (const Descriptor& d : chain_.draft_->descriptors) write(writer, d);
  writer.put(chain_.draft_->expected.size());
  for (const int rank : chain_.draft_->expected) writer.put(rank);
  const std::vector<std::shared_ptr<CountedEnd>> none;
  const auto& arrivals = chain_.counted_ == nullptr ? none : chain_.counted_->arrivals;
  writer.put(arrivals.size());
  for (const auto& arrival : arrivals) writer.put(arrival->partner);
  const std::vector<std::shared_ptr<ProducedEnd>> nothing;
  const auto& produced = chain_.produced_ == nullptr ? nothing : chain_.produced_->arrivals;
  writer.put(produced.size());
  for (const auto& arrival : produced)
    writer.put(Elements{arrival->partner, arrival->elements, arrival->element_bytes});
  for (const base::Blob& blob : world_.meet(writer.blob(), what(), number_)) {
    base::Reader reader(blob);
    Declaration rank;
    rank.name = reader.get_string();
    rank.guarded = reader.get<bool>();
    rank.is_sound = reader.get<bool>();
    for (auto n = reader.get<std::size_t>(); n > 0; --n) rank.puts.push_back(read(reader, world_));
    for (auto n = reader.get<std::size_t>(); n > 0; --n) rank.expected.push_back(reader.get<int>());
    for (auto n = reader.get<std::size_t>(); n > 0; --n) rank.expected_counted.push_back(reader.get<int>());
    for (auto n = reader.get<std::size_t>(); n > 0; --n)
      rank.expected_produced.push_back(reader.get<Elements>());
    ranks_.push_back(std::move(rank));
  }
}

Problems Commit::problems() const {
  Problems problems;
  if (!is_same_chain(problems)) return problems;  // the rest would compare different chains
  problems = own_;
  for (int rank = 0; rank < world_.size(); ++rank)
    if (rank != world_.rank()) check_windows(rank, ranks_[static_cast<std::size_t>(rank)].puts, problems);
  check_expectations(problems);
  check_counted(problems);
  check_produced(problems);
  check_overlaps(problems);
  return problems;
}

// Returns whether all ranks commit the same chain. A rank that commits another one than rank 0 adds the
// problem.
bool Commit::is_same_chain(Problems& problems) const {
  const auto describe = [](const Declaration& d) {
    return fmt::format("{} chain '{}'", d.guarded ? "guarded" : "unguarded", d.name);
  };
  const auto is_first = [&](const Declaration& d) { return d.is_of_same_chain(ranks_[0]); };
  const Declaration& mine = ranks_[static_cast<std::size_t>(world_.rank())];
  if (!is_first(mine)) {
    problems.add([&] {
      return fmt::format(
          "rank 0 commits the {}, rank {} the {}; every rank must commit the same chains in the same order",
          describe(ranks_[0]), world_.rank(), describe(mine));
    });
  }
  return std::all_of(ranks_.begin(), ranks_.end(), is_first);
}

// Checks that this rank still has both windows of each of `rank`'s puts in which it takes part.
void Commit::check_windows(int rank, std::span<const Descriptor> puts, Problems& problems) const {
  const int me = world_.rank();
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const Descriptor& d = puts[i];
    if (d.shape == nullptr || (rank != me && d.to != me)) continue;
    for (const std::uint32_t id : std::set{d.to_window, d.from_window}) {
      if (world_.find_window(id) != nullptr) continue;
      problems.add([&] {
        return fmt::format(
            "put {} of rank {} uses {}, which rank {} has destroyed; keep a handle of it until the commit", i,
            rank, world_.window_title(id), me);
      });
    }
  }
}

// Checks the targets of this rank's own puts. Sources were checked when they were declared.
void Commit::check_bounds(Problems& problems) const {
  for (std::size_t i = 0; i < chain_.draft_->descriptors.size(); ++i) {
    const Descriptor& d = chain_.draft_->descriptors[i];
    if (d.shape == nullptr) continue;
    const std::shared_ptr<WindowState> window = world_.find_window(d.to_window);
    if (window == nullptr) continue;  // check_windows says so
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
  for (int rank = 0; rank < world_.size(); ++rank) {
    const std::vector<Descriptor>& puts = ranks_[static_cast<std::size_t>(rank)].puts;
    for (std::size_t i = 0; i < puts.size(); ++i) {
      if (puts[i].to != me || !senders.insert(rank).second || expected.contains(rank)) continue;
      problems.add([&] {
        return fmt::format("{}, which does not expect it; add expect({}) on rank {}",
                           what_comes(puts[i], i, rank), rank, me);
      });
    }
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

// Checks that this rank expects every counted put to it, and no others, since it has to know what has come.
void Commit::check_counted(Problems& problems) const {
  const int me = world_.rank();
  const std::vector<int>& expected = ranks_[static_cast<std::size_t>(me)].expected_counted;
  for (int rank = 0; rank < world_.size(); ++rank) {
    const auto puts = std::ranges::count_if(ranks_[static_cast<std::size_t>(rank)].puts,
                                            [&](const Descriptor& d) { return d.to == me && d.counted; });
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

// Checks that this rank expects every produced put to it, and no others, and as the same elements.
void Commit::check_produced(Problems& problems) const {
  const int me = world_.rank();
  for (int rank = 0; rank < world_.size(); ++rank) {
    std::vector<Elements> sent, expected;
    for (const Descriptor& d : ranks_[static_cast<std::size_t>(rank)].puts)
      if (d.to == me && d.produced) sent.push_back({rank, d.elements, d.element_bytes});
    for (const Elements& one : ranks_[static_cast<std::size_t>(me)].expected_produced)
      if (one.partner == rank) expected.push_back(one);
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
  for (int rank = 0; rank < world_.size(); ++rank) {
    const std::vector<Descriptor>& puts = ranks_[static_cast<std::size_t>(rank)].puts;
    for (std::size_t i = 0; i < puts.size(); ++i) {
      const Descriptor& d = puts[i];
      if (d.shape != nullptr && d.to == me)
        windows[d.to_window].add(Region::written(d.to_offset, *d.shape), {rank, i});
    }
  }
  for (auto& [id, uses] : windows) uses.written = uses.regions.size();
  const std::vector<Descriptor>& mine = ranks_[static_cast<std::size_t>(me)].puts;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Descriptor& d = mine[i];
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

// Returns whether no rank knows anything against its own puts of this chain, which is the same for all. Then the
// fabrics may be given them.
bool Commit::is_sound() const {
  return std::ranges::all_of(
      ranks_, [&](const Declaration& rank) { return rank.is_sound && rank.is_of_same_chain(ranks_[0]); });
}

// Lets every rank learn every problem, so that all throw the same message. Where there is none, returns what all
// ranks offer.
std::vector<base::Blob> Commit::agree(const Problems& problems) {
  base::Writer writer;
  writer.put(problems.total()).put(problems.first().size());
  for (const std::string& line : problems.first()) writer.put_string(line);
  if (problems.total() == 0 && is_sound())
    writer.put_blob(world_.control().attempt(what(), [this] { return offer(); }));
  std::size_t total = 0;
  std::set<std::string> lines;
  std::vector<base::Blob> all = world_.control().all_gather(writer.blob(), what());
  for (base::Blob& blob : all) {
    base::Reader reader(blob);
    total += reader.get<std::size_t>();
    for (auto n = reader.get<std::size_t>(); n > 0; --n) lines.insert(reader.get_string());
    blob = reader.rest();
  }
  if (total == 0) {
    control::Control::require_all(all);
    return all;
  }
  while (lines.size() > Problems::shown) lines.erase(std::prev(lines.end()));
  base::fail(Errc::refused, "chain '{}' refused, {} problem{}:\n  {}{}", ranks_[0].name, total,
             total == 1 ? "" : "s", fmt::join(lines, "\n  "), total > lines.size() ? "\n  ..." : "");
}

std::shared_ptr<WindowState> Commit::keep(std::uint32_t id) {
  std::shared_ptr<WindowState> window = world_.find_window(id);
  if (std::find(windows_.begin(), windows_.end(), window) == windows_.end()) windows_.push_back(window);
  return window;
}

// Returns the length of a put at one end, for its fabric; `end` is null where the put is not counted. One of
// an empty layout is a signal like any other.
fabric::Length Commit::length_of(CountedEnd* end, const Descriptor& put) {
  if (end == nullptr) return {};
  end->view = std::make_shared<device::Counted>();
  if (put.shape == nullptr) {
    end->view->unit = 0;
    return {};
  }
  const std::size_t element_bytes = keep(put.to_window)->element_bytes();
  end->capacity = put.shape->bytes() / element_bytes;
  return {&end->length, static_cast<std::uint32_t>(element_bytes), end->view.get()};
}

// Has every fabric prepare its share, and returns what they have to tell the other ranks.
base::Blob Commit::offer() {
  const int me = world_.rank();
  windows_ = chain_.windows_;
  std::sort(windows_.begin(), windows_.end());
  windows_.erase(std::unique(windows_.begin(), windows_.end()), windows_.end());
  shares_.resize(world_.fabrics().size());
  base::Writer writer;
  for (std::size_t f = 0; f < shares_.size(); ++f) {
    Share& share = shares_[f];
    for (int rank = 0; rank < world_.size(); ++rank) {
      InTurn counted(chain_.counted_.get(), rank);
      InTurn produced(chain_.produced_.get(), rank);
      std::uint32_t number = 0;
      for (const Descriptor& d : ranks_[static_cast<std::size_t>(rank)].puts) {
        const std::uint32_t put_number = number++;
        CountedEnd* const sent = d.counted && rank == me ? counted.next_put() : nullptr;
        CountedEnd* const come = d.counted && d.to == me ? counted.next_arrival() : nullptr;
        ProducedEnd* const made = d.produced && rank == me ? produced.next_put() : nullptr;
        ProducedEnd* const used = d.produced && d.to == me ? produced.next_arrival() : nullptr;
        if (d.fabric != f || (rank != me && d.to != me)) continue;
        fabric::Put put{.from = rank, .to = d.to, .shape = d.shape, .protocol = d.protocol};
        if (d.shape != nullptr) {
          put.to_memory = keep(d.to_window)->memory_of(f);
          put.to_offset = static_cast<std::uint64_t>(d.to_offset);
          put.from_memory = keep(d.from_window)->memory_of(f);
          put.from_offset = static_cast<std::uint64_t>(d.from_offset);
        }
        put.elements = {
            .produced = d.produced, .count = d.elements, .bytes = d.element_bytes, .put = put_number};
        if (rank == me) {
          put.length = length_of(sent, d);
          put.length.put = put_number;
          put.elements.view = made != nullptr ? &made->view : nullptr;
          share.outgoing.push_back(put);
        }
        if (d.to == me) {
          put.length = length_of(come, d);
          put.length.put = put_number;
          put.elements.view = used != nullptr ? &used->view : nullptr;
          share.incoming.push_back(put);
        }
      }
    }
    share.offer =
        world_.fabrics()[f]->offer({chain_.name_, world_.members(), number_, chain_.guarded_, share.outgoing,
                                    share.incoming, chain_.time_limit_, world_.checks_steps()});
    const base::Blob blob = share.offer->to_others();
    writer.put(blob.size()).put_blob(blob);
  }
  return writer.blob();
}

void Commit::bind(std::span<const base::Blob> offered) {
  chain_.id_ = world_.next_id();
  std::vector<std::vector<base::Blob>> offers(shares_.size());  // by fabric and rank
  for (const base::Blob& blob : offered) {
    base::Reader reader(blob);
    for (std::vector<base::Blob>& of_fabric : offers)
      of_fabric.push_back(reader.get_blob(reader.get<std::size_t>()));
  }
  std::vector<std::unique_ptr<fabric::Program>> programs;  // become the chain's once all are bound
  for (std::size_t f = 0; f < shares_.size(); ++f) programs.push_back(shares_[f].offer->bind(offers[f]));
  chain_.programs_ = std::move(programs);
  if (chain_.produced_ != nullptr) {
    for (const auto* ends : {&chain_.produced_->puts, &chain_.produced_->arrivals})
      for (const auto& end : *ends) end->committed = true;
  }
  if (chain_.counted_ != nullptr) {
    for (const auto& end : chain_.counted_->arrivals) end->landed = end->view->landed;
  }
  chain_.windows_ = std::move(windows_);
  chain_.windows_.shrink_to_fit();
}

}  // namespace tca::core
