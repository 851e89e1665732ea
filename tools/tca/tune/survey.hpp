// Measures puts on every channel, pass after pass. On hosts each pass has a world of its own and covers a
// share of the puts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "measure/measure.hpp"
#include "put_exchange.hpp"
#include "route/cost_table.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// The times of a point on one channel that has room for it, at one distance. Where a virtual machine moves
// its cores, the same ranks may be near in one pass and far in the next.
struct ChannelTimes {
  bench::Channel channel;
  route::Distance distance = route::Distance::near;
  bench::Samples step_us;    // one for every round of every pass
  bench::Samples cost_us;    // beyond the same step without the exchange
  double predicted_us = -1;  // of one put, by the costs of the last world; negative without costs
};

struct PointTimes {
  bench::PutPoint point;
  // The channel that the route takes, by the distance between the ranks.
  std::map<route::Distance, std::string> chosen;
  std::vector<ChannelTimes> channels;
  bench::Samples bare_us;
};

struct SurveyOptions {
  WorldOptions world;
  double seconds = 30;   // a pass begins as long as it is expected to fit
  int least_passes = 3;  // of every put
};

struct Survey {
  std::vector<PointTimes> points;
  int passes = 0;
  int discarded = 0;                                       // passes during which the ranks' distance changed
  std::map<route::Distance, bench::Samples> crossings_us;  // one for each pass, by the distance of the ranks
  int ranks = 0, sub_clusters = 0;
  std::string fabrics, hardware, costs;
  std::string gpus;  // the GPUs that took part, for records

  // Returns how long a signal takes between ranks at this distance. 0 where no fabric measures it, and for a
  // rank itself.
  double crossing_us(route::Distance distance) const;
  // Returns "2 ranks of shm, 7 passes (1 left out: the ranks moved nearer or further), 65 ns for a line to
  // cross (near, 7 passes)".
  std::string describe() const;
};

// Returns the destinations of a put that differ in kind: the rank itself (0), a rank of its sub-cluster, a
// rank beyond. Each is the number with which a rank is XORed to give its partner (`PutPoint::across`).
// Collective.
std::vector<int> destinations(World& world);

using PointsOf = std::function<std::vector<bench::PutPoint>(World&)>;
// Called with the share that is done, and a note.
using SurveyProgress = std::function<void(double, const std::string&)>;

// Collective over the ranks of this launch. They come up together in a new world for each pass or, on GPUs,
// whose distance does not change, in one world for all. `points` is called once the first world exists. Rank
// 0's result is the one that counts.
Survey survey(const PointsOf& points, const SurveyOptions& options, const SurveyProgress& progress);

// Does the same in a world that exists already.
Survey survey(World& world, const PointsOf& points, const SurveyOptions& options,
              const SurveyProgress& progress);

}  // namespace tca::tool
