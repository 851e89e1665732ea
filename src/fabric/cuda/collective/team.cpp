#include "fabric/cuda/collective/team.hpp"

#include <limits>

#include "base/fail.hpp"
#include "fabric/cuda/kernels.hpp"

namespace tca::cuda {

namespace {

// The offsets of a rank's parts of a team in its inbox.
struct Place {
  std::uint64_t packets = 0, raised = 0;
};

}  // namespace

CudaTeam::CudaTeam(Teams& teams, Inbox& inbox, std::string name, LaunchThrottle throttle)
    : room(inbox), teams_(teams), name_(std::move(name)), throttle_(throttle) {}

CudaTeam::~CudaTeam() { teams_.erase(view.limits.chain); }

void CudaTeam::allreduce_sum_on(double* values, std::size_t count, Stream stream) {
  launch_allreduce_sum(view, values, static_cast<Word>(count), stream);
  throttle_.keep(stream);
}

TimeoutReport CudaTeam::late() const {
  const Word* waiting = view.limits.waiting;
  // BlockTeam::wait_signal leaves its word behind the words of the ranks.
  if (const Word rank = device::load_relaxed(waiting + view.size); rank != 0)
    return {fmt::format("a signal of team '{}'", name_), {static_cast<int>(view.limits.ranks[rank - 1])}};
  const LatestWait latest = latest_wait(view.limits, view.size);
  return {describe_step(latest.step, fmt::format("team '{}'", name_)), latest.ranks};
}

std::unique_ptr<CudaTeam> make_team(Teams& teams, std::string name, std::size_t max_values,
                                    std::chrono::milliseconds time_limit, Word id,
                                    const control::Members& members, Inbox& inbox, cudaStream_t stream,
                                    LaunchThrottle throttle) {
  control::Control& control = members.control();
  const auto me = static_cast<std::size_t>(control.rank()), size = static_cast<std::size_t>(control.size());
  if (size > DeviceTeam::max_ranks) {
    base::fail(Errc::invalid_argument, "team '{}': a team has at most {} ranks, this world has {}", name,
               DeviceTeam::max_ranks, size);
  }
  auto team = std::make_unique<CudaTeam>(teams, inbox, name, throttle);
  Place mine;
  Word* waiting = nullptr;
  const Word* ranks = nullptr;
  const auto places = control.make_together(fmt::format("creation of team '{}'", name), [&] {
    if (max_values > std::numeric_limits<Word>::max()) {
      base::fail(Errc::invalid_argument, "team '{}': {} values; a team sums at most {}", name, max_values,
                 std::numeric_limits<Word>::max());
    }
    waiting = team->room.take_words(size + 1);
    ranks = team->room.take_ranks(members.ranks());
    mine.packets = team->room.take(2 * size * max_values * sizeof(device::Packet));
    mine.raised = team->room.take((3 * size + 1) * sizeof(Word));
    check(cudaStreamSynchronize(stream), "clearing signals");
    return base::Writer().put(mine).blob();
  });
  DeviceTeam& view = team->view;
  view.rank = static_cast<Word>(me);
  view.size = static_cast<Word>(size);
  view.max_values = static_cast<Word>(max_values);
  for (std::size_t member = 0; member < size; ++member) {
    const auto place = base::Reader(places[member]).get<Place>();
    const int rank = members.ranks()[member];
    view.theirs[member] = inbox.at<device::Packet>(rank, place.packets) + me * 2 * max_values;
    view.raise[member] = inbox.at<Word>(rank, place.raised) + me;
  }
  view.mine = inbox.own<device::Packet>(mine.packets);
  view.raised = inbox.own<Word>(mine.raised);
  view.sent = view.raised + size;
  view.seen = view.sent + size;
  view.step = view.seen + size;
  view.limits = {&inbox.abort(),
                 &inbox.gave_up(),
                 waiting,
                 static_cast<std::uint64_t>(std::chrono::nanoseconds(time_limit).count()),
                 id,
                 inbox.gone(),
                 ranks,
                 inbox.over()};
  teams[id] = team.get();
  return team;
}

}  // namespace tca::cuda
