// A block of threads that multiplies a tile and adds up.
#pragma once

#include "cg/gpu/run.hpp"

namespace tca::cg {

// The operand, at the beginning of a block's shared memory.
__device__ __forceinline__ double* shared_operand() {
  extern __shared__ double operand[];
  return operand;
}

// Returns a lane's share of a slice, whose first element for it is at `value` and `column`. All elements of
// several steps are under way before the first of them is used, at the end of a slice as well.
template <Word in_flight, class Load>
__device__ __forceinline__ double share_of_slice(Word width, const double* value, const std::uint16_t* column,
                                                 const Load& load) {
  double sum[2] = {};  // so that an addition need not wait for the one before
  for (Word first = 0; first < width; first += in_flight) {
    double factor[in_flight];
    Word at[in_flight];
#pragma unroll
    for (Word k = 0; k < in_flight; ++k) {
      const bool is_there = first + k < width;  // the same on all lanes
      factor[k] = is_there ? load(value + k * step_elements) : 0;
      at[k] = is_there ? Word{load(column + k * step_elements)} : 0;
    }
    // Keeps the compiler from using the first elements before it asks for the last.
    asm volatile("" ::: "memory");
#pragma unroll
    for (Word k = 0; k < in_flight; ++k) sum[k % 2] += factor[k] * shared_operand()[at[k]];
    value += in_flight * step_elements;
    column += in_flight * step_elements;
  }
  return sum[0] + sum[1];
}

// The same of a slice in device memory.
__device__ __forceinline__ double share_of_slice(const TileArrays& matrix, std::uint64_t first_step,
                                                 Word width) {
  constexpr Word in_flight = 8;
  const std::uint64_t begin = first_step * step_elements + threadIdx.x % step_elements;
  return share_of_slice<in_flight>(width, matrix.value + begin, matrix.column + begin,
                                   [](const auto* from) { return __ldcg(from); });
}

// Stores what the lanes of each row have added up.
__device__ __forceinline__ void store_rows(double sum, const Tiling& tiling, const Word* row_of,
                                           double* out) {
  const Word lane = threadIdx.x % step_elements;
  for (Word distance = tiling.row_lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  if ((lane & (tiling.row_lanes - 1)) != 0) return;
  const Word row = row_of[lane >> (__ffs(static_cast<int>(tiling.row_lanes)) - 1)];
  if (row != no_row) out[row] = sum;
}

// Adds each value up over a warp. Each step leaves a lane with half of its values, as long as there is more than
// one: the lane has what is returned, the total of value lane / (step_elements / count).
template <Word count>
__device__ __forceinline__ double add_up_warp(const double (&values)[count], Word lane) {
  double left[count];
#pragma unroll
  for (Word v = 0; v < count; ++v) left[v] = values[v];
  Word distance = step_elements / 2;
#pragma unroll
  for (Word half = count / 2; half > 0; half /= 2, distance /= 2) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (Word v = 0; v < half; ++v) {
      const double given = upper ? left[v] : left[v + half], kept = upper ? left[v + half] : left[v];
      left[v] = kept + __shfl_xor_sync(~0u, given, distance);
    }
  }
#pragma unroll
  for (; distance > 0; distance /= 2) left[0] += __shfl_xor_sync(~0u, left[0], distance);
  return left[0];
}

// The sums of the values of the first `threads` threads, on every thread, in an order that depends on their
// number alone. `between_warps` is one of two arrays that take turns, so that none is written while it is
// still read.
template <Word count>
__device__ __forceinline__ bool add_up_block(double (&values)[count], bool good, Word threads,
                                             double (*between_warps)[tile_warps]) {
  static_assert((count & (count - 1)) == 0, "values are halved");
  constexpr Word lanes = step_elements / count;  // for each value
  const Word lane = threadIdx.x % step_elements, warp = threadIdx.x / step_elements;
  const Word value = lane / lanes, warps = min((threads + step_elements - 1) / step_elements, tile_warps);
  if (warp < warps) {
    const double total = add_up_warp(values, lane);
    if (lane % lanes == 0) between_warps[value][warp] = total;
  }
  good = __syncthreads_and(good) != 0;
  double total = 0;
#pragma unroll
  for (Word first = 0; first < tile_warps; first += lanes) {
    const Word other = first + lane % lanes;
    if (other < warps) total += between_warps[value][other];
  }
#pragma unroll
  for (Word distance = min(lanes, tile_warps) / 2; distance > 0; distance /= 2)
    total += __shfl_xor_sync(~0u, total, distance);
#pragma unroll
  for (Word v = 0; v < count; ++v) values[v] = __shfl_sync(~0u, total, v * lanes);
  return good;
}

// The group of a block that has a tile, and stays until the benchmark is over.
class Block {
 public:
  static constexpr bool chains = false;

