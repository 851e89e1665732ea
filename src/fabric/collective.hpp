// The interfaces through which a fabric takes part in collectives: a Collective is a whole one that the
// fabric runs in place of chains, a Fold combines what chains have delivered to an accelerator's memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tca/device/window.hpp"
#include "tca/stream.hpp"
#include "tca/types.hpp"

namespace tca::control {
class Members;
}

namespace tca::fabric {

// The type of the elements that are combined, and the operation.
struct Reduction {
  DataType type;
  ReduceOp op;
};

// Whether kernels combine such elements.
constexpr bool in_kernels(DataType type) { return type <= DataType::int64; }

// Describes a collective; the same on every rank.
struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::barrier;
  int ranks = 1, root = 0;
  std::uint64_t block_bytes = 0;  // a block; for broadcast and all_reduce, the whole
  std::uint64_t element_bytes = 1;
  bool in_place = false;
  std::optional<Reduction> reduction;  // only for a collective that combines
};

// One way in which a fabric can run a collective.
struct CollectiveWay {
  std::string_view name;
  double predicted_us;
};

struct CollectiveTask {
  CollectiveSpec spec;
  const control::Members& members;  // whose numbering windows use for their parts
  std::string_view way;
  std::string_view name;                           // for error messages
  const DeviceWindow<std::byte>* input = nullptr;  // null for a barrier, and so is the output
  const DeviceWindow<std::byte>* output = nullptr;
  std::uint64_t input_offset = 0;  // where the input begins, in bytes into this rank's part
  std::chrono::milliseconds time_limit{30'000};
};

// A rank's share of a collective that the fabric runs. As with a chain, each step is started and then
// waited for, by the host or on a stream, and steps of both kinds may be mixed.
class Collective {
 public:
  virtual ~Collective() = default;

  // For steps that the host starts. `start` does not block. Nor does `test`: it advances the step and
  // returns whether it has finished.
  virtual void start() = 0;
  virtual bool test() = 0;

  // These order a step on an accelerator's stream. The host neither waits nor learns when the step is done.
  // `run_on` is a start and a wait in one.
  virtual void start_on(Stream stream) = 0;
  virtual void wait_on(Stream stream) = 0;
  virtual void run_on(Stream stream) = 0;
};

// What a rank combines by itself after a round of chains: into = operands[0] op operands[1] op ..., from
// the left, element by element. `into` is one of the operands or overlaps none of them. A single operand is
// copied, without a reduction.
struct FoldTask {
  std::optional<Reduction> reduction;
  std::byte* into = nullptr;
  std::span<const std::byte* const> operands;
  std::uint64_t bytes = 0;
};

class Fold {
 public:
  virtual ~Fold() = default;
  virtual void run() = 0;  // returns once the result is there
  virtual void run_on(Stream stream) = 0;
};

}  // namespace tca::fabric
