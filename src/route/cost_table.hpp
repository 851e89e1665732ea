// What a put costs on each channel, as measured: time = setup + runs * per_run + bytes * per_byte, in pieces.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/shape.hpp"

namespace tca::route {

enum class LayoutClass { block, block_stride, stride, subarray };

std::string_view to_string(LayoutClass layout);
LayoutClass classify(const base::Shape& shape);

// Whether a put goes to the rank itself, and otherwise whether the cores of two ranks share a cache.
enum class Distance { self, near, far };

std::string_view to_string(Distance distance);
Distance distance(double crossing_ns);

// How the runs of a put lie in memory, which decides what walking them costs:
//   dense   short ones several to a cache line, long ones with less than a line between them
//   close   short ones less than a line apart
//   spread  further apart
//   wide    short ones four lines apart or more; `wide_aligned` when all lie at the same place of a line
//   paged   each in a page of its own
// `aliased` and `paged_aliased` are at multiples of a large power of two, where few sets of a cache serve all of them. `any` is
// what a piece says that holds for all.
enum class Spacing { any, dense, close, spread, wide, wide_aligned, aliased, paged, paged_aliased };

std::string_view to_string(Spacing spacing);

// Of the side that is spaced worse; dense for a block.
Spacing spacing(const base::Shape& shape);

// One piece of a channel's cost: valid from `from_puts` puts of a chain to the same rank, runs of `from_run` bytes and
// `from_bytes` in all on, up to the next piece of the same channel, distance, class and spacing.
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

// For which the built-in costs have pieces of their own.
enum class Processor { other, zen3, zen4, xeon };

// By what route::hardware() says.
Processor processor_of(std::string_view hardware);

// Those that hold for every processor. Before them, where one of its pieces covers a put, come the processor's own.
std::span<const Cost> builtin_costs();
std::span<const Cost> builtin_costs(Processor processor);

// The piece that covers one of `puts` puts of `shape`, or null when the table does not know the channel.
const Cost* find_cost(std::span<const Cost> table, std::string_view fabric, std::string_view protocol,
                      Distance distance, const base::Shape& shape, std::size_t puts);

}  // namespace tca::route
