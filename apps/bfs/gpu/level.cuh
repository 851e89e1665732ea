// A level of a search, by all warps of a grid. A bit that is set in the next frontier is set on every rank.
#pragma once

#include "bfs/gpu/reached.cuh"

namespace tca::bfs {

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
    visit(own);
  }

  // The root's own neighbours, none of which has been reached.
  __device__ void from_root(Vertex root) {
    if (warp_ == 0 && lane_ == 0) enter(root);
    const Word end = graph_.own_begin[root + 1];
    for (Word at = graph_.own_begin[root] + warp_ * warp_size + lane_; at < end; at += warps_ * warp_size) {
      const Vertex own = graph_.own_neighbours[at];
      visit(own);
      add(root, own, graph_.heads[own].size);
    }
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

  // From below: own vertices that have not been reached look for a parent.
  __device__ void from_below(const Word* frontier) {
    constexpr Word few = 2;
    if (words_each(graph_.own_words, words_at_once) <= few)
      words_from_below<few>(frontier);
    else
      words_from_below<words_at_once>(frontier);
  }

 private:
  static constexpr Word warp_size = in_gpu_word, all_lanes = ~0u;
  static constexpr Word words_at_once = 8;  // that a warp searches from below

  // What the lanes of a warp share when they search some words from below.
  struct Words {
    Word found[words_at_once];                         // the vertices that have a parent now
    std::uint16_t further[words_at_once * warp_size];  // those that look at further neighbours
  };
  static __device__ Words& of_warp() {
    __shared__ Words of_warps[1024 / warp_size];
    return of_warps[threadIdx.x / warp_size];
  }

  static __device__ bool is_in(const Word* bits, Vertex vertex) {
    return (bits[static_cast<Word>(vertex) / in_gpu_word] & bit_in_word(vertex)) != 0;
  }

  // Returns the word of own vertices as it was before.
  __device__ Word visit(Vertex own) {
    return atomicOr(own_.visited + static_cast<Word>(own) / in_gpu_word, bit_in_word(own));
  }

  // An own vertex that a level from above reaches first.
  __device__ void add(Vertex parent, Vertex own, Word neighbours) {
    own_.parents[own] = parent;
    for (Word rank = 0; rank < frontiers_.size; ++rank)
      atomicOr_system(frontiers_.parts[rank] + own_part_ + static_cast<Word>(own) / in_gpu_word,
                      bit_in_word(own));
    reached_ += packed(neighbours);
  }

  // Reaches some vertices of this lane's from a parent; `nowhere` stands for none. What is loaded of them is
  // asked for together.
  template <Word count>
  __device__ void reach(Vertex parent, const Vertex (&own)[count]) {
    Word visited[count], neighbours[count];
    bool is_new[count];
#pragma unroll
    for (Word k = 0; k < count; ++k)
      visited[k] =
          own[k] == nowhere ? all_lanes : __ldcg(own_.visited + static_cast<Word>(own[k]) / in_gpu_word);
#pragma unroll
    for (Word k = 0; k < count; ++k) {
      is_new[k] = (visited[k] & bit_in_word(own[k])) == 0;  // few are
      if (!is_new[k]) continue;
      neighbours[k] = graph_.heads[own[k]].size;
      visited[k] = visit(own[k]);
    }
#pragma unroll
    for (Word k = 0; k < count; ++k)
      if (is_new[k] && (visited[k] & bit_in_word(own[k])) == 0) add(parent, own[k], neighbours[k]);
  }

  // How many words a warp takes at a time, of so many: fewer than `most` where all warps are to have some.
  __device__ Word words_each(Word words, Word most) const { return min(most, (words + warps_ - 1) / warps_); }

  // A warp asks for its words together, and so for the first neighbour of all their vertices: the one that has
  // the most neighbours, which is in the frontier more often than not.
  template <Word most>
  __device__ void words_from_below(const Word* frontier) {
    const Word each = words_each(graph_.own_words, most);
    for (Word first = warp_ * each; first < graph_.own_words; first += warps_ * each) {
      const Word word = first + lane_;
      const Word visited = lane_ < each && word < graph_.own_words ? own_.visited[word] : all_lanes;
      if (__all_sync(all_lanes, visited == all_lanes)) continue;
      look_further(frontier, first, look_at_first<most>(frontier, first, visited));
      const Word found = lane_ < most ? of_warp().found[lane_] : 0;
      __syncwarp();  // before the next words come there
      if (found == 0) continue;
      own_.visited[word] = visited | found;
      for (Word rank = 0; rank < frontiers_.size; ++rank) frontiers_.parts[rank][own_part_ + word] = found;
    }
  }

  // Returns how many vertices have further neighbours to look at.
  template <Word most>
  __device__ Word look_at_first(const Word* frontier, Word first, Word visited) {
    Head head[most];
    bool is_parent[most];
#pragma unroll
    for (Word k = 0; k < most; ++k) {
      const bool looks = (__shfl_sync(all_lanes, visited, static_cast<int>(k)) >> lane_ & 1) == 0;
      head[k] = looks ? graph_.heads[(first + k) * warp_size + lane_] : Head{0, 0};
    }
#pragma unroll
    for (Word k = 0; k < most; ++k) is_parent[k] = is_in(frontier, head[k].first) && head[k].size > 0;
    Word further = 0;
#pragma unroll
    for (Word k = 0; k < most; ++k) {
      if (is_parent[k]) find((first + k) * warp_size + lane_, head[k].first, head[k].size);
      const Word found = __ballot_sync(all_lanes, is_parent[k]);
      if (lane_ == 0) of_warp().found[k] = found;
      const bool looks_further = !is_parent[k] && head[k].size > 1;
      const Word looking = __ballot_sync(all_lanes, looks_further);
      if (looks_further)
        of_warp().further[further + static_cast<Word>(__popc(looking & ((1u << lane_) - 1)))] =
            static_cast<std::uint16_t>(k * warp_size + lane_);
      further += static_cast<Word>(__popc(looking));
    }
    __syncwarp();
    return further;
  }

  // These vertices are shared out over the lanes anew.
  __device__ void look_further(const Word* frontier, Word first, Word count) {
    for (Word i = lane_; i < count; i += warp_size) {
      const Word at = of_warp().further[i];
      if (find_parent(frontier, first * warp_size + at))
        atomicOr(of_warp().found + at / warp_size, 1u << at % warp_size);
    }
    __syncwarp();
  }

  __device__ void find(Word own, Vertex parent, Word neighbours) {
    own_.parents[own] = parent;
    reached_ += packed(neighbours);
  }

  // Among the neighbours behind the first, some of which are asked for together.
  __device__ bool find_parent(const Word* frontier, Word own) {
    constexpr Word at_once = 4;
    const Word begin = graph_.begin[own], end = graph_.begin[own + 1];
    for (Word first = begin + 1; first < end; first += at_once) {
      Vertex neighbour[at_once];
      bool is_parent[at_once];
#pragma unroll
      for (Word k = 0; k < at_once; ++k) neighbour[k] = graph_.neighbours[min(first + k, end - 1)];
#pragma unroll
      for (Word k = 0; k < at_once; ++k) is_parent[k] = is_in(frontier, neighbour[k]);
#pragma unroll
      for (Word k = 0; k < at_once; ++k) {
        if (!is_parent[k]) continue;
        find(own, neighbour[k], end - begin);
        return true;
      }
    }
    return false;
  }

  // Each lane has a word of the frontier and takes a vertex of it at a time.
  __device__ void short_lists(const Word* frontier) {
    const Word each = words_each(graph_.all_words, warp_size);
    for (Word first = warp_ * each; first < graph_.all_words; first += warps_ * each) {
      const Word word = first + lane_;
      Word left = lane_ < each && word < graph_.all_words ? frontier[word] : 0;
      while (__any_sync(all_lanes, left != 0)) {
        ListPart list{};
        if (left != 0) {
          list.vertex = static_cast<Vertex>(word * in_gpu_word) + __ffs(static_cast<int>(left)) - 1;
          list.first = graph_.own_begin[list.vertex];
          list.size = graph_.own_begin[list.vertex + 1] - list.first;
          if (list.size > graph_.longest_list) list.size = 0;
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
      const Vertex own[] = {at < total ? graph_.own_neighbours[from + at] : nowhere};
      reach(parent, own);
    }
  }

  __device__ void long_list(const ListPart& part) {
    constexpr Word at_once = 4;
    for (Word first = lane_; first < part.size; first += at_once * warp_size) {
      Vertex own[at_once];
#pragma unroll
      for (Word k = 0; k < at_once; ++k) {
        const Word at = first + k * warp_size;
        own[k] = at < part.size ? graph_.own_neighbours[part.first + at] : nowhere;
      }
      reach(part.vertex, own);
    }
  }

  const GraphArrays& graph_;
  const OwnVertices& own_;
  const DeviceWindow<Word>& frontiers_;
  const std::uint64_t own_part_;
  const Word lane_, warp_, warps_;
  PackedReached reached_ = 0;
};

}  // namespace tca::bfs
