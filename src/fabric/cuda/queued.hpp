// Whether the kernels that the host has put on a program's streams are through.
//
// Their blocks count themselves as they end. A stream cannot be asked, since it may be gone before its work is; and an event
// behind every step would cost a microsecond and keep the next kernel from being set up meanwhile.
#pragma once

#include <span>

#include "fabric/cuda/host_copier.hpp"
#include "fabric/cuda/inbox.hpp"

namespace tca::cuda {

class Queued {
 public:
  // `ended`: device memory, cleared.
  Queued(HostCopier& copier, Word* ended) : copier_(copier), ended_(ended) {}

  // Has `launch` put a kernel of so many blocks on the stream, which count in the word that it gets: in none as long as the
  // stream is captured, since a graph may run any number of times.
  template <class Launch>
  void put(cudaStream_t stream, unsigned blocks, const Launch& launch) {
    if (is_captured(stream)) return launch(nullptr);
    launch(ended_);
    begun_ += blocks;
  }

  // Does not throw: on a GPU that has failed nothing runs any more.
  bool are_over() {
    Word ended = seen_;
    try {
      if (ended != begun_)
        copier_.read(reinterpret_cast<const std::byte*>(ended_),
                     std::as_writable_bytes(std::span(&ended, 1)));
    } catch (const Error&) {
      return true;
    }
    seen_ = ended;
    return ended == begun_;
  }

 private:
  HostCopier& copier_;
  Word* ended_;
  Word begun_ = 0, seen_ = 0;  // blocks
};

}  // namespace tca::cuda
