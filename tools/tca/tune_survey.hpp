// Measures puts on every channel, pass after pass, on the host each in a world of its own and over a share of the puts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "measure.hpp"
#include "put_exchange.hpp"
#include "route/cost_table.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// What one channel that has room for it took for a point, at one distance. Where a virtual machine moves its cores, the same
// ranks may be near in one pass and far in the next.
struct ChannelTimes {
  bench::Channel channel;
  route::Distance distance = route::Distance::near;
  bench::Samples step_us;    // of every round of every pass
  bench::Samples cost_us;    // beyond the same step without the exchange
  double predicted_us = -1;  // of one put, by the costs of the last world; negative without any
};

struct PointTimes {
  bench::PutPoint point;
  // Which channel the route takes, by the distance between the ranks.
  std::map<route::Distance, std::string> chosen;
  std::vector<ChannelTimes> channels;
  bench::Samples bare_us;
};

struct SurveyOptions {
  WorldOptions world;
  double seconds = 30;   // passes are begun as long as another one is expected to fit
  int least_passes = 3;  // over every put
};

struct Survey {
  std::vector<PointTimes> points;
  int passes = 0;
  int discarded = 0;                                       // because the ranks' distance changed meanwhile
  std::map<route::Distance, bench::Samples> crossings_us;  // of the passes, by how far the ranks were
  int ranks = 0, sub_clusters = 0;
  std::string fabrics, hardware, costs;
  std::string gpus;  // that took part, for records

  // How long a signal takes between ranks so far apart; 0 where nobody measures it, and for a rank itself.
  double crossing_us(route::Distance distance) const;
  // "2 ranks of shm, 7 passes (1 left out: the ranks moved nearer or further), 65 ns for a line to cross (near, 7 passes)"
  std::string describe() const;
};

// Collective. To whom ranks can put that differs: itself (0), a rank of its sub-cluster, a rank beyond; as numbers that ranks are
// combined with (`PutPoint::across`).
std::vector<int> destinations(World& world);

using PointsOf = std::function<std::vector<bench::PutPoint>(World&)>;
using SurveyProgress =
    std::function<void(double, const std::string&)>;  // hears the share that is done, and a note

// Collective over the ranks of this launch, which all come up together: once a pass, or on GPUs, whose distance nothing changes,
// once. `points` is asked once the first world is there. Rank 0's is the result that counts.
Survey survey(const PointsOf& points, const SurveyOptions& options, const SurveyProgress& progress);

// The same in a world that is there.
Survey survey(World& world, const PointsOf& points, const SurveyOptions& options,
              const SurveyProgress& progress);

}  // namespace tca::tool
