#include "core/chain/commit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/fail.hpp"
#include "base/layout/region.hpp"
#include "core/chain/message_times.hpp"
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

template <class Ends>
std::vector<int> partners_of(const Ends* ends) {
  std::vector<int> partners;
  if (ends != nullptr)
    for (const auto& arrival : ends->arrivals) partners.push_back(arrival->partner);
  return partners;
}

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
  for (std::size_t i = 0; i < puts().size(); ++i) check_windows(world_.rank(), i, puts()[i], own_);
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

base::Blob Commit::made() const {
  return base::Writer().put(chain_.guarded_).put(chain_.timed_).put_string(chain_.name_).blob();
}

void Commit::exchange() {
  const WorldState::Met met = world_.meet(letters(), made(), own_.total() > 0 ? 1 : 0, what(), number_);
  is_same_ = met.is_same;
  is_sound_ = is_same_ && met.worst == 0;
  first_name_ = chain_.name_;
  if (is_same_)
    take(met.letters);
  else
    compare_chains(own_);
}

// Returns this rank's puts to others, a letter for each of these.
std::vector<control::Letter> Commit::letters() const {
  std::map<int, base::Writer> to;
  for (std::size_t i = 0; i < puts().size(); ++i) {
    const Descriptor& d = puts()[i];
    if (d.to != world_.rank()) write(to[d.to].put(i), d);
  }
  std::vector<control::Letter> letters;
  for (const auto& [rank, writer] : to) letters.push_back({rank, writer.blob()});
  return letters;
}

void Commit::take(const std::vector<control::Letter>& letters) {
  const int me = world_.rank();
  for (std::size_t i = 0; i < puts().size(); ++i)
    if (puts()[i].to == me) arrivals_.push_back({me, i, puts()[i]});
  for (const control::Letter& letter : letters) {
    for (base::Reader reader(letter.bytes); !reader.done();) {
      const auto index = reader.get<std::size_t>();
      arrivals_.push_back({letter.rank, index, read(reader, world_)});
    }
  }
  std::ranges::stable_sort(arrivals_, {}, &Arrival::from);
}

