// The GPU that this rank drives: queues are streams, and regions are kernels.
#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <string>

#include "runtime/cuda/boxes.hpp"
#include "runtime/cuda/call.hpp"
#include "runtime/cuda/reductions.hpp"
#include "runtime/cuda/shape.hpp"
#include "runtime/runtime.hpp"
#include "tca/launch.cuh"

namespace tca::xacc {
namespace {

struct Queue {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* scratch = nullptr;  // of reductions
  std::size_t scratch_bytes = 0;
  std::uint64_t behind = 0;  // how much of XACC_SYNC it waits for
};

class CudaDevice : public Device {
 public:
  ~CudaDevice() override {
    for (auto& [number, queue] : queues_) {
      cudaStreamSynchronize(queue.stream);
      cudaFree(queue.scratch);
      cudaEventDestroy(queue.event);
      cudaStreamDestroy(queue.stream);
    }
  }

  bool is_separate() const override { return true; }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)),
          "allocating " + std::to_string(bytes) + " bytes of the GPU's memory");
    return memory;
  }

  void release(void* memory) override { check(cudaFree(memory), "freeing the GPU's memory"); }

  void copy_to(void* device, const void* host, std::size_t bytes, std::int64_t queue) override {
    copy(device, host, bytes, queue, cudaMemcpyHostToDevice);
  }
  void copy_from(void* host, const void* device, std::size_t bytes, std::int64_t queue) override {
    copy(host, device, bytes, queue, cudaMemcpyDeviceToHost);
  }
  void copy_within(void* to, const void* from, std::size_t bytes, std::int64_t queue) override {
    copy(to, from, bytes, queue, cudaMemcpyDeviceToDevice);
  }

  void copy_boxes(const std::vector<BoxCopy>& boxes, std::size_t element_bytes, std::int64_t queue) override {
    if (!boxes.empty()) xacc::copy_boxes(boxes, element_bytes, next_in(queue).stream);
  }

  void wait(std::int64_t queue) override {
    if (queue == XACC_SYNC && over_ == put_) return;
    check(cudaStreamSynchronize(of(queue).stream), "waiting for the GPU");
    if (queue == XACC_SYNC) all_is_over();
    check_world();
  }
  void wait_all() override {
    for (auto& [number, queue] : queues_) check(cudaStreamSynchronize(queue.stream), "waiting for the GPU");
    all_is_over();
    check_world();
  }
  void wait_for_copies() override {
    if (copies_) wait(XACC_SYNC);
  }
  bool test(std::int64_t queue) override {
    const cudaError_t state = cudaStreamQuery(of(queue).stream);
    if (state != cudaErrorNotReady) check(state, "looking at the GPU");
    return state == cudaSuccess;
  }
  void order(std::int64_t queue, std::int64_t other) override {
    const Queue& first = of(other);
    check(cudaEventRecord(first.event, first.stream), "ordering queues");
    check(cudaStreamWaitEvent(of(queue).stream, first.event), "ordering queues");
  }
  void join() override {
    for (auto& [number, queue] : queues_)
      if (number != XACC_SYNC && !test(number)) order(XACC_SYNC, number);
  }
  Stream stream(std::int64_t queue) override { return next_in(queue).stream; }

  Launched launch(const xacc_launch& how, void** values) override {
    const bool has_work = std::find(how.trips, how.trips + 3, 0) == how.trips + 3;
    if (!has_work && !Reductions::has_over(how)) return {true, false};
    const Shape shape = shapes_.of(how);
    const bool meets_others = reductions_.meets_others(how, shape.threads());
    if (!has_work && !meets_others) return {false, false};
    Queue& queue = next_in(how.queue);
    xacc_meeting_of_ranks meeting;
    if (how.reductions > 0)
      meeting = reductions_.prepare(how, scratch_of(queue, how.reductions, shape.blocks()), meets_others);
    values[0] = static_cast<xacc_meeting*>(&meeting);
    start(how.kernel, shape, values, queue.stream);
    if (how.reductions == 0) return {true, false};
    if (how.queue != XACC_SYNC) {
      copy_results(how, queue);
    } else {
      reductions_.collect(how, queue.stream);
      check_world();
    }
    return {meets_others, meeting.goes_on};
  }

 private:
  // The kernel is set up while what is in front of it in the stream ends, where that cannot be a wait for another rank
  // that needs the place on the GPU.
  static void start(const void* kernel, const Shape& shape, void** values, cudaStream_t stream) {
    static const bool alone = Runtime::get().world().ranks_on_device() == 1;
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = alone && device::is_programmatic(kernel) ? 1 : 0;
    check(cudaLaunchKernelExC(&config, kernel, values), "starting the region");
  }

  // Exchanges in queues report to the world.
  static void check_world() {
    if (Runtime::started()) Runtime::get().world().check();
  }

  Queue& of(std::int64_t number) {
    Queue& queue = queues_[number];
    if (!queue.stream) {
      check(cudaStreamCreateWithFlags(&queue.stream, cudaStreamNonBlocking), "making a stream");
      check(cudaEventCreateWithFlags(&queue.event, cudaEventDisableTiming), "making an event");
    }
    return queue;
  }

  // The queue for something to be put into it, behind all that the program takes as done.
  Queue& next_in(std::int64_t number) {
    Queue& queue = of(number);
    if (number == XACC_SYNC) {
      ++put_;
    } else if (queue.behind != put_) {
      if (over_ != put_) order(number, XACC_SYNC);
      queue.behind = put_;
    }
    return queue;
  }

  // That was put into XACC_SYNC.
  void all_is_over() {
    over_ = put_;
    copies_ = false;
  }

  void copy(void* to, const void* from, std::size_t bytes, std::int64_t queue, cudaMemcpyKind kind) {
    copies_ = copies_ || (queue == XACC_SYNC && kind != cudaMemcpyDeviceToDevice);
    check(cudaMemcpyAsync(to, from, bytes, kind, next_in(queue).stream),
          "copying " + std::to_string(bytes) + " bytes");
  }

  // Into the host's variables, when the queue comes there.
  void copy_results(const xacc_launch& how, const Queue& queue) {
    for (int r = 0; r < how.reductions; ++r) {
      const xacc_result& result = how.results[r];
      const char* const total = static_cast<const char*>(queue.scratch) +
                                std::size_t{xacc_slot_bytes} * static_cast<std::size_t>(1 + r);
      if (!result.resident) copy_from(result.variable, total, result.bytes, how.queue);
    }
  }

  void* scratch_of(Queue& queue, int reductions, std::size_t blocks) {
    const auto count = static_cast<std::size_t>(reductions);
    const std::size_t bytes = xacc_slot_bytes * (1 + count + count * blocks);
    if (bytes > queue.scratch_bytes) {
      if (queue.scratch) release(queue.scratch);
      queue.scratch = allocate(bytes);
      queue.scratch_bytes = bytes;
      check(cudaMemsetAsync(queue.scratch, 0, bytes, queue.stream), "clearing memory for reductions");
    }
    return queue.scratch;
  }

  std::map<std::int64_t, Queue> queues_;
  Shapes shapes_;
  Reductions reductions_;
  // How much was put into XACC_SYNC, how much of it is known to be over, and whether copies are in the rest.
  std::uint64_t put_ = 0, over_ = 0;
  bool copies_ = false;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device() { return std::make_unique<CudaDevice>(); }

}  // namespace tca::xacc
