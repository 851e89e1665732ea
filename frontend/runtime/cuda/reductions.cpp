#include "runtime/cuda/reductions.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/cuda/call.hpp"
#include "runtime/runtime.hpp"
#include "tca/device/team.hpp"

namespace tca::xacc {

Reductions::~Reductions() {
  if (told_) cudaFreeHost(told_);
}

bool Reductions::has_over(const xacc_launch& how) {
  return std::any_of(how.results, how.results + how.reductions, [](const xacc_result& r) { return r.over; });
}

// Of other queues the results are copied when these come to them.
bool Reductions::wants_told(const xacc_launch& how) {
  return how.queue == XACC_SYNC && std::any_of(how.results, how.results + how.reductions,
                                               [](const xacc_result& r) { return !r.resident; });
}

bool Reductions::meets_others(const xacc_launch& how, unsigned threads) {
  Runtime& runtime = Runtime::get();
  constexpr unsigned warp = 32;
  if (!has_over(how) || how.queue != XACC_SYNC || threads < warp || runtime.has_coarrays()) return false;
  const auto all = static_cast<std::size_t>(runtime.world().size());
  for (int r = 0; r < how.reductions; ++r) {
    const xacc_result& result = how.results[r];
    if (result.over && ((result.bytes != 4 && result.bytes != 8) || ranks_of(*result.over).size() != all))
      return false;
  }
  if (all == 1) return true;
  if (!has_looked_) {
    has_looked_ = true;
    try {
      team_.emplace(runtime.world().team("reductions of regions", 1));
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;  // kernels do not reach all ranks
    }
  }
  return team_.has_value();
}

xacc_meeting_of_ranks Reductions::prepare(const xacc_launch& how, void* scratch, bool meets_others) {
  xacc_meeting_of_ranks meeting;
  meeting.scratch = scratch;
  meeting.launch = ++launch_;
  meeting.goes_on = meets_others || !has_over(how);
  if (meets_others && team_) meeting.team = team_->device();
  if (!wants_told(how)) return meeting;
  if (how.reductions > room_) {
    if (told_) check(cudaFreeHost(std::exchange(told_, nullptr)), "freeing pinned memory");
    room_ = std::max(16, how.reductions);
    void* memory = nullptr;
    const std::size_t bytes = sizeof(device::Packet) * static_cast<std::size_t>(room_);
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "allocating pinned memory");
    told_ = static_cast<device::Packet*>(std::memset(memory, 0, bytes));
  }
  meeting.told = told_;
  return meeting;
}

void Reductions::collect(const xacc_launch& how, cudaStream_t stream) {
  if (!wants_told(how)) return;
  for (int r = 0; r < how.reductions; ++r) {
    if (how.results[r].resident) continue;
    const std::uint64_t raw = await(r, stream).data();
    std::memcpy(how.results[r].variable, &raw, how.results[r].bytes);
  }
}

device::Packet Reductions::await(int result, cudaStream_t stream) const {
  constexpr unsigned polls = 4096;  // between looks at the stream, which take as long as hundreds of them
  for (unsigned n = 1;; ++n) {
    device::Packet packet = told_[result].read_once();
    if (packet.carries(launch_)) return packet;
    if (n % polls != 0) continue;
    const cudaError_t state = cudaStreamQuery(stream);
    if (state == cudaErrorNotReady) continue;
    check(state, "waiting for the GPU");
    packet = told_[result].read_once();
    if (packet.carries(launch_)) return packet;
    throw Error(Errc::device_failed, "the region ended on the GPU, and left no result");
  }
}

}  // namespace tca::xacc
