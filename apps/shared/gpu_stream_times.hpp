// What pieces of a stream's work take, by events around them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace tca::apps {

class StreamTimes {
 public:
  explicit StreamTimes(std::size_t kinds) : spans_(kinds) {}

  // Has `work` put a piece of this kind on the stream.
  void time(std::size_t kind, cudaStream_t stream, const std::function<void()>& work);

  // Returns the microseconds of all pieces of a kind, in their order. Waits for them.
  std::vector<double> us(std::size_t kind) const;

 private:
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;
  struct Span {
    Event begin, end;
  };

  static Event record(cudaStream_t stream);

  std::vector<std::vector<Span>> spans_;  // by kind
};

}  // namespace tca::apps
