// The exchanges of a distributed transform on GPUs, ordered on the stream on which the work is.
#pragma once

#include <memory>
#include <vector>

#include "fft/transposition.hpp"
#include "shared/gpu_call.hpp"
#include "tca/stream.hpp"

namespace tca::fft {

// Where there are several batches, exchanges run on a stream of their own beside the work on other batches. Not where ranks
// share a GPU: there what waits for another rank must not run beside what that rank has to do.
class StreamTransposition : public Transposition {
 public:
  StreamTransposition(World& world, const Hop& hop, Stream stream);

  void start(int batch) override;
  void wait(int batch) override;

 protected:
  // Puts a whole exchange on a stream: what is behind it there finds all in place.
  virtual void exchange(int batch, Stream stream) = 0;

 private:
  struct Beside {
    apps::OwnEvent ready, done;
  };
  Stream stream_;
  std::vector<std::unique_ptr<Beside>> beside_;  // by batch; empty where exchanges are on the same stream
  apps::OwnStream side_;
};

// Collective.
template <class Real>
std::unique_ptr<Transposition> direct_gpu_transposition(World& world, const Decomposition& decomposition,
                                                        const Arrays<Real>& arrays, const Hop& hop,
                                                        const apps::Channels& channels, Stream stream);

// Collective. By NCCL, with kernels that pack and unpack, for comparison; null in a build without NCCL. Throws
// Error{invalid_argument} where ranks share a GPU.
template <class Real>
std::unique_ptr<Transposition> nccl_transposition(World& world, const Decomposition& decomposition,
                                                  const Arrays<Real>& arrays, const Hop& hop, Stream stream);

}  // namespace tca::fft