// Called where not all ranks commit the same chain. A rank that commits another one than rank 0 has the problem, and
// no other: the rest would compare different chains.
void Commit::compare_chains(Problems& problems) {
  problems = {};
  const auto describe = [](const base::Blob& made) {
    base::Reader reader(made);
    const bool guarded = reader.get<bool>(), timed = reader.get<bool>();
    return fmt::format("{}{} chain '{}'", timed ? "timed " : "", guarded ? "guarded" : "unguarded",
                       reader.get_string());
  };
  const base::Blob mine = made();
  const base::Blob first = world_.control().all_gather(mine, what()).front();
  base::Reader reader(first);
  reader.get<bool>();  // guarded
  reader.get<bool>();  // timed
  first_name_ = reader.get_string();
  if (mine == first) return;
  problems.add([&] {
    return fmt::format(
        "rank 0 commits the {}, rank {} the {}; every rank must commit the same chains in the same order",
        describe(first), world_.rank(), describe(mine));
  });
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

// Checks that this rank expects every counted put to it, and no others, since it has to know what has come.
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

// Checks that this rank expects every produced put to it, and no others, and as the same elements.
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

// Where no rank has a problem, returns what this rank and its partners offer, or more ranks where a fabric needs that.
// Otherwise all throw the same.
fabric::Offers Commit::agree(const Problems& problems) {
  control::Control& control = world_.control();
  base::Blob attempted = base::Writer().put(false).blob();
  if (is_sound_ && problems.total() == 0) attempted = control.attempt(what(), [this] { return offer(); });
  base::Reader reader(attempted);
  const bool failed = reader.get<bool>();
  const base::Blob mine = failed ? base::Blob() : reader.rest();
  const bool objects = failed || problems.total() > 0;
  control::Exchanged met =
      control.exchange(objects ? std::vector<control::Letter>() : offer_letters(mine), {objects}, what());
  if (met.votes[0] != 0) refuse(problems, failed ? attempted : base::Writer().put(false).blob());
  fabric::Offers offers{{world_.rank(), mine}};
  for (control::Letter& letter : met.letters) offers[letter.rank] = std::move(letter.bytes);
  return offers;
}

// Returns what this rank's fabrics offer, for those whom it concerns.
std::vector<control::Letter> Commit::offer_letters(const base::Blob& offer) const {
  std::set<int> partners;
  for (const Descriptor& d : puts()) partners.insert(d.to);
  for (const Arrival& arrival : arrivals_) partners.insert(arrival.from);
  if (std::ranges::any_of(shares_, [](const Share& share) { return share.offer->concerns_all(); }))
    for (int rank = 0; rank < world_.size(); ++rank) partners.insert(rank);
  partners.erase(world_.rank());
  std::vector<control::Letter> letters;
  for (const int rank : partners) letters.push_back({rank, offer});
  return letters;
}

// Lets every rank learn every problem and the errors of fabrics.
void Commit::refuse(const Problems& problems, const base::Blob& attempted) const {
  base::Writer writer;
  writer.put(problems.total()).put(problems.first().size());
  for (const std::string& line : problems.first()) writer.put_string(line);
  writer.put_blob(attempted);
  std::size_t total = 0;
  std::set<std::string> lines;
  std::vector<base::Blob> all = world_.control().all_gather(writer.blob(), what());
  for (base::Blob& blob : all) {
    base::Reader reader(blob);
    total += reader.get<std::size_t>();
    for (auto n = reader.get<std::size_t>(); n > 0; --n) lines.insert(reader.get_string());
    blob = reader.rest();
  }
  if (total == 0) control::Control::require_all(all);
  while (lines.size() > Problems::shown) lines.erase(std::prev(lines.end()));
  base::fail(Errc::refused, "chain '{}' refused, {} problem{}:\n  {}{}", first_name_, total,
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

// Returns a put for its fabric, without what differs at its two ends.
fabric::Put Commit::put_on(std::size_t fabric, int from, std::size_t index, const Descriptor& d) {
  fabric::Put put{.from = from, .to = d.to, .shape = d.shape, .protocol = d.protocol};
  put.elements = {.produced = d.produced,
                  .count = d.elements,
                  .bytes = d.element_bytes,
                  .put = static_cast<std::uint32_t>(index)};
  if (d.shape == nullptr) return put;
  put.to_memory = keep(d.to_window)->memory_of(fabric);
  put.to_offset = static_cast<std::uint64_t>(d.to_offset);
  put.from_memory = keep(d.from_window)->memory_of(fabric);
  put.from_offset = static_cast<std::uint64_t>(d.from_offset);
  return put;
}

Commit::Share Commit::share_of(std::size_t fabric) {
  Share share;
  const int me = world_.rank();
  InTurn counted(chain_.counted_.get(), me);
  InTurn produced(chain_.produced_.get(), me);
  for (std::size_t i = 0; i < puts().size(); ++i) {
    const Descriptor& d = puts()[i];
    CountedEnd* const sent = d.counted ? counted.next_put() : nullptr;
    ProducedEnd* const made = d.produced ? produced.next_put() : nullptr;
    if (d.fabric != fabric) continue;
    fabric::Put& put = share.outgoing.emplace_back(put_on(fabric, me, i, d));
    put.length = length_of(sent, d);
    put.length.put = put.elements.put;
    put.elements.view = made != nullptr ? &made->view : nullptr;
  }
  int sender = -1;
  for (const auto& [from, index, d] : arrivals_) {
    if (std::exchange(sender, from) != from) {
      counted = InTurn(chain_.counted_.get(), from);
      produced = InTurn(chain_.produced_.get(), from);
    }
    CountedEnd* const come = d.counted ? counted.next_arrival() : nullptr;
    ProducedEnd* const used = d.produced ? produced.next_arrival() : nullptr;
    if (d.fabric != fabric) continue;
    fabric::Put& put = share.incoming.emplace_back(put_on(fabric, from, index, d));
    put.length = length_of(come, d);
    put.length.put = put.elements.put;
    put.elements.view = used != nullptr ? &used->view : nullptr;
  }
  return share;
}

// Has every fabric prepare its share, and returns what they have to tell the other ranks.
base::Blob Commit::offer() {
  windows_ = chain_.windows_;
  std::sort(windows_.begin(), windows_.end());
  windows_.erase(std::unique(windows_.begin(), windows_.end()), windows_.end());
  for (std::size_t f = 0; f < world_.fabrics().size(); ++f) shares_.push_back(share_of(f));
  if (chain_.timed_) expect_times();
  base::Writer writer;
  for (std::size_t f = 0; f < shares_.size(); ++f) {
    Share& share = shares_[f];
    share.offer =
        world_.fabrics()[f]->offer({chain_.name_, world_.members(), number_, chain_.guarded_, share.outgoing,
                                    share.incoming, chain_.time_limit_, world_.checks_steps(),
                                    world_.fabrics()[f]->times_messages() ? chain_.times_.get() : nullptr});
    const base::Blob blob = share.offer->to_others();
    writer.put(blob.size()).put_blob(blob);
  }
  return writer.blob();
}

void Commit::expect_times() {
  chain_.times_ = std::make_unique<MessageTimes>(world_, chain_.name_);
  std::map<int, std::vector<Descriptor>> puts;  // to this rank, by sender
  for (const Arrival& arrival : arrivals_) puts[arrival.from].push_back(arrival.put);
  for (const auto& [rank, of_rank] : puts) chain_.times_->expect(rank, of_rank);
}

void Commit::bind(const fabric::Offers& offered) {
  chain_.id_ = world_.next_id();
  std::vector<fabric::Offers> offers(shares_.size());  // by fabric
  for (const auto& [rank, blob] : offered) {
    base::Reader reader(blob);
    for (fabric::Offers& of_fabric : offers) of_fabric[rank] = reader.get_blob(reader.get<std::size_t>());
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
