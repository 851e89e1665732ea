#include "fabric/cuda/collective/team.hpp"

#include <limits>

#include "base/fail.hpp"
#include "fabric/cuda/kernels.hpp"

namespace tca::cuda {

namespace {

// The offsets of a rank's parts of a team in its inbox.
struct Place {
  std::uint64_t packets = 0, raised = 0;
  std::uint64_t max_values = 0, max_blocks = 0;  // which must be the same on every rank
};

// Returns how many packets a rank has from all ranks: those of single blocks, followed by those of grids
// with an extra place for totals.
std::size_t packet_count(std::size_t size, std::size_t max_values, std::size_t max_blocks) {
  const std::size_t of_grids = max_blocks > 0 ? max_blocks + 1 : 0;
  return 2 * size * max_values * (1 + of_grids);
}

void require_words(std::string_view name, std::size_t size, std::size_t max_values, std::size_t max_blocks) {
  constexpr std::size_t most = std::numeric_limits<Word>::max();
  const std::size_t places = most / (2 * size * (1 + max_blocks + 1));
  if (max_blocks < most && max_values <= places) return;
  base::fail(Errc::invalid_argument,
             "team '{}': {} values in grids of {} blocks; a team of {} ranks combines at most {} there", name,
             max_values, max_blocks, size, places);
}

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
  // BlockTeam::wait_signal leaves its word after the words of the ranks.
  if (const Word rank = device::load_relaxed(waiting + view.size); rank != 0)
    return {fmt::format("a signal of team '{}'", name_), {static_cast<int>(view.limits.ranks[rank - 1])}};
  const LatestWait latest = latest_wait(view.limits, view.size);
  return {describe_step(latest.step, fmt::format("team '{}'", name_)), latest.ranks};
}

std::unique_ptr<CudaTeam> make_team(Teams& teams, std::string name, std::size_t max_values,
                                    std::size_t max_blocks, std::chrono::milliseconds time_limit, Word id,
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
    require_words(name, size, max_values, max_blocks);
    waiting = team->room.take_words(size + 2);
    ranks = team->room.take_ranks(members.ranks());
    mine.packets = team->room.take(packet_count(size, max_values, max_blocks) * sizeof(device::Packet));
    mine.raised = team->room.take((3 * size + 2) * sizeof(Word));
    mine.max_values = max_values;
    mine.max_blocks = max_blocks;
    check(cudaStreamSynchronize(stream), "clearing signals");
    return base::Writer().put(mine).blob();
  });
  DeviceTeam& view = team->view;
  view.rank = static_cast<Word>(me);
  view.size = static_cast<Word>(size);
  view.max_values = static_cast<Word>(max_values);
  view.max_blocks = static_cast<Word>(max_blocks);
  const auto first = base::Reader(places[0]).get<Place>();
  for (std::size_t member = 0; member < size; ++member) {
    const auto place = base::Reader(places[member]).get<Place>();
    const int rank = members[static_cast<int>(member)];
    if (place.max_values != first.max_values || place.max_blocks != first.max_blocks) {
      base::fail(
          Errc::refused,
          "team '{}': rank 0 makes it for {} values and {} blocks, rank {} for {} and {}; every rank gives "
          "the same",
          name, first.max_values, first.max_blocks, member, place.max_values, place.max_blocks);
    }
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
