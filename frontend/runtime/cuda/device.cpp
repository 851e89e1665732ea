// The GPU that this rank drives: queues are streams, and regions are kernels.
#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <string>

#include "runtime/runtime.hpp"

namespace tca::xacc {
namespace {

void check(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  const std::string message = what + ": " + cudaGetErrorString(error);
  throw Error(error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failed, message);
}

struct Queue {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* scratch = nullptr;  // of reductions
  std::size_t scratch_bytes = 0;
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

  void wait(std::int64_t queue) override {
    check(cudaStreamSynchronize(of(queue).stream), "waiting for the GPU");
    check_world();
  }
  void wait_all() override {
    for (auto& [number, queue] : queues_) check(cudaStreamSynchronize(queue.stream), "waiting for the GPU");
    check_world();
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
  Stream stream(std::int64_t queue) override { return of(queue).stream; }

  void launch(const xacc_launch& how, void** values) override {
    if (std::find(how.trips, how.trips + 3, 0) != how.trips + 3) return;
    Queue& queue = of(how.queue);
    const auto [grid, block] = shape_of(how);
    void* scratch =
        how.reductions ? scratch_of(queue, how.reductions, std::size_t{grid.x} * grid.y * grid.z) : nullptr;
    values[0] = &scratch;
    check(cudaLaunchKernel(how.kernel, grid, block, values, 0, queue.stream), "starting the region");
    for (int r = 0; r < how.reductions; ++r)
      if (how.results[r].host)
        copy_from(
            how.results[r].host,
            static_cast<char*>(scratch) + std::size_t{xacc_slot_bytes} * static_cast<std::size_t>(1 + r),
            how.results[r].bytes, how.queue);
  }

 private:
  // Exchanges in queues report to the world.
  static void check_world() {
    if (Runtime::started()) Runtime::get().world().check();
  }

  struct Shape {
    dim3 grid, block;
  };

  Queue& of(std::int64_t number) {
    Queue& queue = queues_[number];
    if (!queue.stream) {
      check(cudaStreamCreateWithFlags(&queue.stream, cudaStreamNonBlocking), "making a stream");
      check(cudaEventCreateWithFlags(&queue.event, cudaEventDisableTiming), "making an event");
    }
    return queue;
  }

  void copy(void* to, const void* from, std::size_t bytes, std::int64_t queue, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, of(queue).stream),
          "copying " + std::to_string(bytes) + " bytes");
  }

  // A thread an iteration, as far as grids go; loops go round more often otherwise, so that any shape is right.
  // Reductions have few blocks, as one of them combines what all have left.
  Shape shape_of(const xacc_launch& how) {
    constexpr std::int64_t warp = 32, few_blocks = 1024;
    const std::int64_t threads =
        std::min<std::int64_t>(how.vector > 0 ? how.vector : 128, most_threads(how.kernel));
    std::int64_t trips[3], blocks[3], size[3] = {1, 1, 1};
    for (int d = 0; d < 3; ++d) trips[d] = how.trips[d] < 0 ? 1024 : how.trips[d];
    size[0] = std::min(threads, (trips[0] + warp - 1) / warp * warp);
    size[1] = std::min(threads / size[0], trips[1]);
    constexpr std::int64_t limits[3] = {0x7fffffff, 0xffff, 0xffff};
    for (int d = 0; d < 3; ++d) blocks[d] = std::min((trips[d] + size[d] - 1) / size[d], limits[d]);
    if (how.gangs > 0) blocks[0] = std::min(blocks[0], how.gangs);
    while (how.reductions > 0 && blocks[0] * blocks[1] * blocks[2] > few_blocks) {
      std::int64_t& greatest = *std::max_element(blocks, blocks + 3);
      greatest = (greatest + 1) / 2;
    }
    const auto number = [](std::int64_t n) { return static_cast<unsigned>(n); };
    return {dim3(number(blocks[0]), number(blocks[1]), number(blocks[2])),
            dim3(number(size[0]), number(size[1]), number(size[2]))};
  }

  // Of a block; registers set the limit.
  int most_threads(const void* kernel) {
    int& most = most_threads_[kernel];
    if (most > 0) return most;
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "looking at the region's kernel");
    return most = attributes.maxThreadsPerBlock;
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
  std::map<const void*, int> most_threads_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device() { return std::make_unique<CudaDevice>(); }

}  // namespace tca::xacc