  __device__ Block(const Run& run, const Tile& tile)
      : slices_(run.matrix.slices + tile.first_slice),
        row_of_(run.matrix.row_of + std::uint64_t{tile.first_slice} * run.matrix.tiling.slice_rows()) {
    if (run.room.slices != Room::nowhere) slices_ = kept<Slice>(run.room.slices, slices_, tile.slices);
    if (run.room.row_of != Room::nowhere)
      row_of_ = kept<Word>(run.room.row_of, row_of_, tile.slices * run.matrix.tiling.slice_rows());
    const Word elements = min(run.room.kept_steps, tile.steps) * step_elements;
    const std::uint64_t first = tile.first_step * step_elements;
    kept<double>(run.room.value, run.matrix.value + first, elements);
    kept<std::uint16_t>(run.room.column, run.matrix.column + first, elements);
  }

  __device__ Word lane() const { return threadIdx.x; }
  __device__ Word lanes() const { return tile_threads; }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool all(bool good) const { return __syncthreads_and(good) != 0; }

  template <Word count>
  __device__ bool add_up(double (&values)[count], bool good, Word lanes) {
    turn_ = 1 - turn_;
    return add_up_block(values, good, lanes, between_warps(turn_));
  }

  // Every other product goes backwards, so that it begins with what the one before has read last, and what is
  // still in the L2 when not all of the matrix fits there.
  template <Word kept_in_flight = 4>
  __device__ void multiply(const Run& run, const Tile& tile, Word product, double* out) const {
    __syncthreads();
    const Tiling& tiling = run.matrix.tiling;
    for (Word turn = threadIdx.x / step_elements; turn < tile.slices; turn += tile_warps) {
      const Word at = product % 2 == 0 ? turn : tile.slices - 1 - turn;
      const Slice slice = slices_[at];
      const double sum = slice.first + slice.width <= run.room.kept_steps
                             ? share_of_kept_slice<kept_in_flight>(run.room, slice)
                             : share_of_slice(run.matrix, tile.first_step + slice.first, slice.width);
      store_rows(sum, tiling, row_of_ + at * tiling.slice_rows(), out);
    }
  }

 private:
  static __device__ std::byte* shared() { return reinterpret_cast<std::byte*>(shared_operand()); }

  // Apart from the template, of which there are several.
  static __device__ double (*between_warps(int turn))[tile_warps] {
    __shared__ double values[2][most_sums][tile_warps];
    return values[turn];
  }

  // Copies an array into shared memory, where it stays.
  template <class T>
  static __device__ const T* kept(Word place, const T* from, Word size) {
    T* const to = reinterpret_cast<T*>(shared() + place);
    for (Word i = threadIdx.x; i < size; i += tile_threads) to[i] = from[i];
    return to;
  }

  template <Word in_flight>
  static __device__ double share_of_kept_slice(const Room& room, Slice slice) {
    const Word begin = slice.first * step_elements + threadIdx.x % step_elements;
    const double* const value = reinterpret_cast<const double*>(shared() + room.value) + begin;
    const std::uint16_t* const column =
        reinterpret_cast<const std::uint16_t*>(shared() + room.column) + begin;
    return share_of_slice<in_flight>(slice.width, value, column, [](const auto* from) { return *from; });
  }

  const Slice* slices_;
  const Word* row_of_;
  int turn_ = 0;
};

}  // namespace tca::cg
