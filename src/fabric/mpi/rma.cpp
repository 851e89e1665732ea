#include "fabric/mpi/rma.hpp"

#include <algorithm>
#include <set>

#include "base/fail.hpp"
#include "fabric/mpi/program.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view putting = "putting (rma)";

MPI_Group group_of(MPI_Comm comm, const std::set<int>& ranks) {
  if (ranks.empty()) return MPI_GROUP_NULL;
  const std::vector<int> list(ranks.begin(), ranks.end());
  MPI_Group all, some;
  check(MPI_Comm_group(comm, &all), putting);
  check(MPI_Group_incl(all, static_cast<int>(list.size()), list.data(), &some), putting);
  check(MPI_Group_free(&all), putting);
  return some;
}

bool goes_into(const fabric::Put& put, const MpiMemory* memory) {
  return goes_by(put, rma) && put.to_memory == memory;
}

RmaWindow make_window(MPI_Comm comm, const fabric::Share& share, MpiMemory* memory, int rank) {
  RmaWindow window;
  std::set<int> origins, targets;
  for (const fabric::Put& put : share.incoming)
    if (goes_into(put, memory)) origins.insert(put.from);
  for (const fabric::Put& put : share.outgoing) {
    if (!goes_into(put, memory)) continue;
    targets.insert(put.to);
    window.puts.push_back(
        {put.to, scattered({{put.from_memory->data() + put.from_offset, put.shape}}, Side::from),
         scattered({{nullptr, put.shape}}, Side::to), static_cast<MPI_Aint>(put.to_offset)});
  }
  window.origins = group_of(comm, origins);
  window.targets = group_of(comm, targets);
  window.origin_ranks.assign(origins.begin(), origins.end());
  const int code = MPI_Win_create(memory->data(), static_cast<MPI_Aint>(memory->bytes(rank)), 1,
                                  MPI_INFO_NULL, comm, &window.handle);
  if (code != MPI_SUCCESS) {
    base::fail(Errc::refused,
               "chain '{}': this MPI makes no windows for the route mpi/rma between these ranks; take "
               "mpi/datatype or mpi/packed, or, with Open MPI 4 over TCP, set OMPI_MCA_osc=pt2pt",
               share.name);
  }
  MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN);
  return window;
}

}  // namespace

RmaPart::RmaPart(MPI_Comm comm, const fabric::Share& share, const std::vector<MpiMemory*>& memories,
                 Runner& runner)
    : chain_(share.name), time_limit_(share.time_limit), runner_(runner) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Alarm::Call call(
      runner_.alarm(), time_limit_,
      fmt::format("rank {}: commit of chain '{}' (mpi/rma): MPI_Win_create", rank, chain_));
  for (MpiMemory* memory : memories) {
    windows_.push_back(make_window(comm, share, memory, rank));
    is_origin_ |= !windows_.back().puts.empty();
  }
  ++runner_.rma_parts;
}

RmaPart::~RmaPart() {
  --runner_.rma_parts;
  if (!is_up()) return;
  for (RmaWindow& window : windows_) {
    if (window.origins != MPI_GROUP_NULL) MPI_Group_free(&window.origins);
    if (window.targets != MPI_GROUP_NULL) MPI_Group_free(&window.targets);
  }
}

// A window is freed by all together, as chains are; where a rank is lost, or was in the middle of a step, it stays.
bool RmaPart::end(bool in_order) {
  const Alarm::Call call(runner_.alarm(), time_limit_,
                         fmt::format("chain '{}' (mpi/rma): MPI_Win_free", chain_));
  bool all = true;
  for (RmaWindow& window : windows_) {
    if (in_order && !runner_.closing && window.handle != MPI_WIN_NULL) MPI_Win_free(&window.handle);
    all &= window.handle == MPI_WIN_NULL;
  }
  return all;
}

void RmaPart::post() {
  for (RmaWindow& window : windows_) {
    if (window.origins == MPI_GROUP_NULL) continue;
    check(MPI_Win_post(window.origins, 0, window.handle), putting);
    window.posted = true;
  }
}

void RmaPart::put() {
  const Alarm::Call call(runner_.alarm(), time_limit_,
                         fmt::format("a step of chain '{}' (mpi/rma): MPI_Win_complete", chain_));
  for (RmaWindow& window : windows_) {
    if (window.puts.empty()) continue;
    check(MPI_Win_start(window.targets, 0, window.handle), putting);
    for (const RmaWindow::Put& put : window.puts) {
      check(MPI_Put(put.from.address, put.from.count, put.from.type.get(), put.rank, put.to_offset,
                    put.to.count, put.to.type.get(), window.handle),
            putting);
    }
    check(MPI_Win_complete(window.handle), putting);
  }
}

bool RmaPart::arrived() {
  bool all = true;
  for (RmaWindow& window : windows_) {
    int complete = 1;
    if (window.posted) check(MPI_Win_test(window.handle, &complete), putting);
    window.posted &= !complete;
    all &= complete != 0;
  }
  return all;
}

std::vector<int> RmaPart::missing() const {
  std::vector<int> ranks;
  for (const RmaWindow& window : windows_)
    if (window.posted) ranks.insert(ranks.end(), window.origin_ranks.begin(), window.origin_ranks.end());
  return ranks;
}

}  // namespace tca::mpi
