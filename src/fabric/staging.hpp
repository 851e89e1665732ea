// The interface through which a fabric of messages moves an accelerator's memory that it cannot reach: what
// is sent is first gathered into a stage's memory, and what has arrived is scattered from there.
//
//   - The accelerator's fabric makes a stage for the messages of a chain, in host memory or, for a fabric
//     that accepts it, in the accelerator's own memory.
//   - The rank that begins a step has its bytes gathered and scattered, at once or ordered on a stream.
//   - The fabric of the messages carries them from stage to stage, on its own thread, because only the
//     accelerator knows when a step on a stream begins.
//
// The two sides communicate through words of memory, each of which holds a step number and only grows.
// docs/protocols.md argues why this is right.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/layout/shape.hpp"
#include "tca/stream.hpp"

namespace tca::fabric {

// What a rank sends to one partner in a step of a chain, or receives from it.
struct StagedMessage {
  struct Piece {
    std::byte* memory;  // the accelerator's
    const base::Shape* shape;
  };
  int partner = 0;
  bool outgoing = false;
  std::vector<Piece> pieces;  // empty for a bare signal
};

enum class StageMemory { host, accelerator };

class Stage {
 public:
  virtual ~Stage() = default;

  // Where a message lies in the stage's memory, cut into chunks that may be carried one after another; both
  // ends cut in the same places. A bare signal is one chunk without bytes.
  using Chunks = std::vector<std::span<std::byte>>;
  virtual const Chunks& chunks(std::size_t message) const = 0;

  // For the side that begins steps. A gather begins the next step; it waits until the previous step has
  // left the stage. A scatter waits for arrivals. The two without a stream are for the host's steps, which
  // calls each only when it would not have to wait; `scattered` tells when the scatter is done.
  virtual void gather_on(Stream stream) = 0;
  virtual void scatter_on(Stream stream) = 0;
  virtual void gather() = 0;
  virtual void scatter() = 0;
  virtual bool scattered() const = 0;

  // For the side that carries the messages, on any one thread.
  virtual std::uint32_t begun() const = 0;  // the last step that has begun
  virtual bool gathered(std::size_t message, std::size_t chunk, std::uint32_t step) const = 0;
  virtual void mark_received(std::size_t message, std::size_t chunk, std::uint32_t step) = 0;
  virtual void mark_sent(std::uint32_t step) = 0;  // all of that step has been sent
  // Leaves the memory allocated when the stage is destroyed, since the carrier may still read and write it.
  virtual void keep_memory() = 0;

  // For both sides: what the carrying thread has reported.
  virtual bool all_received(std::size_t message, std::uint32_t step) const = 0;
  virtual bool all_sent(std::uint32_t step) const = 0;
};

class Stager {
 public:
  virtual ~Stager() = default;
  // Waits on the accelerator give up after `time_limit`; the error names the chain.
  virtual std::unique_ptr<Stage> make_stage(std::string chain, std::span<const StagedMessage> messages,
                                            StageMemory memory, std::chrono::milliseconds time_limit) = 0;
  // Returns whether `carry` copies bytes from one place in the accelerator's memory to another. This tries
  // it and compares the result.
  using Carry = std::function<void(std::byte* to, const std::byte* from, std::size_t bytes)>;
  virtual bool can_be_carried(const Carry& carry) = 0;
  // Called by the carrying thread before anything else.
  virtual void bind_thread() = 0;
  // Copy a shape between memory, which may be the accelerator's or the host's, and a row of host memory;
  // done when they return. Called by the rank's own thread.
  virtual void gather(std::byte* row, const std::byte* from, const base::Shape& shape) = 0;
  virtual void scatter(std::byte* to, const std::byte* row, const base::Shape& shape) = 0;
  // Writes a few bytes to the accelerator's memory, from any one thread; done when it returns.
  virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
};

}  // namespace tca::fabric
