#include "route/cost_table.hpp"

#include <array>

namespace tca::route {

namespace {

using enum LayoutClass;

// Two ranks on two cores, an exchange with the reading of its ghosts, less the same step without it
// (`tca bench halo`, bench/results/). What decides is how often a cache line crosses between the cores: a
// strided store makes each line cross twice for a few bytes of it, a staged one packs them into full lines
// but walks the strided side once more on each core, which no longer pays once that side outgrows the private
// cache.
constexpr std::array table{
    // fabric, protocol, layout, from bytes, setup us, ns a run, ns a byte
    Cost{"shm", "staged", block, 0, 0.07, 0, 0.060},
    Cost{"shm", "direct", block, 0, 0.14, 0, 0.030},
    Cost{"shm", "pull", block, 0, 0.16, 0, 0.055},

    Cost{"shm", "staged", block_stride, 0, 0.07, 4, 0.070},
    Cost{"shm", "direct", block_stride, 0, 0.14, 3, 0.034},
    Cost{"shm", "pull", block_stride, 0, 0.16, 3, 0.034},

    Cost{"shm", "staged", stride, 0, 0.07, 1.2, 0.060},
    Cost{"shm", "staged", stride, 32 * 1024, 0.07, 4.5, 0.060},
    Cost{"shm", "direct", stride, 0, 0.14, 2.6, 0.030},
    Cost{"shm", "pull", stride, 0, 0.16, 4.0, 0.030},

    Cost{"shm", "staged", subarray, 0, 0.07, 1.2, 0.060},
    Cost{"shm", "staged", subarray, 32 * 1024, 0.07, 4.5, 0.060},
    Cost{"shm", "direct", subarray, 0, 0.14, 2.6, 0.030},
    Cost{"shm", "pull", subarray, 0, 0.16, 4.0, 0.030},
};

}  // namespace

std::string_view to_string(LayoutClass layout) {
  switch (layout) {
    case block:
      return "block";
    case block_stride:
      return "block-stride";
    case stride:
      return "stride";
    case subarray:
      return "sub-array";
  }
  return "?";
}

// Runs shorter than a cache line cost by the run, however many loops they sit in.
LayoutClass classify(const base::Shape& shape) {
  constexpr std::uint64_t cache_line = 64;
  if (shape.loop_count == 0) return block;
  if (shape.run < cache_line) return shape.loop_count == 1 ? stride : subarray;
  return block_stride;
}

double Cost::predict_us(const base::Shape& shape) const {
  return setup_us + 1e-3 * (static_cast<double>(shape.runs()) * ns_per_run +
                            static_cast<double>(shape.bytes()) * ns_per_byte);
}

std::span<const Cost> builtin_costs() { return table; }

const Cost* find_cost(std::span<const Cost> costs, std::string_view fabric, std::string_view protocol,
                      const base::Shape& shape) {
  const LayoutClass layout = classify(shape);
  const Cost* best = nullptr;
  for (const Cost& cost : costs) {
    const bool fits = cost.fabric == fabric && cost.protocol == protocol && cost.layout == layout &&
                      cost.from_bytes <= shape.bytes();
    if (fits && (best == nullptr || cost.from_bytes > best->from_bytes)) best = &cost;
  }
  return best;
}

}  // namespace tca::route
