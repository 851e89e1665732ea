// What a fabric does for collectives: it runs whole ones in place of chains, and combines what chains have brought to an
// accelerator's memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tca/device_window.hpp"
#include "tca/stream.hpp"

namespace tca::fabric {

enum class Pattern : std::uint8_t { barrier, broadcast, all_gather, all_reduce, reduce_scatter, all_to_all };

// What is combined, and how.
enum class Number : std::uint8_t { float32, float64, int32, int64 };
enum class Combination : std::uint8_t { sum, min, max, product };
struct Reduction {
  Number number;
  Combination combination;
};

// What every rank says alike.
struct CollectiveKind {
  Pattern pattern = Pattern::barrier;
  int ranks = 1, root = 0;
  std::uint64_t block_bytes = 0;  // what one rank gives to one other, or gets
  std::uint64_t element_bytes = 1;
  bool in_place = false;
  std::optional<Reduction> reduction;  // of those that combine
};

// A fabric's own way of running one.
struct CollectiveWay {
  std::string_view name;
  double predicted_us;
};

struct CollectiveTask {
  CollectiveKind kind;
  std::string_view way;
  std::string_view name;                           // in messages
  const DeviceWindow<std::byte>* input = nullptr;  // null for a barrier, as is the output
  const DeviceWindow<std::byte>* output = nullptr;
  std::uint64_t input_offset = 0;  // bytes: where this rank's input begins in its part
  std::chrono::milliseconds time_limit{30'000};
};

// A rank's share. Steps are those of a chain: started, then waited for, by the host or on a stream, in any mixture.
class Collective {
 public:
  virtual ~Collective() = default;

  // By the host. `start` does not block; `test` moves the step on, without blocking, and is true once it has finished.
  virtual void start() = 0;
  virtual bool test() = 0;

  // Ordered on an accelerator's stream: the host neither waits nor learns when it is done. A run is both in one.
  virtual void start_on(Stream stream) = 0;
  virtual void wait_on(Stream stream) = 0;
  virtual void run_on(Stream stream) = 0;
};

// What a rank combines by itself behind a round of chains: into = operands[0] op operands[1] op ..., from the left, element
// by element. `into` may be one of the operands; it overlaps none otherwise. With one operand: a copy, without a reduction.
struct FoldTask {
  std::optional<Reduction> reduction;
  std::byte* into = nullptr;
  std::span<const std::byte* const> operands;
  std::uint64_t bytes = 0;
};

class Fold {
 public:
  virtual ~Fold() = default;
  virtual void run() = 0;  // done when it returns
  virtual void run_on(Stream stream) = 0;
};

}  // namespace tca::fabric
