#include "trigger/gpu/answerers.hpp"

#include <algorithm>

#include "shared/gpu_call.hpp"
#include "tca/error.hpp"
#include "trigger/gpu/kernels.hpp"

namespace tca::trigger {
namespace {

// With an event each, as many are looked at at the same time as two datagrams of 64 have.
constexpr int most_blocks = 128;

// What both have: the GPU's side of the ring.
class OnGpu : public Answerer {
 protected:
  OnGpu(World& world, SlotRing& ring)
      : ring_(ring),
        view_(ring.device()),
        blocks_(room_for_blocks(std::max(1, most_blocks / world.ranks_on_device()))),
        board_(1) {}

  // As the GPU has told so far.
  std::uint64_t told() {
    const device::Word answered = device::load_acquire(&ring_.host().signals->answered);
    answered_ += answered - static_cast<device::Word>(answered_);
    return answered_;
  }
  // A kernel that fails tells nothing; CUDA is asked now and then.
  bool is_running(const char* what) {
    const cudaError_t result = cudaStreamQuery(stream_.get());
    if (result != cudaErrorNotReady) apps::cuda_ok(result, what);
    return result == cudaErrorNotReady;
  }

  SlotRing& ring_;
  RingView view_;
  int blocks_;
  apps::DeviceArray<Board> board_;
  apps::OwnStream stream_;
  std::uint64_t answered_ = 0;
  std::uint32_t calls_ = 0;
  static constexpr std::uint32_t calls_between_questions = 1 << 16;
};

class Resident : public OnGpu {
 public:
  Resident(World& world, SlotRing& ring, const Gather& gather, float resolution) : OnGpu(world, ring) {
    launch_watch(view_, gather, resolution, blocks_, board_.data(), stream_.get());
    // Setting it up takes milliseconds, which the first events would wait.
    while (device::load_acquire(&ring.host().signals->watched) == 0)
      is_running("starting the kernel that watches the ring");
  }
  ~Resident() override { ring_.stop(); }  // and the stream waits for the kernel

  std::uint64_t advance(SlotRing&, bool) override {
    if (++calls_ % calls_between_questions == 0 && !is_running("answering events"))
      throw Error(Errc::device_failed, "the kernel that watches the ring has ended by itself");
    return told();
  }
};

class Launching : public OnGpu {
 public:
  Launching(World& world, SlotRing& ring, const Gather& gather, float resolution)
      : OnGpu(world, ring), gathering_(gather), resolution_(resolution) {}

  std::uint64_t advance(SlotRing& ring, bool is_last) override {
    const std::uint64_t answered = told();
    if (answered < end_) {
      if (++calls_ % calls_between_questions == 0) is_running("answering a batch of events");
      return answered;
    }
    if (gathering_.is_due(ring, end_, events_, is_last)) {
      launch_answers(view_, end_, ring.filled(), resolution_, blocks_, board_.data(), stream_.get());
      end_ = ring.filled();
      events_ = ring.events();
    }
    return answered;
  }

 private:
  Gathering gathering_;
  float resolution_;
  std::uint64_t end_ = 0, events_ = 0;  // of all that were launched
};

}  // namespace

std::unique_ptr<Answerer> resident_answerer(World& world, SlotRing& ring, const Gather& gather,
                                            float resolution) {
  return std::make_unique<Resident>(world, ring, gather, resolution);
}

std::unique_ptr<Answerer> launching_answerer(World& world, SlotRing& ring, const Gather& gather,
                                             float resolution) {
  return std::make_unique<Launching>(world, ring, gather, resolution);
}

}  // namespace tca::trigger
