// Copies between boxes of a GPU's memory: a thread an element, up to eight boxes in a launch.
#include <algorithm>
#include <cstdint>

#include "runtime/cuda/boxes.hpp"
#include "runtime/cuda/call.hpp"

namespace tca::xacc {
namespace {

constexpr int at_once = 8;

struct Job {
  char* to;
  const char* from;
  std::int64_t elements;
  int dims;
  std::int64_t count[XACC_DIMS], to_pitch[XACC_DIMS], from_pitch[XACC_DIMS];
};

struct Jobs {
  Job job[at_once];
};

template <class Element>
__device__ void move(const Job& job, std::int64_t to, std::int64_t from) {
  reinterpret_cast<Element*>(job.to)[to] = reinterpret_cast<const Element*>(job.from)[from];
}

__device__ void move(const Job& job, std::int64_t to, std::int64_t from, unsigned bytes) {
  if (bytes == 8) return move<std::uint64_t>(job, to, from);
  if (bytes == 4) return move<std::uint32_t>(job, to, from);
  for (unsigned b = 0; b < bytes; ++b) job.to[to * bytes + b] = job.from[from * bytes + b];
}

__global__ void copy(const __grid_constant__ Jobs jobs, unsigned bytes) {
  const Job& job = jobs.job[blockIdx.y];
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.elements; i += threads) {
    std::int64_t rest = i, to = 0, from = 0;
    for (int d = job.dims; d-- > 0;) {
      const std::int64_t step = d == 0 ? rest : rest % job.count[d];
      rest = d == 0 ? 0 : rest / job.count[d];
      to += step * job.to_pitch[d];
      from += step * job.from_pitch[d];
    }
    move(job, to, from, bytes);
  }
}

Job job_of(const BoxCopy& box, std::size_t element_bytes) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  Job job{static_cast<char*>(box.to) + box.what->to.first * bytes,
          static_cast<const char*>(box.from) + box.what->from.first * bytes,
          volume(box.what->box),
          static_cast<int>(box.what->box.size()),
          {},
          {},
          {}};
  for (std::size_t d = 0; d < box.what->box.size(); ++d) {
    job.count[d] = box.what->box[d].count;
    job.to_pitch[d] = box.what->to.pitch[d];
    job.from_pitch[d] = box.what->from.pitch[d];
  }
  return job;
}

}  // namespace

void copy_boxes(const std::vector<BoxCopy>& boxes, std::size_t element_bytes, cudaStream_t stream) {
  constexpr std::int64_t threads = 256, most_blocks = 1024;
  for (std::size_t first = 0; first < boxes.size(); first += at_once) {
    Jobs jobs{};
    std::int64_t most = 1;
    const std::size_t count = std::min<std::size_t>(at_once, boxes.size() - first);
    for (std::size_t b = 0; b < count; ++b) {
      jobs.job[b] = job_of(boxes[first + b], element_bytes);
      most = std::max(most, jobs.job[b].elements);
    }
    const auto blocks = static_cast<unsigned>(std::min(most_blocks, (most + threads - 1) / threads));
    copy<<<dim3(blocks, static_cast<unsigned>(count)), threads, 0, stream>>>(
        jobs, static_cast<unsigned>(element_bytes));
    check(cudaGetLastError(), "copying on the GPU");
  }
}

}  // namespace tca::xacc
