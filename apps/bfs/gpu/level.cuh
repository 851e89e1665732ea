// A level of a search, by all warps of a grid. A bit that is set in the next frontier is set on every rank.
#pragma once

#include "bfs/gpu/kernels.hpp"

namespace tca::bfs {

// How many vertices have been reached, in the upper 28 bits, and how many neighbours they have: numbers that
// are added up together.
using PackedReached = std::uint64_t;
inline constexpr int neighbour_bits = 36;
static_assert(largest_scale_on_gpus < 64 - neighbour_bits);

__device__ inline PackedReached packed(Word neighbours) {
  return std::uint64_t{1} << neighbour_bits | neighbours;
}
__device__ inline Reached unpacked(PackedReached reached) {
  return {static_cast<std::int64_t>(reached >> neighbour_bits),
          static_cast<std::int64_t>(reached & ((std::uint64_t{1} << neighbour_bits) - 1))};
}

__device__ inline Word bit_in_word(Vertex vertex) { return 1u << static_cast<Word>(vertex) % in_gpu_word; }

// Clears what is known of own vertices, of which those without neighbours need not be looked at.
__device__ inline void make_ready(const GraphArrays& graph, const OwnVertices& own) {
  const Word threads = gridDim.x * blockDim.x;
  for (Word at = blockIdx.x * blockDim.x + threadIdx.x; at < graph.own_words * in_gpu_word; at += threads) {
    own.parents[at] = nowhere;
    if (at < graph.own_words) own.visited[at] = graph.without[at];
  }
}

class Level {
 public:
  // The next frontier begins at `offset` in the window. Both outlive this.
  __device__ Level(const GraphArrays& graph, const OwnVertices& own, const DeviceWindow<Word>& frontiers,
                   std::uint64_t offset)
      : graph_(graph),
        own_(own),
        frontiers_(frontiers),
        own_part_(offset + graph.first_word),
        lane_(threadIdx.x % warp_size),
        // Neighbouring words go to different blocks.
        warp_(threadIdx.x / warp_size * gridDim.x + blockIdx.x),
        warps_(gridDim.x * (blockDim.x / warp_size)) {}

  // What this thread has reached.
  __device__ PackedReached reached() const { return reached_; }

  // By one thread.
  __device__ void enter(Vertex root) {
    const Vertex own = root - static_cast<Vertex>(graph_.first_word * in_gpu_word);
    if (own < 0 || static_cast<Word>(own) >= graph_.own_words * in_gpu_word) return;
    own_.parents[own] = root;
    atomicOr(own_.visited + static_cast<Word>(own) / in_gpu_word, bit_in_word(own));
  }

  // The root's own neighbours.
  __device__ void from_root(Vertex root) {
    if (warp_ == 0 && lane_ == 0) enter(root);
    const Word end = graph_.own_begin[root + 1];
    for (Word at = graph_.own_begin[root] + warp_ * warp_size + lane_; at < end; at += warps_ * warp_size)
      reach(root, graph_.own_neighbours[at]);
  }

  // From above. Long lists are gone through by all warps together, others by one.
  __device__ void from_above(const Word* frontier) {
    short_lists(frontier);
    for (Word first = warp_; first < graph_.list_part_count; first += warps_ * warp_size) {
      const Word at = first + lane_ * warps_;
      ListPart part{};
      if (at < graph_.list_part_count) part = graph_.list_parts[at];
      const bool begins = part.size > 0 && is_in(frontier, part.vertex);
      for (Word left = __ballot_sync(all_lanes, begins); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        long_list({__shfl_sync(all_lanes, part.vertex, from), __shfl_sync(all_lanes, part.first, from),
                   __shfl_sync(all_lanes, part.size, from)});
      }
    }
  }

  // From below. A warp asks for its words of own vertices together, and skips those that have been reached.
  __device__ void from_below(const Word* frontier) {
    const Word each = words_each(graph_.own_words);
    for (Word first = warp_ * each; first < graph_.own_words; first += warps_ * each) {
      const Word word = first + lane_;
      const Word visited = lane_ < each && word < graph_.own_words ? own_.visited[word] : all_lanes;
      for (Word left = __ballot_sync(all_lanes, visited != all_lanes); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        find_parents(frontier, first + static_cast<Word>(from), __shfl_sync(all_lanes, visited, from));
      }
    }
  }

 private:
  static constexpr Word warp_size = in_gpu_word, all_lanes = ~0u;

  static __device__ bool is_in(const Word* bits, Vertex vertex) {
    return (bits[static_cast<Word>(vertex) / in_gpu_word] & bit_in_word(vertex)) != 0;
  }

  __device__ void reach(Vertex parent, Vertex own) {
    const Word word = static_cast<Word>(own) / in_gpu_word, bit = bit_in_word(own);
    if ((__ldcg(own_.visited + word) & bit) != 0) return;  // as most have been
    if ((atomicOr(own_.visited + word, bit) & bit) != 0) return;
    own_.parents[own] = parent;
    for (Word rank = 0; rank < frontiers_.size; ++rank)
      atomicOr_system(frontiers_.parts[rank] + own_part_ + word, bit);
    reached_ += packed(graph_.begin[own + 1] - graph_.begin[own]);
  }

