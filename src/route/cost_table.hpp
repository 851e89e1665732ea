// The cost of a put on each channel, as measured: time = setup + runs * per_run + bytes * per_byte, in
// pieces.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/layout/shape.hpp"

namespace tca::route {

enum class LayoutClass { block, block_stride, stride, subarray };

std::string_view to_string(LayoutClass layout);
LayoutClass classify(const base::Shape& shape);

// The distance to a put's target: the rank itself, a rank whose core shares a cache with the sender's, or
// any other.
enum class Distance { self, near, far };

std::string_view to_string(Distance distance);
Distance distance(double cache_line_transfer_ns);

// The arrangement of a put's runs in memory, which determines what walking them costs. A short run is smaller
// than a cache line.
// - dense: two or more short runs to a cache line, or longer runs with less than a line between them
// - close: short runs that begin less than a line apart
// - spread: runs further apart
// - wide: short runs that begin four lines apart or more; `wide_aligned` when all begin at the same place
//   of a line
// - paged: each run in a page of its own
//
// Runs that are `aliased` or `paged_aliased` begin at multiples of a large power of two, where few sets of a
// cache serve all of them. A piece of the table that holds for every spacing has `any`.
enum class Spacing { any, dense, close, spread, wide, wide_aligned, aliased, paged, paged_aliased };

std::string_view to_string(Spacing spacing);

// Returns the spacing of the worse side, target or source; dense for a block.
Spacing spacing(const base::Shape& shape);

// One piece of a channel's cost. It applies from `from_puts` puts of a chain to the same rank, `from_run`
// bytes per run and `from_bytes` bytes in all, up to the next piece of the same channel, distance, class
// and spacing.
struct Cost {
  std::string_view fabric;
  std::string_view protocol;
  Distance distance;
  LayoutClass layout;
  std::uint64_t from_bytes;
  double setup_us;
  double ns_per_run;
  double ns_per_byte;
  Spacing spacing = Spacing::any;
  std::uint64_t from_run = 0;
  std::uint64_t from_puts = 1;

  double predict_us(const base::Shape& shape) const;
};

// The processors for which the built-in table has separate pieces.
enum class Processor { other, zen3, zen4, xeon };

// Finds the processor in the string that route::hardware() returns.
Processor processor_of(std::string_view hardware);

// Return the costs that hold for every processor, and those of one processor. A piece of the latter takes
// precedence if it covers a put.
std::span<const Cost> builtin_costs();
std::span<const Cost> builtin_costs(Processor processor);

// Returns the piece that covers one of `puts` puts of `shape`, or null if the table does not have the
// channel.
const Cost* find_cost(std::span<const Cost> table, std::string_view fabric, std::string_view protocol,
                      Distance distance, const base::Shape& shape, std::size_t puts);

}  // namespace tca::route
