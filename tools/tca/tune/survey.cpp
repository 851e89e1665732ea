#include "tune/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "base/quantile.hpp"
#include "core/world/world_state.hpp"
#include "measure/agree.hpp"
#ifdef OPENTCA_HAVE_CUDA
#include "gpu/in_turn.hpp"
#include "gpu/machine.hpp"
#include "gpu/puts.hpp"
#endif
#include "route/choose.hpp"
#include "route/hardware.hpp"
#include "tca/error.hpp"
#include "tune/grid.hpp"

namespace tca::tool {
namespace {

using Clock = std::chrono::steady_clock;

// Few enough for a pass to end within half a second, since a hypervisor may move the ranks from one second to
// the next.
constexpr std::size_t points_a_pass = 64;

// The effort of a pass over puts of the host's memory. Where GPUs move the data, a step takes microseconds
// more and has a clock of its own.
constexpr bench::Effort effort_on_hosts{1, 2, 120, 3};

const core::WorldState& state_of(const World& world) { return core::WorldState::of(world); }

using bench::all_say;

bool as_rank_0_says(World& world, bool mine) { return world.all_gather(static_cast<char>(mine))[0] != 0; }

// Returns how far apart the ranks are, according to the first fabric.
route::Distance distance_of(const World& world) {
  return route::distance(state_of(world).fabrics().front()->pricing().cache_line_transfer_ns());
}

// The result of one pass, added to the survey once it is known to be sound.
struct Found {
  std::vector<PointTimes> points;
  route::Distance distance = route::Distance::near;
  double crossing_us = 0;
};

// A rank without a partner puts to itself.
route::Put put_of(const World& world, const bench::PutPoint& point) {
  const int partner = world.rank() ^ point.across;
  return {partner < world.size() ? partner : world.rank(), shape_of(point.shape),
          static_cast<std::size_t>(point.puts)};
}

// Returns the room that the step's other puts take, on every channel.
route::Taken others_of(const World& world, const route::Put& put) {
  route::Taken taken;
  for (const auto& fabric : state_of(world).fabrics())
    for (std::size_t p = 0; p < fabric->protocols().size(); ++p)
      for (std::size_t other = 1; other < put.puts; ++other)
        taken.add(*fabric, static_cast<int>(p), put.target, put.shape);
  return taken;
}

// Whether a channel is, by the costs so far, so much slower than another that no commit would choose it.
// Measuring such channels would take longer than all others together: MPI's one-sided calls make a system
// call for each run, and where memory is shared MPI's messages cost many times as much as the few bytes that
// they carry.
bool is_hopeless(const route::Candidate& candidate, const std::vector<route::Candidate>& all) {
  constexpr double hopeless = 8;
  return std::any_of(all.begin(), all.end(), [&](const route::Candidate& other) {
    return other.predicted_us && candidate.predicted_us &&
           *candidate.predicted_us > hopeless * *other.predicted_us;
  });
}

// Returns the channels that rank 0 has for a put of its own. The other ranks measure the same, which must be
// open to them as well.
std::vector<route::Candidate> channels_of_rank_0(World& world, const route::Put& put) {
  const auto& fabrics = state_of(world).fabrics();
  const auto number = [](const route::Candidate& candidate) {
    constexpr int most_protocols = 8;
    return candidate.choice.fabric * most_protocols + candidate.choice.protocol;
  };
  std::vector<route::Candidate> all =
      route::candidates(fabrics, state_of(world).costs(), put, {}, others_of(world, put));
  std::uint64_t open = 0;
  for (const route::Candidate& candidate : all)
    if (candidate.has_room && !is_hopeless(candidate, all)) open |= std::uint64_t{1} << number(candidate);
  open = world.all_gather(open)[0];
  std::erase_if(all, [&](const route::Candidate& candidate) { return (open >> number(candidate) & 1) == 0; });
  return all;
}

// Remembers which channels accept chains; the same on every rank. Puts to oneself have entries of their own,
// since they may go another way.
class OpenChannels {
 public:
  bool has(World& world, bench::PutField& field, const bench::PutPoint& point,
           const bench::Channel& channel) {
    const std::pair key(channel.name(), point.across != 0);
    const auto known = open_.find(key);
    if (known != open_.end()) return known->second;
    return open_[key] = bench::is_open(world, field, point, channel);
  }