  // How many words a warp takes at a time, of so many: fewer than it has lanes where all warps are to have
  // some.
  __device__ Word words_each(Word words) const { return min(warp_size, (words + warps_ - 1) / warps_); }

  // For a word of own vertices, one a lane.
  __device__ void find_parents(const Word* frontier, Word word, Word visited) {
    const bool is_found = (visited >> lane_ & 1) == 0 && find_parent(frontier, word * warp_size + lane_);
    const Word found = __ballot_sync(all_lanes, is_found);
    if (found == 0) return;
    if (lane_ == 0) own_.visited[word] = visited | found;
    for (Word rank = lane_; rank < frontiers_.size; rank += warp_size)
      frontiers_.parts[rank][own_part_ + word] = found;
  }

  // Neighbours with the most neighbours come first, so most vertices find a parent among the first ones,
  // which are asked for together.
  __device__ bool find_parent(const Word* frontier, Word own) {
    constexpr Word at_once = 4;
    const Word begin = graph_.begin[own], end = graph_.begin[own + 1];
    for (Word first = begin; first < end; first += at_once) {
      Vertex neighbour[at_once];
      bool is_parent[at_once];
#pragma unroll
      for (Word k = 0; k < at_once; ++k) neighbour[k] = graph_.neighbours[min(first + k, end - 1)];
#pragma unroll
      for (Word k = 0; k < at_once; ++k) is_parent[k] = is_in(frontier, neighbour[k]);
#pragma unroll
      for (Word k = 0; k < at_once; ++k) {
        if (!is_parent[k]) continue;
        own_.parents[own] = neighbour[k];
        reached_ += packed(end - begin);
        return true;
      }
    }
    return false;
  }

  // Each lane has a word of the frontier and takes a vertex of it at a time.
  __device__ void short_lists(const Word* frontier) {
    const Word each = words_each(graph_.all_words);
    for (Word first = warp_ * each; first < graph_.all_words; first += warps_ * each) {
      const Word word = first + lane_;
      Word left = lane_ < each && word < graph_.all_words ? frontier[word] : 0;
      while (__any_sync(all_lanes, left != 0)) {
        ListPart list{};
        if (left != 0) {
          list.vertex = static_cast<Vertex>(word * in_gpu_word) + __ffs(static_cast<int>(left)) - 1;
          list.first = graph_.own_begin[list.vertex];
          list.size = graph_.own_begin[list.vertex + 1] - list.first;
          if (list.size > longest_list) list.size = 0;
        }
        left &= left - 1;
        all_of_warp(list);
      }
    }
  }

  // Goes through the lists of all lanes, whose neighbours are shared out evenly.
  __device__ void all_of_warp(const ListPart& list) {
    Word end = list.size;  // of the lane's list, when all are put one behind the other
    for (Word distance = 1; distance < warp_size; distance *= 2) {
      const Word before = __shfl_up_sync(all_lanes, end, distance);
      if (lane_ >= distance) end += before;
    }
    const Word shift = list.first - (end - list.size);
    const Word total = __shfl_sync(all_lanes, end, warp_size - 1);
    for (Word first = 0; first < total; first += warp_size) {
      const Word at = first + lane_;
      Word owner = 0;  // how many lists end at `at` or before
#pragma unroll
      for (Word step = warp_size / 2; step > 0; step /= 2)
        if (__shfl_sync(all_lanes, end, owner + step - 1) <= at) owner += step;
      const Vertex parent = __shfl_sync(all_lanes, list.vertex, owner);
      const Word from = __shfl_sync(all_lanes, shift, owner);
      if (at < total) reach(parent, graph_.own_neighbours[from + at]);
    }
  }

  __device__ void long_list(const ListPart& part) {
    for (Word at = lane_; at < part.size; at += warp_size)
      reach(part.vertex, graph_.own_neighbours[part.first + at]);
  }

  const GraphArrays& graph_;
  const OwnVertices& own_;
  const DeviceWindow<Word>& frontiers_;
  const std::uint64_t own_part_;
  const Word lane_, warp_, warps_;
  PackedReached reached_ = 0;
};

// Returns the sum of all threads of the block on its first thread.
__device__ inline PackedReached add_up_block(PackedReached mine) {
  constexpr Word most_warps = 32;
  __shared__ PackedReached of_warp[most_warps];
  const Word lane = threadIdx.x % most_warps, warps = blockDim.x / most_warps;
  const auto add_up_warp = [](PackedReached sum) {
    for (Word distance = most_warps / 2; distance > 0; distance /= 2)
      sum += __shfl_down_sync(~0u, sum, distance);
    return sum;
  };
  mine = add_up_warp(mine);
  if (lane == 0) of_warp[threadIdx.x / most_warps] = mine;
  __syncthreads();
  if (threadIdx.x < most_warps) mine = add_up_warp(lane < warps ? of_warp[lane] : 0);
  return mine;
}

}  // namespace tca::bfs
