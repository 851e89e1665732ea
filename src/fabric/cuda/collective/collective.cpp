#include "fabric/cuda/collective/collective.hpp"

#include "base/fail.hpp"
#include "fabric/cuda/collective/collective_plan.hpp"

namespace tca::cuda {

namespace {

CollectivePlace place_of(const fabric::CollectiveTask& task, int rank) {
  CollectivePlace place;
  place.rank = rank;
  if (task.input == nullptr) return place;
  place.input = task.input->parts[rank] + task.input_offset;
  for (int r = 0; r < task.spec.ranks; ++r) {
    place.inputs.push_back(task.input->parts[r]);
    place.outputs.push_back(task.output->parts[r]);
  }
  return place;
}

constexpr int nobody = -1;

Grid grid_of(CollectiveGrid grid) { return {grid.blocks, grid.threads}; }

}  // namespace

CudaCollective::CudaCollective(CollectiveRunner& runner, const fabric::CollectiveTask& task, Word id)
    : runner_(runner),
      name_(task.name),
      members_(task.members),
      ranks_(static_cast<Word>(task.spec.ranks)),
      reduction_(task.spec.reduction),
      room_(runner.inbox),
      limits_{&runner.inbox.abort(),
              &runner.inbox.gave_up(),
              nullptr,
              static_cast<std::uint64_t>(std::chrono::nanoseconds(task.time_limit).count()),
              id,
              runner.inbox.gone(),
              nullptr,
              runner.inbox.over()} {
  const CollectivePlace place = place_of(task, members_.control().rank());
  if (task.way == kernel_ll) {
    grid_ = grid_of(packets_grid(task.spec, runner.block_limit));
    const bool broadcasts = task.spec.kind == CollectiveKind::broadcast;
    set_up(plan_packets(task.spec, place), broadcasts ? task.spec.root : nobody);
  } else {
    grid_ = grid_of(moves_grid(task.spec, runner.block_limit));
    set_up(plan_moves(task.spec, place));
  }
  runner_.collectives[id] = this;
}

CudaCollective::~CudaCollective() { runner_.collectives.erase(limits_.chain); }

// Lets every rank take the same number of bytes from its inbox, and returns where they begin, by rank. The
// bytes have been cleared by then.
std::vector<std::uint64_t> CudaCollective::exchange_room(std::size_t bytes) {
  const auto offers = members_.control().make_together(fmt::format("creation of {}", name_), [&] {
    limits_.waiting = room_.take_words(ranks_);
    limits_.ranks = room_.take_ranks(members_.ranks());
    done_ = room_.take_words(1);
    started_.emplace();
    const std::uint64_t mine = room_.take(bytes);
    check(cudaStreamSynchronize(runner_.setup), "clearing signals");
    return base::Writer().put(mine).blob();
  });
  std::vector<std::uint64_t> all;
  for (const base::Blob& offer : offers) all.push_back(base::Reader(offer).get<std::uint64_t>());
  return all;
}

// The room holds two sets of packets from each rank, or two for a broadcast and its acknowledgements by
// block and rank, and this rank's counts.
void CudaCollective::set_up(device::CollectivePackets packets, int root) {
  const std::size_t pitch = device::buffer_pitch(packets.packets());
  const bool broadcasts = root != nobody;
  const std::size_t packet_bytes = sizeof(device::Packet) * 2 * (broadcasts ? 1 : packets.size) * pitch;
  const std::size_t ack_bytes = std::size_t{grid_.blocks} * packets.size * sizeof(Word);
  const std::vector<std::uint64_t> at =
      exchange_room(packet_bytes + ack_bytes + (grid_.blocks + 1) * sizeof(Word));
  for (std::size_t member = 0; member < at.size(); ++member)
    packets.theirs[member] =
        runner_.inbox.at<device::Packet>(members_[static_cast<int>(member)], at[member]) +
        2 * pitch * (broadcasts ? 0 : packets.rank);
  const std::uint64_t mine = at[packets.rank];
  packets.mine = runner_.inbox.own<device::Packet>(mine);
  if (broadcasts)
    packets.acks = runner_.inbox.at<Word>(members_[root], at[static_cast<std::size_t>(root)] + packet_bytes);
  packets.steps = runner_.inbox.own<Word>(mine + packet_bytes + ack_bytes);
  packets.count = packets.steps + grid_.blocks;
  packets.limits = limits_;
  view_ = packets;
}

// The room holds the flags "ready" and the flags "done" by block, each by sender, and this rank's counts.
void CudaCollective::set_up(device::CollectiveMoves moves) {
  const std::size_t flag_bytes = std::size_t{1 + grid_.blocks} * moves.size * sizeof(Word);
  const std::vector<std::uint64_t> at = exchange_room(flag_bytes + (grid_.blocks + 1) * sizeof(Word));
  for (std::size_t member = 0; member < at.size(); ++member)
    moves.theirs[member] =
        runner_.inbox.at<Word>(members_[static_cast<int>(member)], at[member]) + moves.rank;
  moves.mine = runner_.inbox.own<Word>(at[moves.rank]);
  moves.steps = runner_.inbox.own<Word>(at[moves.rank] + flag_bytes);
  moves.count = moves.steps + grid_.blocks;
  moves.limits = limits_;
  view_ = moves;
}

void CudaCollective::launch(Phase phase, Done done, cudaStream_t stream) const {
  if (const auto* packets = std::get_if<device::CollectivePackets>(&view_)) {
    launch_packets(*packets, reduction_, phase, grid_, done, stream);
  } else {
    launch_moves(std::get<device::CollectiveMoves>(view_), reduction_, phase, grid_, done, stream);
  }
}

void CudaCollective::launch_on(Phase phase, cudaStream_t stream) const {
  launch(phase, {}, stream);
  runner_.throttle.keep(stream);
}

void CudaCollective::start() {
  ++ticket_;
  waits_ = false;
  launch(Phase::start, {}, runner_.starts);
  check(cudaEventRecord(started_->event, runner_.starts), "starting a collective");
}

// The kernel that waits is launched only here. So these kernels follow one another in the order in which
// the ranks wait, and never block another collective's start.
bool CudaCollective::test() {
  if (!waits_) {
    check(cudaStreamWaitEvent(runner_.waits, started_->event), "waiting for a collective");
    launch(Phase::wait, {done_, ticket_}, runner_.waits);
    waits_ = true;
  }
  // Acquire: pairs with the release of the step's last block.
  if (device::load_acquire(done_) == ticket_) return true;
  constexpr unsigned polls_between_checks = 4096;  // asking the driver takes a microsecond
  if (++polls_ % polls_between_checks == 0) runner_.check();
  return false;
}

TimeoutReport CudaCollective::late() const {
  const LatestWait latest = latest_wait(limits_, ranks_);
  return {describe_step(latest.step, name_), latest.ranks};
}

}  // namespace tca::cuda
