// `tca pic` as one rank.
#pragma once

#include <cstdint>
#include <string>

#include "pic/cli/drawings.hpp"
#include "pic/cli/report.hpp"
#include "pic/deck.hpp"
#include "shared/cli/job.hpp"
#include "shared/start.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct PicOptions : AppJob {
  std::string deck = "langmuir";
  std::string extent;  // the deck's where it is empty
  std::string grid = "auto";
  std::int64_t steps = 0;  // the deck's where it is 0
  std::int64_t check_every = 1;
  bool fast = false;
  std::string start = "auto";  // on GPUs
  std::string drawings;        // a folder
};

// Throw Error{invalid_argument} for what cannot be read, and for what cannot be simulated.
pic::Deck pic_deck(const PicOptions& options);
apps::Start pic_start(const PicOptions& options);
Grid make_pic_grid(const PicOptions& options, const pic::Deck& deck, int ranks);

// Simulates, measures, and collects what is to be drawn. Collective.
PicReport solve_pic(World& world, const PicOptions& options, PicDrawings& drawings);

}  // namespace tca::tool
