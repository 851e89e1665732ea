#include "fabric/cuda/collective/fold.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "fabric/cuda/compile/tables.hpp"

namespace tca::cuda {

namespace {

constexpr std::string_view failing = "combining what a chain has brought";
constexpr unsigned threads = 256;
constexpr std::size_t vector_bytes = 16;

bool is_aligned(const fabric::FoldTask& task) {
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(task.into) | task.bytes;
  for (const std::byte* operand : task.operands) bits |= reinterpret_cast<std::uintptr_t>(operand);
  return bits % vector_bytes == 0;
}

// Returns a grid with a thread for each of `pieces` pieces of work, within the limit.
Grid grid_for(std::uint64_t pieces, const FoldRunner& runner) {
  const std::uint64_t blocks = (pieces + threads - 1) / threads;
  return {static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, runner.block_limit)), threads};
}

void finish(FoldRunner& runner) { check(cudaStreamSynchronize(runner.stream), failing); }

}  // namespace

CudaFold::CudaFold(FoldRunner& runner, const fabric::FoldTask& task)
    : runner_(runner),
      reduction_(task.reduction),
      room_(runner.inbox),
      grid_(grid_for((task.bytes + vector_bytes - 1) / vector_bytes, runner)) {
  view_.into = task.into;
  view_.bytes = task.bytes;
  view_.aligned = is_aligned(task);
  const std::vector<const std::byte*> operands(task.operands.begin(), task.operands.end());
  fill_table(view_.operands, operands, runner.inbox, room_, runner.copier);
}

void CudaFold::run() {
  run_on(runner_.stream);
  finish(runner_);
}

void CudaFold::run_on(Stream stream) {
  if (reduction_) return launch_fold(view_, *reduction_, grid_, stream);
  check(cudaMemcpyAsync(view_.into, view_.operands[0], view_.bytes, cudaMemcpyDeviceToDevice, stream),
        failing);
}

CudaCellFold::CudaCellFold(FoldRunner& runner, fabric::Reduction reduction, const DeviceFold& cells)
    : runner_(runner),
      reduction_(reduction),
      cells_(cells),
      grid_(grid_for(cells.count * cells.numbers, runner)) {}

void CudaCellFold::run() {
  run_on(runner_.stream);
  finish(runner_);
}

void CudaCellFold::run_on(Stream stream) {
  if (cells_.count > 0) launch_cell_fold(cells_, reduction_, grid_, stream);
}

}  // namespace tca::cuda
