// What tests of CG's kernels have in place of a GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "cg/gpu/run.hpp"
#include "tca/device/chain.hpp"

namespace tca::cg {

// A thread in place of a block.
class HostBlock {
 public:
  static constexpr bool chains = false;

  explicit HostBlock(std::byte* shared) : operand_(reinterpret_cast<double*>(shared)) {}
  Word lane() const { return 0; }
  Word lanes() const { return 1; }
  void sync() const {}
  template <Word count>
  bool add_up(double (&)[count], bool good, Word) const {
    return good;
  }
  bool all(bool good) const { return good; }

  void multiply(const Run& run, const Tile& tile, Word, double* out) const {
    const TileArrays& matrix = run.matrix;
    const Word rows = matrix.tiling.slice_rows(), lanes = matrix.tiling.row_lanes;
    for (Word s = tile.first_slice; s < tile.first_slice + tile.slices; ++s)
      for (Word k = 0; k < rows; ++k) {
        const Word row = matrix.row_of[s * rows + k];
        if (row == no_row) continue;
        double sum = 0;
        for (Word step = 0; step < matrix.slices[s].width; ++step)
          for (Word lane = 0; lane < lanes; ++lane) {
            const std::uint64_t at =
                (tile.first_step + matrix.slices[s].first + step) * step_elements + k * lanes + lane;
            sum += matrix.value[at] * operand_[matrix.column[at]];
          }
        out[row] = sum;
      }
  }

 private:
  double* operand_;
};

// What waits of a rank need.
struct HostLimits {
  device::WaitLimits view() {
    return {.abort = &never,
            .gave_up = &gave_up,
            .waiting = waiting.data(),
            .limit_ns = limit_ns,
            .chain = 1,
            .gone = gone.data(),
            .ranks = nullptr,
            .over = &over};
  }

  std::uint64_t limit_ns = 60'000'000'000;
  std::vector<Word> waiting = std::vector<Word>(8), gone = std::vector<Word>(8);
  Word never = 0, gave_up = 0, over = 0;
};

}  // namespace tca::cg
