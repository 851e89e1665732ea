#include "shared/gpu_stream_times.hpp"

#include <utility>

#include "shared/gpu_call.hpp"

namespace tca::apps {

StreamTimes::Event StreamTimes::record(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  cuda_ok(cudaEventCreate(&event), "making an event");
  Event own(event);
  cuda_ok(cudaEventRecord(event, stream), "timing a message");
  return own;
}

void StreamTimes::time(std::size_t kind, cudaStream_t stream, const std::function<void()>& work) {
  Event begin = record(stream);
  work();
  spans_[kind].push_back({std::move(begin), record(stream)});
}

std::vector<double> StreamTimes::us(std::size_t kind) const {
  std::vector<double> all;
  for (const Span& span : spans_[kind]) {
    float ms = 0;
    cuda_ok(cudaEventSynchronize(span.end.get()), "timing a message");
    cuda_ok(cudaEventElapsedTime(&ms, span.begin.get(), span.end.get()), "timing a message");
    all.push_back(1e3 * static_cast<double>(ms));
  }
  return all;
}

}  // namespace tca::apps
