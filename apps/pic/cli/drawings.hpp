// What --plot draws of a simulation: its history, frames of the plasma, and the spectrum of the field along x.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pic/deck.hpp"
#include "pic/measure.hpp"
#include "pic/solver.hpp"
#include "tca/world.hpp"

namespace tca::tool {

class PicDrawings {
 public:
  // Makes the folder, and refuses one in which nothing could be drawn. An empty name means no drawings.
  static void check(const std::string& folder);

  // Collects nothing where there is no folder.
  PicDrawings(World& world, const pic::Deck& deck, std::string folder);

  // Whether there is something to look at.
  bool are_wanted() const { return !folder_.empty(); }
  // Collective; after each step, where they are wanted.
  template <class Number>
  void look(pic::Solver<Number>& solver);

  // Collective. Rank 0 draws. Returns the exit code.
  int draw(const pic::Simulation& run);

 private:
  template <class Number>
  void add_line(const pic::Solver<Number>& solver);
  template <class Number>
  void add_frame(pic::Solver<Number>& solver);

  nlohmann::ordered_json history(const pic::Simulation& run) const;
  nlohmann::ordered_json spectrum();
  // Draws lines of JSON into a file of the folder.
  int draw_lines(const std::vector<nlohmann::ordered_json>& lines, const std::string& file) const;

  World& world_;
  pic::Deck deck_;
  std::string folder_;
  std::int64_t steps_a_line_, steps_a_frame_;
  std::vector<double> lines_;  // of the middle of the box; 0 where another rank has it
  std::vector<nlohmann::ordered_json> frames_;
};

}  // namespace tca::tool
