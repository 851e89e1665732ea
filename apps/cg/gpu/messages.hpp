// What ranks with blocks of the matrix send each other: SPMV, EXCH, and DOT among the ranks of a row of their
// grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cg/exchange.hpp"
#include "tca/chain.hpp"

namespace tca::cg {

struct BlockMessages {
  // Collective.
  BlockMessages(World& world, const Share& share, const Vectors& vectors,
                const apps::Channels& channels = {});

  // What comes in a reduction.
  double* received_in(std::size_t which) const {
    return received.data() + static_cast<std::int64_t>(which) * pitch;
  }
  std::string explain(Message message) const;

  World row_of_grid;
  Window<double> received;
  std::int64_t pitch;  // between what comes in two reductions
  std::vector<Chain> reductions;
  Chain transpose;
};

}  // namespace tca::cg
