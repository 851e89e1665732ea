// Combines what chains have delivered to a rank's GPU, for collectives built from chains and for tca::Fold.
#pragma once

#include <optional>

#include "fabric/cuda/collective/collective_kernels.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"

namespace tca::cuda {

// The resources that a rank's folds share.
struct FoldRunner {
  Inbox& inbox;
  HostCopier& copier;
  cudaStream_t stream;  // the host's own folds run here
  unsigned block_limit;
};

class CudaFold final : public fabric::Fold {
 public:
  CudaFold(FoldRunner& runner, const fabric::FoldTask& task);

  void run() override;
  void run_on(Stream stream) override;

 private:
  FoldRunner& runner_;
  std::optional<fabric::Reduction> reduction_;
  Room room_;
  FoldView view_;
  Grid grid_;
};

class CudaCellFold final : public fabric::Fold {
 public:
  CudaCellFold(FoldRunner& runner, fabric::Reduction reduction, const DeviceFold& cells);

  void run() override;
  void run_on(Stream stream) override;

 private:
  FoldRunner& runner_;
  fabric::Reduction reduction_;
  DeviceFold cells_;
  Grid grid_;
};

}  // namespace tca::cuda
