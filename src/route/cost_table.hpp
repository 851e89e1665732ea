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

// Whether the cores of two ranks share a cache.
enum class Distance { near, far };

Distance distance(double crossing_ns);

// One piece of a channel's cost: valid from `from_bytes` on, up to the next piece of the same channel, distance and
// class.
struct Cost {
  std::string_view fabric;
  std::string_view protocol;
  Distance distance;
  LayoutClass layout;
  std::uint64_t from_bytes;
  double setup_us;
  double ns_per_run;
  double ns_per_byte;

  double predict_us(const base::Shape& shape) const;
};

std::span<const Cost> builtin_costs();

// The piece that covers `shape`, or null when the table does not know the channel.
const Cost* find_cost(std::span<const Cost> table, std::string_view fabric, std::string_view protocol,
                      Distance distance, const base::Shape& shape);

}  // namespace tca::route