 private:
  std::map<std::pair<std::string, bool>, bool> open_;
};

bool on_gpus(World& world) { return state_of(world).accelerator() != nullptr; }

// Returns samples of a step without an exchange, followed by those of a step over each of the channels.
std::vector<bench::Samples> measure_steps(World& world, bench::PutField& field, const bench::PutPoint& point,
                                          const std::vector<bench::Channel>& channels) {
#ifdef OPENTCA_HAVE_CUDA
  constexpr bench::Effort effort_on_gpus{1, 3, 200};
  if (on_gpus(world))
    return bench::gpu::measure(
               world, [&] { return bench::gpu::put_exchanges(world, field, point, channels); },
               effort_on_gpus, [](int) {})
        .samples;
#endif
  return bench::measure(
             world, [&] { return bench::put_exchanges(world, field, point, channels); }, effort_on_hosts)
      .samples;
}

PointTimes measure_point(World& world, bench::PutField& field, const bench::PutPoint& point,
                         OpenChannels& open) {
  const auto& fabrics = state_of(world).fabrics();
  const route::Costs& costs = state_of(world).costs();
  const route::Put put = put_of(world, point);
  PointTimes times{point, {}, {}, {}};
  std::vector<bench::Channel> channels;
  for (const route::Candidate& candidate : channels_of_rank_0(world, put)) {
    const fabric::Fabric& fabric = *fabrics[static_cast<std::size_t>(candidate.choice.fabric)];
    const auto protocol = static_cast<std::size_t>(candidate.choice.protocol);
    const bench::Channel channel{std::string(fabric.name()), std::string(fabric.protocols()[protocol])};
    if (!open.has(world, field, point, channel)) continue;
    channels.push_back(channel);
    times.channels.push_back({channels.back(),
                              costs.distance_to(fabric, put.target),
                              {},
                              {},
                              candidate.predicted_us.value_or(-1)});
  }
  const route::Choice chosen = route::choose(fabrics, costs, put, {}, others_of(world, put));
  for (const ChannelTimes& channel : times.channels) {
    const fabric::Fabric& fabric = *fabrics[static_cast<std::size_t>(chosen.fabric)];
    const std::string_view protocol = fabric.protocols()[static_cast<std::size_t>(chosen.protocol)];
    if (channel.channel.fabric == fabric.name() && channel.channel.protocol == protocol)
      times.chosen[channel.distance] = channel.channel.name();
  }
  const std::vector<bench::Samples> steps = measure_steps(world, field, point, channels);
  times.bare_us = steps[0];
  for (std::size_t i = 0; i < channels.size(); ++i) {
    times.channels[i].step_us = steps[i + 1];
    times.channels[i].cost_us = bench::beyond(steps[i + 1], times.bare_us);
  }
  return times;
}

void append(bench::Samples& to, const bench::Samples& from) { to.insert(to.end(), from.begin(), from.end()); }

void add(PointTimes& to, const PointTimes& from) {
  append(to.bare_us, from.bare_us);
  to.chosen.insert(from.chosen.begin(), from.chosen.end());
  for (const ChannelTimes& channel : from.channels) {
    const auto same = std::find_if(to.channels.begin(), to.channels.end(), [&](const ChannelTimes& c) {
      return c.channel.name() == channel.channel.name() && c.distance == channel.distance;
    });
    if (same == to.channels.end()) {
      to.channels.push_back(channel);
    } else {
      append(same->step_us, channel.step_us);
      append(same->cost_us, channel.cost_us);
    }
  }
}

class Surveyor {
 public:
  Surveyor(const SurveyOptions& options, const SurveyProgress& progress)
      : options_(options), progress_(progress) {}

  // Makes one more pass, unless there have been enough. Returns whether it did.
  bool go_on(World& world, const PointsOf& points) {
    if (points_.empty()) begin_with(world, points(world));
    if (!review(world)) return false;
    pass(world);
    return true;
  }

  Survey result() && {
    drop_rare_distances();
    return std::move(result_);
  }

 private:
  static constexpr int most_passes = 10000;
  // Once this multiple of the time has passed, because other programs keep the cores busy, one measurement of
  // every put must do.
  static constexpr double patience = 1.5;

  void begin_with(World& world, std::vector<bench::PutPoint> points) {
    const core::WorldState& state = state_of(world);
    points_ = std::move(points);
    // So many passes together measure each point once.
    if (!on_gpus(world)) shares_ = static_cast<int>(points_.size() / points_a_pass) + 1;
    result_.ranks = world.size();
    result_.sub_clusters = state.sub_cluster_count();
    result_.fabrics = route::fabric_set(state.fabrics());
    result_.hardware = route::hardware_of(state.fabrics());
    result_.costs = state.costs().origin();
#ifdef OPENTCA_HAVE_CUDA
    if (on_gpus(world)) result_.gpus = bench::gpu::machine(world).describe();
#endif
  }

  // Keeps the last pass if this world finds the ranks as far apart as that one did. Returns whether another
  // pass follows.
  bool review(World& world) {
    if (last_ && distance_of(world) != last_->distance) {
      ++result_.discarded;
      last_.reset();
    }
    if (last_) keep(*last_);
    last_.reset();
    const double used = std::chrono::duration<double>(Clock::now() - begin_).count();
    const int begun = result_.passes + result_.discarded;
    const bool fits = used + (begun > 0 ? used / begun : 0) <= options_.seconds;
    const bool too_long = used > patience * options_.seconds && most_alike() >= shares_;
    return as_rank_0_says(world, (fits || most_alike() < least()) && !too_long && begun < most_passes);
  }

