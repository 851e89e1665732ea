#include "route/cost_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <tuple>

namespace tca::route {

namespace {

using enum LayoutClass;
using enum Distance;

constexpr std::uint64_t cache_line = 64, page = 4096;

// Runs that are this power of two or a larger one apart share an eighth or less of the 64 sets of a
// first-level cache.
constexpr std::uint64_t aliasing = 512;

// The boundary between near and far. Cores that share a cache pass a line on in 60 ns or so, others take
// twice as long or more.
constexpr double near_ns = 100;

// Measured between two ranks on two cores: a step with an exchange and the reading of its ghosts, minus the
// same step without it, for each of the two faces (`tca bench halo --channel ...`).
//
// The cost depends on how often a cache line crosses between the cores. A strided store makes each line cross
// twice for a few bytes of it. A staged put packs these bytes into full lines, which long moves take over
// whole, but each core walks the strided side once more; that does not pay when lines cross quickly.
//
// A block is staged as long as latency dominates, since a staged step takes one signal and the others two. It
// is stored once its bytes dominate. A block that is the only put is stored from a smaller size on, because
// staging pays by what two such puts share, the wait for a partner's stores.
constexpr std::array table{
    // near: AMD EPYC (Zen 5), crossing 65 ns
    // fabric, protocol, distance, layout, from bytes, setup us, ns a run, ns a byte
    Cost{"shm", "staged", near, block, 0, 0.02, 0, 0.040},
    Cost{"shm", "staged", near, block, 17, 0.04, 0, 0.040},  // no longer in the signal's own line
    Cost{"shm", "direct", near, block, 0, 0.09, 0, 0.014},
    Cost{"shm", "pull", near, block, 0, 0.08, 0, 0.037},

    Cost{"shm", "staged", near, block_stride, 0, 0.02, 5, 0.050},
    Cost{"shm", "direct", near, block_stride, 0, 0.09, 5, 0.030},
    Cost{"shm", "direct", near, block_stride, 65536, 0.09, 0, 0.037},
    Cost{"shm", "pull", near, block_stride, 0, 0.04, 3, 0.028},
    Cost{"shm", "pull", near, block_stride, 65536, 0.04, 0, 0.040},

    Cost{"shm", "staged", near, stride, 0, 0.05, 0.8, 0},
    Cost{"shm", "staged", near, stride, 16384, 0.05, 4.0, 0},
    Cost{"shm", "staged", near, stride, 65536, 0.05, 6.1, 0},
    Cost{"shm", "direct", near, stride, 0, 0.09, 2.4, 0},
    Cost{"shm", "direct", near, stride, 16384, 0.09, 5.4, 0},
    Cost{"shm", "direct", near, stride, 65536, 0.09, 4.8, 0},
    Cost{"shm", "pull", near, stride, 0, 0.04, 3.0, 0},
    Cost{"shm", "pull", near, stride, 16384, 0.04, 4.4, 0},
    Cost{"shm", "pull", near, stride, 65536, 0.04, 4.7, 0},

    // far: AMD EPYC (Zen 5), two cores that share no cache, crossing 280 ns
    Cost{"shm", "staged", far, block, 0, 0.10, 0, 0.21},
    Cost{"shm", "staged", far, block, 17, 0.25, 0, 0.12},
    Cost{"shm", "staged", far, block, 1025, 0.36, 0, 0.40},
    Cost{"shm", "staged", far, block, 1025, 0.25, 0, 0.12, Spacing::any, 0, 2},
    Cost{"shm", "staged", far, block, 4096, 0.25, 0, 0.075, Spacing::any, 0, 2},
    Cost{"shm", "direct", far, block, 0, 0.35, 0, 0.30},
    Cost{"shm", "direct", far, block, 4096, 0.80, 0, 0.065},
    Cost{"shm", "direct", far, block, 65536, 1.00, 0, 0.026},
    Cost{"shm", "pull", far, block, 0, 0.50, 0, 0.20},
    Cost{"shm", "pull", far, block, 65536, 0, 0, 0.12},

    Cost{"shm", "staged", far, block_stride, 0, 0.10, 10, 0.25},
    Cost{"shm", "staged", far, block_stride, 8192, 0.25, 5, 0.075},
    Cost{"shm", "direct", far, block_stride, 0, 0.35, 10, 0.40},
    Cost{"shm", "direct", far, block_stride, 4096, 0.35, 10, 0.24},
    Cost{"shm", "pull", far, block_stride, 0, 0.15, 10, 0.17},

    Cost{"shm", "staged", far, stride, 0, 0.10, 3.5, 0},
    Cost{"shm", "staged", far, stride, 4096, 0.20, 2.2, 0},
    Cost{"shm", "staged", far, stride, 16384, 0.20, 3.5, 0},
    Cost{"shm", "staged", far, stride, 65536, 0.20, 5.2, 0},
    Cost{"shm", "direct", far, stride, 0, 0.35, 12, 0},
    Cost{"shm", "direct", far, stride, 4096, 0.35, 6.0, 0},
    Cost{"shm", "direct", far, stride, 16384, 0.35, 11, 0},
    Cost{"shm", "pull", far, stride, 0, 0.15, 24, 0},
    Cost{"shm", "pull", far, stride, 4096, 0.15, 14, 0},

    // GPUs: two H100s over NVLink, with one kernel per exchange in a graph. Blocks were measured with one
    // put, other layouts with both faces of a cube; costs are per put. The packets of ll carry data in
    // three quarters of their bytes but need no fence. A receiver that scatters keeps short runs off the
    // link, where each would take a packet of 32 bytes. A copy engine reaches the link's full rate after
    // its own setup.
    Cost{"cuda", "ll", near, block, 0, 1.5, 0, 0.0028},
    Cost{"cuda", "ll", near, block, 262145, 1.2, 0, 0.0039},
    Cost{"cuda", "direct", near, block, 0, 6.3, 0, 0.0022},
    Cost{"cuda", "direct", near, block, 1048577, 6.3, 0, 0.00272},
    Cost{"cuda", "copy_engine", near, block, 0, 30, 0, 0.00253},

    Cost{"cuda", "ll", near, block_stride, 0, 1.28, 0, 0.0032},
    Cost{"cuda", "ll", near, block_stride, 131073, 0.9, 0, 0.0053},
    Cost{"cuda", "direct", near, block_stride, 0, 3.65, 0, 0.0016},
    Cost{"cuda", "direct", near, block_stride, 524289, 3.5, 0, 0.00273},
    Cost{"cuda", "copy_engine", near, block_stride, 0, 30, 0.1, 0.00253},

    Cost{"cuda", "ll", near, stride, 0, 1.33, 0.033, 0},
    Cost{"cuda", "ll", near, stride, 131073, 0.9, 0.055, 0},
    Cost{"cuda", "direct", near, stride, 0, 4.2, 0.11, 0},
    Cost{"cuda", "copy_engine", near, stride, 0, 30, 3.0, 0},

    // MPI: Open MPI 4.1.4 between two processes of one host, AMD EPYC (Zen 5), faces of cubes of 8 to 128
    // doubles. Only `tca tune` can tell what a network costs. Within a sub-cluster shared memory is cheaper
    // at every size.
    Cost{"mpi", "datatype", near, block, 0, 0.59, 0, 0.161},
    Cost{"mpi", "datatype", near, block, 8193, 0.60, 0, 0.090},
    Cost{"mpi", "packed", near, block, 0, 0.32, 0, 0.48},
    Cost{"mpi", "packed", near, block, 8193, 4.7, 0, 0.178},
    Cost{"mpi", "rma", near, block, 0, 18.5, 0, 0},
    Cost{"mpi", "rma", near, block, 65536, 18.5, 0, 0.098},

    Cost{"mpi", "datatype", near, block_stride, 0, 0.72, 0, 0.337},
    Cost{"mpi", "datatype", near, block_stride, 8193, 0, 0, 0.27},
    Cost{"mpi", "packed", near, block_stride, 0, 0.23, 0, 0.58},
    Cost{"mpi", "packed", near, block_stride, 8193, 2.95, 0, 0.267},
    Cost{"mpi", "rma", near, block_stride, 0, 18.5, 1900, 0},

    Cost{"mpi", "datatype", near, stride, 0, 0.95, 6.5, 0},
    Cost{"mpi", "datatype", near, stride, 65536, 0, 9.2, 0},
    Cost{"mpi", "packed", near, stride, 0, 0.26, 5.0, 0},
    Cost{"mpi", "packed", near, stride, 65536, 2.7, 5.2, 0},
    Cost{"mpi", "rma", near, stride, 0, 60, 1700, 0},

    // GPUs over MPI: two H200s of one host, a rank each, with an Open MPI 4.1 that was built without CUDA
    Cost{"mpi", "staged", near, block, 0, 9.5, 0, 0.31},
    Cost{"mpi", "staged", near, block_stride, 0, 9.5, 0, 0.31},
    Cost{"mpi", "staged", near, stride, 0, 9.5, 1, 0.31},
};

// AMD EPYC (Zen 3). Between cores that cross in 70 ns, large rows are best stored directly. Elements a cache
// line or more apart are best packed, because seconds later the cores may be far from each other. Times in us
// for the faces of 64^3 and 128^3 doubles:
// - rows: stored 4 to 8 and 17 to 24, pulled 8 to 10 and 24, staged 6 to 8 and 23 to 37
// - columns: staged 33 and 190, stored 31 to 34 and 184 to 391, pulled 33 to 39 and 187 to 829
// - columns between far cores: staged 34 and 140 to 180, stored 105 and 550
// - rows between cores that cross in 250 ns, with stores past the caches: staged 10 and 42 to 57, stored 14
//   to 18 and 40 to 44
constexpr std::array zen3_table{
    Cost{"shm", "staged", near, block_stride, 16384, 0.02, 0, 0.105},
    Cost{"shm", "direct", near, block_stride, 16384, 0.09, 0, 0.087},
    Cost{"shm", "direct", near, block_stride, 65536, 0.09, 0, 0.075},
    Cost{"shm", "pull", near, block_stride, 16384, 0.04, 0, 0.110},
    Cost{"shm", "pull", near, block_stride, 65536, 0.04, 0, 0.086},

    Cost{"shm", "staged", near, stride, 16384, 0, 4.1, 0},
    Cost{"shm", "direct", near, stride, 16384, 0, 5.4, 0},
    Cost{"shm", "pull", near, stride, 16384, 0, 5.6, 0},
    Cost{"shm", "staged", near, stride, 65536, 0, 6.0, 0},
    Cost{"shm", "direct", near, stride, 65536, 0, 9.0, 0},
    Cost{"shm", "pull", near, stride, 65536, 0, 18, 0},

    Cost{"shm", "staged", far, block, 4096, 0.3, 0, 0.10, Spacing::any, 0, 2},
    Cost{"shm", "direct", far, block, 8192, 1.0, 0, 0.043},
    Cost{"shm", "pull", far, block, 8192, 0.5, 0, 0.25},

    Cost{"shm", "staged", far, block_stride, 4096, 0.3, 5, 0.11},
    Cost{"shm", "staged", far, block_stride, 65536, 0.3, 5, 0.19},
    Cost{"shm", "direct", far, block_stride, 4096, 0.35, 10, 0.23},
    Cost{"shm", "direct", far, block_stride, 65536, 0.35, 10, 0.14},
    Cost{"shm", "pull", far, block_stride, 4096, 0.5, 0, 0.27},
};

// AMD EPYC (Zen 4), crossing 60 ns. The cores of a virtual machine wander, and may cross in 240 ns seconds
// after a commit. So the costs of strided puts are the mean of both distances: staged 23 and 45 us for the
// faces of 64^3 doubles, stored 20 and 119.
constexpr std::array zen4_table{
    Cost{"shm", "staged", near, block, 65536, 0, 0, 0.084, Spacing::any, 0, 2},
    Cost{"shm", "direct", near, block, 65536, 0, 0, 0.116, Spacing::any, 0, 2},
    Cost{"shm", "pull", near, block, 65536, 0, 0, 0.123, Spacing::any, 0, 2},

    Cost{"shm", "staged", near, block_stride, 65536, 0, 0, 0.11},
    Cost{"shm", "direct", near, block_stride, 65536, 0, 0, 0.25},
    Cost{"shm", "pull", near, block_stride, 65536, 0, 0, 0.20},

    Cost{"shm", "staged", near, stride, 16384, 0, 4.1, 0},
    Cost{"shm", "direct", near, stride, 16384, 0, 8.5, 0},
    Cost{"shm", "pull", near, stride, 16384, 0, 12, 0},
    Cost{"shm", "staged", near, stride, 65536, 0, 6.0, 0},
    Cost{"shm", "direct", near, stride, 65536, 0, 13, 0},
    Cost{"shm", "pull", near, stride, 65536, 0, 16, 0},
};

// Intel Xeon, crossing 130 to 200 ns. Elements of large faces are best moved once. The costs of rows are
// those of a virtual machine of 16 cores (family 6 model 207), with faces of 32^3 and 64^3 doubles: pulled
// 3.5 and 18 us, staged 5.4 and 14.6, stored 6.8 and 25. Two other Xeons, of two cores each, have the same
// order. At 128^3 they differ: pulled and stored 60 us on 16 cores and 49 to 53 on two (model 167), staged
// 82 and 34, which is their mean here, since over MPI these take 145 and 40.
constexpr std::array xeon_table{
    Cost{"shm", "staged", far, block_stride, 4096, 0.3, 5, 0.27},
    Cost{"shm", "staged", far, block_stride, 16384, 0.3, 5, 0.20},
    Cost{"shm", "staged", far, block_stride, 65536, 0, 5, 0.216},
    Cost{"shm", "direct", far, block_stride, 4096, 0.35, 10, 0.33},
    Cost{"shm", "direct", far, block_stride, 65536, 0, 0, 0.24},
    Cost{"shm", "pull", far, block_stride, 16384, 0.15, 10, 0.25},
    Cost{"shm", "pull", far, block_stride, 65536, 0, 0, 0.23},

    Cost{"shm", "staged", far, stride, 65536, 0, 9.2, 0},
    Cost{"shm", "direct", far, stride, 65536, 0, 6.0, 0},
    Cost{"shm", "pull", far, stride, 65536, 0, 5.9, 0},
};

}  // namespace

Processor processor_of(std::string_view hardware) {
  if (hardware.find("Xeon") != std::string_view::npos) return Processor::xeon;
  constexpr std::string_view family = ", family 25 model ";
  int model = -1;
  if (const auto at = hardware.find(family); at != std::string_view::npos && hardware.starts_with("AMD EPYC"))
    std::from_chars(hardware.data() + at + family.size(), hardware.data() + hardware.size(), model);
  // Zen 3: Milan (0x). Zen 4: Genoa (1x), Bergamo and Siena (Ax).
  if (model >= 0 && model / 16 == 0) return Processor::zen3;
  return model / 16 == 1 || model / 16 == 10 ? Processor::zen4 : Processor::other;
}

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

std::string_view to_string(Distance distance) {
  switch (distance) {
    case self:
      return "self";
    case near:
      return "near";
    case far:
      return "far";
  }
  return "?";
}

std::string_view to_string(Spacing spacing) {
  switch (spacing) {
    case Spacing::any:
      return "any";
    case Spacing::dense:
      return "dense";
    case Spacing::close:
      return "close";
    case Spacing::spread:
      return "spread";
    case Spacing::wide:
      return "wide";
    case Spacing::wide_aligned:
      return "wide-aligned";
    case Spacing::aliased:
      return "aliased";
    case Spacing::paged:
      return "paged";
    case Spacing::paged_aliased:
      return "paged-aliased";
  }
  return "?";
}

namespace {

// Returns the spacing of one side. The kinds `wide` and `wide_aligned` come from measurements on a virtual
// EPYC (Zen 4): pulling 512 runs of 16 or 32 bytes took 1.5 us if they are `wide`, otherwise 5.5 us.
// Storing runs of 32 bytes took half as long if they are `wide_aligned` as if they are a line or two apart.
Spacing spacing(std::uint64_t run, std::int64_t pitch) {
  const auto apart = static_cast<std::uint64_t>(std::abs(pitch));
  if (run < cache_line ? apart < cache_line / 2 : apart < run + cache_line) return Spacing::dense;
  if (apart < cache_line) return Spacing::close;
  const bool aliases = apart % aliasing == 0;
  if (apart >= page) return aliases ? Spacing::paged_aliased : Spacing::paged;
  if (aliases) return Spacing::aliased;
  if (run >= cache_line || apart < 4 * cache_line) return Spacing::spread;
  return apart % cache_line == 0 ? Spacing::wide_aligned : Spacing::wide;
}

}  // namespace

Spacing spacing(const base::Shape& shape) {
  if (shape.loop_count == 0) return Spacing::dense;
  return std::max(spacing(shape.run, shape.loops[0].to_pitch), spacing(shape.run, shape.loops[0].from_pitch));
}

// Runs shorter than a cache line cost a time per run, however many loops they sit in.
LayoutClass classify(const base::Shape& shape) {
  if (shape.loop_count == 0) return block;
  if (shape.run < cache_line) return shape.loop_count == 1 ? stride : subarray;
  return block_stride;
}

Distance distance(double cache_line_transfer_ns) { return cache_line_transfer_ns > near_ns ? far : near; }

// The maximum is needed because a piece is fitted between the measured sizes: a little below them its line
// may cross zero.
double Cost::predict_us(const base::Shape& shape) const {
  return std::max(0.0, setup_us + 1e-3 * (static_cast<double>(shape.runs()) * ns_per_run +
                                          static_cast<double>(shape.bytes()) * ns_per_byte));
}

std::span<const Cost> builtin_costs() { return table; }

std::span<const Cost> builtin_costs(Processor processor) {
  switch (processor) {
    case Processor::zen3:
      return zen3_table;
    case Processor::zen4:
      return zen4_table;
    case Processor::xeon:
      return xeon_table;
    case Processor::other:
      break;
  }
  return {};
}

const Cost* find_cost(std::span<const Cost> costs, std::string_view fabric, std::string_view protocol,
                      Distance distance, const base::Shape& shape, std::size_t puts) {
  // If sub-arrays were not measured, the costs of strides stand in: short runs cost a time per run, in
  // whatever loops they sit.
  const LayoutClass layout = classify(shape), otherwise = layout == subarray ? stride : layout;
  const Spacing apart = spacing(shape);
  const std::uint64_t bytes = shape.bytes();
  const auto closer = [&](const Cost& a, const Cost& b) {
    return std::tuple(a.layout == layout, a.spacing != Spacing::any, a.from_puts, a.from_run, a.from_bytes) >
           std::tuple(b.layout == layout, b.spacing != Spacing::any, b.from_puts, b.from_run, b.from_bytes);
  };
  const Cost* best = nullptr;
  for (const Cost& cost : costs) {
    const bool fits = cost.distance == distance && (cost.layout == layout || cost.layout == otherwise) &&
                      cost.from_bytes <= bytes && cost.from_run <= shape.run && cost.from_puts <= puts &&
                      (cost.spacing == apart || cost.spacing == Spacing::any) && cost.fabric == fabric &&
                      cost.protocol == protocol;
    if (fits && (best == nullptr || closer(cost, *best))) best = &cost;
  }
  return best;
}

}  // namespace tca::route
