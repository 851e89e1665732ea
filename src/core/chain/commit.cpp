#include "core/chain/commit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/fail.hpp"
#include "core/words.hpp"
#include "route/choose.hpp"

namespace tca::core {

namespace {

void write(base::Writer& writer, const Descriptor& d) {
  writer.put(d).put(d.shape != nullptr);
  if (d.shape != nullptr) writer.put(*d.shape);
}

Descriptor read(base::Reader& reader, WorldState& world) {
  auto d = reader.get<Descriptor>();
  d.shape = reader.get<bool>() ? world.intern(reader.get<base::Shape>()) : nullptr;
  return d;
}

}  // namespace

void Commit::run() {
  choose_channels();
  for (std::size_t i = 0; i < puts().size(); ++i) check_windows(world_.rank(), i, puts()[i], own_);
  check_bounds(own_);
  if (chain_.partners_only_) circle_ = &find_circle(world_, partners(), chain_.time_limit_, what());
  const TimeLimit limit(control(), chain_.time_limit_);
  exchange();
  const Problems problems = this->problems();
  world_.free_released(*circle_, what());
  bind(agree(problems));
}

// Returns this rank's partners in the chain, according to its own declarations.
std::set<int> Commit::partners() const {
  std::set<int> partners(chain_.draft_->expected.begin(), chain_.draft_->expected.end());
  for (const Descriptor& d : puts()) partners.insert(d.to);
  partners.erase(world_.rank());
  return partners;
}

std::string Commit::what() const { return fmt::format("commit of chain '{}'", chain_.name_); }

void Commit::choose_channels() {
  std::vector<Descriptor>& puts = chain_.draft_->descriptors;
  route::Taken taken;
  std::map<int, std::size_t> puts_to = count_puts(puts);
  for (std::size_t i = 0; i < puts.size(); ++i) {
    Descriptor& d = puts[i];
    if (d.shape == nullptr) {
      d.fabric = static_cast<std::uint16_t>(signal_fabric(d.to));
      choose_spare(d, puts_to[d.to]);
      if (d.produced && !world_.fabrics()[d.fabric]->carries_produced()) {
        own_.add([&] {
          return fmt::format(
              "put {} of rank {} is produced by a kernel, and none reaches rank {}, which is reached over "
              "{}; put from a window instead, which the kernel or the host fills before the start",
              i, world_.rank(), d.to, world_.fabrics()[d.fabric]->name());
        });
      }
      continue;
    }
    const std::size_t first = world_.first_fabric(d.to_window, d.from_window);
    const std::span usable = std::span(world_.fabrics()).subspan(first);
    try {
      route::Put put{d.to, *d.shape, puts_to[d.to], d.counted, chain_.partners_only_, {}};
      if (world_.expects_lost_paths())
        put.is_lost = [&, first, to = d.to](std::size_t fabric, std::size_t protocol) {
          return world_.lost_path(to, first + fabric, protocol) != nullptr;
        };
      const route::Choice choice = route::choose(usable, world_.costs(), put, chain_.route_, taken);
      d.fabric = static_cast<std::uint16_t>(first + static_cast<std::size_t>(choice.fabric));
      taken.add(*world_.fabrics()[d.fabric], choice.protocol, d.to, *d.shape);
      d.protocol = static_cast<std::uint16_t>(choice.protocol);
      choose_spare(d, puts_to[d.to]);
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      // The error is only noted, since the others wait for this rank in the exchange.
      own_.add([&] {
        const std::string lost = world_.lost_paths(d.to);
        return fmt::format("put {} of rank {}: {}{}{}", i, world_.rank(), error.what(),
                           lost.empty() ? "" : "; lost: ", lost);
      });
    }
  }
}

// Returns the first fabric that reaches a rank and whose path there has not failed; if all have failed, the
// first one that reaches it.
std::size_t Commit::signal_fabric(int rank) const {
  for (std::size_t f = world_.fabric_to(rank); f < world_.fabrics().size(); ++f)
    if (world_.fabrics()[f]->reaches(rank) && world_.lost_path(rank, f, {}) == nullptr) return f;
  return world_.fabric_to(rank);
}

base::Blob Commit::made() const {
  return base::Writer()
      .put(chain_.guarded_)
      .put(chain_.timed_)
      .put(chain_.reroute_)
      .put_string(chain_.name_)
      .blob();
}

void Commit::exchange() {
  const WorldState::Met met =
      world_.meet(*circle_, letters(), made(), own_.total() > 0 ? 1 : 0, what(), number_);
  if (chain_.reroute_) world_.skip_numbers(Detour::tellings + 2);  // of detours
  is_same_ = met.is_same;
  is_sound_ = is_same_ && met.worst == 0;
  first_name_ = chain_.name_;
  if (is_same_)
    take(met.letters);
  else
    compare_chains(own_);
}

// Returns this rank's puts to others, in one letter to each of them.
std::vector<control::Letter> Commit::letters() const {
  std::map<int, base::Writer> to;
  for (std::size_t i = 0; i < puts().size(); ++i) {
    const Descriptor& d = puts()[i];
    if (d.to != world_.rank()) write(to[d.to].put(i), d);
  }
  std::vector<control::Letter> letters;
  for (const auto& [rank, writer] : to) letters.push_back({circle_->member_of(rank), writer.blob()});
  return letters;
}

void Commit::take(const std::vector<control::Letter>& letters) {
  const int me = world_.rank();
  for (std::size_t i = 0; i < puts().size(); ++i)
    if (puts()[i].to == me) arrivals_.push_back({me, i, puts()[i]});
  for (const control::Letter& letter : letters) {
    for (base::Reader reader(letter.bytes); !reader.done();) {
      const auto index = reader.get<std::size_t>();
      arrivals_.push_back({circle_->rank_of(letter.rank), index, read(reader, world_)});
    }
  }
  std::ranges::stable_sort(arrivals_, {}, &Arrival::from);
}

// Called if not all ranks commit the same chain. A rank that commits a different one from the first has
// that problem, and no other: the rest would compare different chains.
void Commit::compare_chains(Problems& problems) {
  problems = {};
  const auto describe = [](const base::Blob& made) {
    base::Reader reader(made);
    const bool guarded = reader.get<bool>(), timed = reader.get<bool>(), reroutes = reader.get<bool>();
    return fmt::format("{}{}{} chain '{}'", timed ? "timed " : "", reroutes ? "rerouted " : "",
                       guarded ? "guarded" : "unguarded", reader.get_string());
  };
  const base::Blob mine = made();
  const base::Blob first = control().all_gather(mine, what()).front();
  base::Reader reader(first);
  reader.get<bool>();  // guarded
  reader.get<bool>();  // timed
  reader.get<bool>();  // reroute
  first_name_ = reader.get_string();
  if (mine == first) return;
  problems.add([&] {
    return fmt::format(
        "rank {} commits the {}, rank {} the {}; every rank must commit the same chains in the same order",
        circle_->rank_of(0), describe(first), world_.rank(), describe(mine));
  });
}

// If no rank has a problem, returns what this rank and its partners offer, or more ranks if a fabric needs
// that. Otherwise all throw the same error.
fabric::Offers Commit::agree(const Problems& problems) {
  control::Control& control = this->control();
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
  for (control::Letter& letter : met.letters) offers[circle_->rank_of(letter.rank)] = std::move(letter.bytes);
  return offers;
}

// Returns what this rank's fabrics offer, for the ranks that it concerns.
std::vector<control::Letter> Commit::offer_letters(const base::Blob& offer) const {
  std::set<int> partners;
  for (const Descriptor& d : puts()) partners.insert(d.to);
  for (const Arrival& arrival : arrivals_) partners.insert(arrival.from);
  if (std::ranges::any_of(shares_, [](const Share& share) { return share.offer->concerns_all(); }))
    for (int member = 0; member < circle_->members().size(); ++member)
      partners.insert(circle_->rank_of(member));
  partners.erase(world_.rank());
  std::vector<control::Letter> letters;
  for (const int rank : partners) letters.push_back({circle_->member_of(rank), offer});
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
  std::vector<base::Blob> all = control().all_gather(writer.blob(), what());
  for (base::Blob& blob : all) {
    base::Reader reader(blob);
    total += reader.get<std::size_t>();
    for (auto n = reader.get<std::size_t>(); n > 0; --n) lines.insert(reader.get_string());
    blob = reader.rest();
  }
  if (total == 0) control().require_all(all);
  while (lines.size() > Problems::shown) lines.erase(std::prev(lines.end()));
  base::fail(Errc::refused, "chain '{}' refused, {} problem{}:\n  {}{}", first_name_, total,
             total == 1 ? "" : "s", fmt::join(lines, "\n  "), total > lines.size() ? "\n  ..." : "");
}

}  // namespace tca::core