  // Drops distances that were met in too few passes to be told from chance.
  void drop_rare_distances() {
    for (auto met = result_.crossings_us.begin(); met != result_.crossings_us.end();) {
      const route::Distance distance = met->first;
      const bench::Samples& crossings = met->second;
      const auto passes = static_cast<int>(crossings.size());
      if (base::median(crossings) <= 0 || passes >= std::min(least(), most_alike())) {
        ++met;
        continue;
      }
      for (PointTimes& point : result_.points) {
        std::erase_if(point.channels, [&](const ChannelTimes& times) {
          return times.distance == distance && times.channel.fabric == front_;
        });
        point.chosen.erase(distance);
      }
      result_.passes -= passes;
      result_.discarded += passes;
      met = result_.crossings_us.erase(met);
    }
  }

  // Measures a share of all points, so that the pass ends before the ranks move. It is the next share that
  // earlier passes at this distance have left.
  void pass(World& world) {
    const fabric::Fabric& front = *state_of(world).fabrics().front();
    front_ = front.name();
    last_.emplace(Found{{}, distance_of(world), front.pricing().cache_line_transfer_ns() * 1e-3});
    for (const bench::PutPoint& point : points_) last_->points.push_back({point, {}, {}, {}});
    const auto shares = static_cast<std::size_t>(shares_);
    const std::size_t share = result_.crossings_us[last_->distance].size() % shares;
    std::size_t bytes = 0;
    for (std::size_t i = share; i < points_.size(); i += shares)
      bytes = std::max(bytes, bench::PutField::bytes_for(points_[i].shape));
    bench::PutField field(world, bytes);
    for (std::size_t i = share; i < points_.size(); i += shares) {
      last_->points[i] = measure_point(world, field, points_[i], open_);
      say(i + 1, points_.size());
    }
  }

  int least() const { return options_.least_passes * shares_; }

  // Returns the number of passes at the distance that was met most often.
  int most_alike() const {
    std::size_t most = 0;
    for (const auto& [distance, crossings] : result_.crossings_us) most = std::max(most, crossings.size());
    return static_cast<int>(most);
  }

  void keep(const Found& found) {
    if (result_.points.empty()) {
      result_.points = found.points;
    } else {
      for (std::size_t i = 0; i < found.points.size(); ++i) add(result_.points[i], found.points[i]);
    }
    result_.crossings_us[found.distance].push_back(found.crossing_us);
    ++result_.passes;
  }

  void say(std::size_t done, std::size_t all) {
    const double used = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double here = static_cast<double>(done) / static_cast<double>(all);
    // On a machine that is too slow to complete its passes in time, their number limits the progress.
    const double by_passes = (most_alike() + here) / static_cast<double>(least());
    progress_(std::min(used / options_.seconds, by_passes),
              fmt::format("pass {}, {} of {} puts", result_.passes + result_.discarded + 1, done, all));
  }

  const SurveyOptions& options_;
  std::vector<bench::PutPoint> points_;
  Survey result_;
  int shares_ = 1;
  const SurveyProgress& progress_;
  Clock::time_point begin_ = Clock::now();
  std::string front_;  // the name of the first fabric, whose crossings are measured
  std::optional<Found> last_;
  OpenChannels open_;
};

}  // namespace

double Survey::crossing_us(route::Distance distance) const {
  const auto found = crossings_us.find(distance);
  return found != crossings_us.end() ? base::median(found->second) : 0;
}

std::string Survey::describe() const {
  std::string text =
      fmt::format("{} ranks of {}, {} pass{}", ranks, fabrics, passes, passes == 1 ? "" : "es");
  if (discarded > 0) text += fmt::format(" ({} left out: the ranks moved nearer or further)", discarded);
  for (const auto& [distance, times] : crossings_us)
    if (base::median(times) > 0)
      text += fmt::format(", {:.0f} ns for a line to cross ({}, {} pass{})", 1e3 * base::median(times),
                          route::to_string(distance), times.size(), times.size() == 1 ? "" : "es");
  return text;
}

std::vector<int> destinations(World& world) {
  std::vector<int> all{0};
  const auto& front = state_of(world).fabrics().front();
  for (const bool inside : {true, false}) {
    for (int across = 1; across < world.size(); across *= 2) {
      const int partner = world.rank() ^ across;
      if (!all_say(world, partner >= world.size() || front->reaches(partner) == inside)) continue;
      all.push_back(across);
      break;
    }
  }
  return all;
}

Survey survey(const PointsOf& points, const SurveyOptions& options, const SurveyProgress& progress) {
  Surveyor surveyor(options, progress);
  for (bool more = true; more;) {
    World world = World::init(options.world);
    do more = surveyor.go_on(world, points);
    while (more && on_gpus(world));
  }
  return std::move(surveyor).result();
}

Survey survey(World& world, const PointsOf& points, const SurveyOptions& options,
              const SurveyProgress& progress) {
  Surveyor surveyor(options, progress);
  while (surveyor.go_on(world, points)) continue;
  return std::move(surveyor).result();
}

}  // namespace tca::tool
