// Plans: chains with a known outcome. Beside each layout a plan lists the elements one by one, so that a
// plain loop can compute what every byte of every window must be after any step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tca/tca.hpp"

namespace tca::test {

// A layout and, independently of it, the elements that it stands for, in order.
struct Cells {
  Layout layout;
  std::vector<std::int64_t> at;
  std::int64_t end() const;
};

Cells block_cells(std::int64_t count);
Cells block_stride_cells(std::int64_t rows, std::int64_t block, std::int64_t pitch);
Cells stride_cells(std::int64_t count, std::int64_t pitch);
Cells subarray_cells(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& start,
                     const std::vector<std::int64_t>& shape);

struct PlannedPut {
  int from = 0, to = 0;
  Cells source, target;
  std::int64_t source_offset = 0, target_offset = 0;  // elements
};

struct Plan {
  int ranks = 1;
  std::size_t element_bytes = 1;
  std::vector<std::int64_t> source_elements, target_elements;  // elements of each rank's windows
  bool one_window = false;                                     // targets lie behind the sources in one window
  std::vector<PlannedPut> puts;
  bool guarded = true;  // otherwise the targets are double-buffered and every partner answers
  std::string channel;
  int steps = 3;

  // Enlarges both windows to hold the puts and `spare` more elements.
  void fit(std::int64_t spare);
};

std::ostream& operator<<(std::ostream& out, const Plan& plan);

// Runs the plan and compares every byte of every target window after every step. Collective. Throws Mismatch.
void run_plan(World& world, const Plan& plan);

// Returns the element sizes that plans may have.
const std::vector<std::size_t>& plan_element_sizes();

}  // namespace tca::test
