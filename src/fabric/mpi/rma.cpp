#include "fabric/mpi/rma.hpp"

#include <algorithm>
#include <set>

#include "base/fail.hpp"
#include "control/mpi/mpi_control.hpp"
#include "fabric/mpi/program.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view putting = "putting (rma)";

Group group_of(MPI_Comm comm, const std::set<int>& ranks) {
  const std::vector<int> list(ranks.begin(), ranks.end());
  Group all, some;
  check(MPI_Comm_group(comm, all.out()), putting);
  check(MPI_Group_incl(all.get(), static_cast<int>(list.size()), list.data(), some.out()), putting);
  return some;
}

std::uint32_t number_of(const fabric::Put& put) { return static_cast<MpiMemory*>(put.to_memory)->number(); }

// Frees all windows except the first `kept`, on all ranks together.
void free_last(Runner& runner, std::size_t kept) {
  std::vector<std::shared_ptr<RmaHandle>>& windows = runner.rma_windows;
  const InMpi inside;
  for (std::size_t i = kept; i < windows.size(); ++i) MPI_Win_free(&windows[i]->win);
  windows.resize(kept);
}

}  // namespace

RmaPart::RmaPart(MPI_Comm comm, const fabric::ChainSpec& share, Runner& runner)
    : chain_(share.name), time_limit_(share.time_limit), runner_(runner) {
  std::map<std::uint32_t, std::set<int>> origins, targets;
  for (const fabric::Put& put : share.incoming)
    if (goes_by(put, rma)) origins[number_of(put)].insert(put.from);
  for (const fabric::Put& put : share.outgoing) {
    if (!goes_by(put, rma)) continue;
    is_origin_ = true;
    targets[number_of(put)].insert(put.to);
    windows_[number_of(put)].puts.push_back(
        {put.to, scattered({{put.from_memory->data() + put.from_offset, put.shape}}, Side::from),
         scattered({{nullptr, put.shape}}, Side::to), static_cast<MPI_Aint>(put.to_offset)});
  }
  for (const auto& [number, ranks] : targets) windows_[number].targets = group_of(comm, ranks);
  for (const auto& [number, ranks] : origins) {
    windows_[number].origins = group_of(comm, ranks);
    windows_[number].origin_ranks.assign(ranks.begin(), ranks.end());
  }
}

// A window that only some of the ranks could make cannot be freed, so it stays. Those that all made before
// it are freed, since every rank is refused alike.
void RmaPart::make_windows(MpiControl& control, const std::vector<MpiMemory*>& memories) {
  const std::size_t made = runner_.rma_windows.size();
  try {
    for (MpiMemory* memory : memories) make_window(control, *memory);
  } catch (const Error& error) {
    if (error.code() == Errc::refused) free_last(runner_, made);
    throw;
  }
}

void RmaPart::make_window(MpiControl& control, MpiMemory& memory) {
  MPI_Win handle = MPI_WIN_NULL;
  control.do_together(fmt::format("commit of chain '{}'", chain_), [&] {
    const Watchdog::Call call(runner_.watchdog(), time_limit_,
                              fmt::format("commit of chain '{}' (mpi/rma): MPI_Win_create", chain_));
    const InMpi inside;
    const auto bytes = static_cast<MPI_Aint>(memory.bytes(control.rank()));
    if (MPI_Win_create(memory.data(), bytes, 1, MPI_INFO_NULL, control.comm(), &handle) != MPI_SUCCESS) {
      base::fail(Errc::refused,
                 "chain '{}': this MPI makes no windows for the channel mpi/rma between these ranks; take "
                 "mpi/datatype or mpi/packed, or, with Open MPI 4 over TCP, set OMPI_MCA_osc=pt2pt",
                 chain_);
    }
  });
  MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
  auto& kept = runner_.rma_windows.emplace_back(std::make_shared<RmaHandle>(RmaHandle{.win = handle}));
  windows_[memory.number()].handle = kept;
}

bool RmaPart::is_freed() const {
  return std::ranges::all_of(windows_, [](const auto& entry) {
    const std::shared_ptr<RmaHandle>& handle = entry.second.handle;
    return handle == nullptr || handle->win == MPI_WIN_NULL;
  });
}

void RmaPart::post() {
  for (auto& [number, window] : windows_) {
    if (!window.origins) continue;
    check(MPI_Win_post(window.origins.get(), 0, window.handle->win), putting);
    window.handle->posted = true;
  }
}

void RmaPart::put() {
  const Watchdog::Call call(runner_.watchdog(), time_limit_,
                            fmt::format("a step of chain '{}' (mpi/rma): MPI_Win_complete", chain_));
  for (auto& [number, window] : windows_) {
    if (window.puts.empty()) continue;
    check(MPI_Win_start(window.targets.get(), 0, window.handle->win), putting);
    for (const RmaWindow::Put& put : window.puts) {
      check(MPI_Put(put.from.address, put.from.count, put.from.type.get(), put.rank, put.to_offset,
                    put.to.count, put.to.type.get(), window.handle->win),
            putting);
    }
    check(MPI_Win_complete(window.handle->win), putting);
  }
}

bool RmaPart::arrived() {
  bool all = true;
  for (auto& [number, window] : windows_) {
    if (window.handle == nullptr || !window.handle->posted) continue;
    int complete = 0;
    check(MPI_Win_test(window.handle->win, &complete), putting);
    window.handle->posted = complete == 0;
    all &= complete != 0;
  }
  return all;
}

std::vector<int> RmaPart::missing() const {
  std::vector<int> ranks;
  for (const auto& [number, window] : windows_)
    if (window.handle != nullptr && window.handle->posted)
      ranks.insert(ranks.end(), window.origin_ranks.begin(), window.origin_ranks.end());
  return ranks;
}

void free_windows(MpiControl& control, Runner& runner) {
  std::vector<std::shared_ptr<RmaHandle>>& windows = runner.rma_windows;
  if (windows.empty()) return;
  const bool in_order = std::ranges::none_of(windows, [](const auto& window) { return window->posted; });
  if (control.ends_together(in_order)) {
    const Watchdog::Call call(
        runner.watchdog(), control.time_limit,
        fmt::format("rank {}: the end of the world (mpi/rma): MPI_Win_free", control.rank()));
    free_last(runner, 0);
  }
  windows.clear();
}

}  // namespace tca::mpi
