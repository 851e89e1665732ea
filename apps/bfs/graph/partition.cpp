#include "bfs/graph/partition.hpp"

#include <fmt/format.h>

#include "tca/error.hpp"

namespace tca::bfs {

Partition::Partition(const Problem& problem, int ranks)
    : ranks_(ranks), vertices_(problem.vertices()), words_((vertices_ / in_word + ranks - 1) / ranks) {
  if (vertices_ / in_word >= ranks) return;
  throw Error(Errc::invalid_argument,
              fmt::format("scale {} has {} vertices, too few for {} ranks, each of which takes {} of them or "
                          "more; choose a larger scale, or at most {} ranks",
                          problem.scale, vertices_, ranks, in_word, vertices_ / in_word));
}

}  // namespace tca::bfs
