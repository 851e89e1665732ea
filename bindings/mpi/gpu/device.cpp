#include "mpi/gpu/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <new>

namespace tca::interposer::gpu {

namespace {

constexpr std::size_t room = std::size_t{1} << 20;
constexpr unsigned looks_between_questions = 1 << 20;

struct Devices {
  std::mutex mutex;
  std::map<CUcontext, std::unique_ptr<Device>> by_context;
};
// For as long as the process lives: CUDA may be gone before anything static.
Devices& devices() {
  static auto* const all = new Devices;
  return *all;
}

Places row(std::byte* base) {
  Places places;
  places.base = base;
  return places;
}

}  // namespace

Device* Device::of(CUcontext context) {
  const std::lock_guard lock(devices().mutex);
  std::unique_ptr<Device>& device = devices().by_context[context];
  if (!device) device.reset(new Device(context));
  return device->is_broken_ ? nullptr : device.get();
}

Device* Device::any() {
  const std::lock_guard lock(devices().mutex);
  for (const auto& [context, device] : devices().by_context)
    if (!device->is_broken_) return device.get();
  return nullptr;
}

Device::Device(CUcontext context) : context_(context) {
  const In in(context_);
  void *pinned = nullptr, *blocks = nullptr;
  if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess ||
      cudaStreamCreateWithFlags(&attended_, cudaStreamNonBlocking) != cudaSuccess ||
      cudaHostAlloc(&pinned, sizeof(Words) + room, cudaHostAllocDefault) != cudaSuccess ||
      cudaMalloc(&blocks, sizeof *blocks_) != cudaSuccess ||
      cudaMemsetAsync(blocks, 0, sizeof *blocks_, stream_) != cudaSuccess ||
      cudaStreamSynchronize(stream_) != cudaSuccess)
    return;
  words_ = new (pinned) Words{};
  room_ = static_cast<std::byte*>(pinned) + sizeof(Words);
  blocks_ = static_cast<std::uint32_t*>(blocks);
  is_broken_ = false;
}

bool Device::run(const Places& from, std::uint64_t from_at, const Places& to, std::uint64_t to_at,
                 std::uint64_t bytes) {
  if (bytes <= few_bytes && from.pieces == 0 && to.pieces == 0)
    return run_few(from.base + from_at, to.base + to_at, static_cast<std::uint32_t>(bytes));
  const Signal signal{&words_->done, blocks_, ++ticket_};
  if (launch_copy(from, from_at, to, to_at, bytes, signal, stream_) != cudaSuccess) return false;
  // What the kernel has stored before the word is there once the word is: loads are not reordered with it.
  for (unsigned looks = 1; *signal.done != signal.ticket; ++looks)
    if (looks % looks_between_questions == 0 && cudaStreamQuery(stream_) != cudaErrorNotReady &&
        *signal.done != signal.ticket)
      return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

bool Device::run_few(const std::byte* from, std::byte* to, std::uint32_t bytes) {
  Question& question = words_->question;
  Answer& answer = words_->answer;
  question.bytes = bytes;
  question.to = to;
  question.from = from;
  // Pairs with the fence of the kernel that sees what is asked.
  std::atomic_thread_fence(std::memory_order_release);
  question.asked = ++asked_;
  for (unsigned looks = 1; answer.done != asked_; ++looks) {
    const bool is_gone = answer.gone == attendants_;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (answer.done == asked_) break;
    if (!is_attended_ || is_gone) {
      if (launch_attendant(&question, &answer, asked_ - 1, ++attendants_, attended_) != cudaSuccess)
        return false;
      is_attended_ = true;
    }
    if (looks % looks_between_questions == 0 && cudaStreamQuery(attended_) != cudaErrorNotReady &&
        answer.gone != attendants_ && answer.done != asked_)
      return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

bool Device::copy(const Places& from, const Places& to, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const In in(context_);
  return run(from, 0, to, 0, bytes);
}

bool Device::copy_out(const Places& from, std::uint64_t at, std::uint64_t bytes, std::byte* into) {
  const std::lock_guard lock(mutex_);
  const In in(context_);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t now = std::min<std::uint64_t>(room, bytes - done);
    if (!run(from, at + done, row(room_), 0, now)) return false;
    std::memcpy(into + done, room_, now);
    done += now;
  }
  return true;
}

bool Device::copy_in(const Places& to, std::uint64_t at, std::uint64_t bytes, const std::byte* from) {
  const std::lock_guard lock(mutex_);
  const In in(context_);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t now = std::min<std::uint64_t>(room, bytes - done);
    std::memcpy(room_, from + done, now);
    if (!run(row(room_), 0, to, at + done, now)) return false;
    done += now;
  }
  return true;
}

}  // namespace tca::interposer::gpu
