// How an accelerator's memory takes part in messages of a fabric that cannot reach it: what is sent is gathered into memory of
// a stage first, and what has come is scattered from there.
//
// The accelerator's fabric makes a stage for a chain's messages, in host memory or, for a fabric that takes it, in its own;
// whoever begins a step has its bytes gathered and scattered, at once or ordered on a stream; and the fabric of the messages
// carries them from stage to stage, on a thread of its own: on a stream nobody but the accelerator knows when a step begins. The
// two sides meet in words of memory, each of which holds the number of a step and only grows; docs/protocols.md argues why that
// is right.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/shape.hpp"
#include "tca/stream.hpp"

namespace tca::fabric {

// What one rank sends another in a step of a chain, or receives.
struct StagedMessage {
  struct Piece {
    std::byte* memory;  // the accelerator's
    const base::Shape* shape;
  };
  int partner = 0;
  bool outgoing = false;
  std::vector<Piece> pieces;  // none: a bare signal
};

enum class StageMemory { host, accelerator };

class Stage {
 public:
  virtual ~Stage() = default;

  // Where a message lies in the stage's memory, in pieces that may go one after the other; both ends cut alike. A bare signal is
  // one chunk without bytes.
  using Chunks = std::vector<std::span<std::byte>>;
  virtual const Chunks& chunks(std::size_t message) const = 0;

  // For who begins steps. A gather begins the next step; it waits until the step before has left the stage. A scatter waits
  // for what comes. Without a stream the host follows: the call for one that would not have to wait.
  virtual void gather_on(Stream stream) = 0;
  virtual void scatter_on(Stream stream) = 0;
  virtual void gather() = 0;
  virtual void scatter() = 0;
  virtual bool scattered() const = 0;

  // For who carries the messages, on any one thread.
  virtual std::uint32_t begun() const = 0;  // the last step that was
  virtual bool gathered(std::size_t message, std::size_t chunk, std::uint32_t step) const = 0;
  virtual void has_come(std::size_t message, std::size_t chunk, std::uint32_t step) = 0;
  virtual void has_left(std::uint32_t step) = 0;  // everything of that step
  // What carries may still read and write the stage's memory when the stage goes: it stays.
  virtual void keep_memory() = 0;

  // For both: as the carrying thread has said.
  virtual bool all_come(std::size_t message, std::uint32_t step) const = 0;
  virtual bool all_left(std::uint32_t step) const = 0;
};

class Stager {
 public:
  virtual ~Stager() = default;
  // Waits on the accelerator give up after `time_limit`, and then name the chain.
  virtual std::unique_ptr<Stage> make_stage(std::string chain, std::span<const StagedMessage> messages,
                                            StageMemory memory, std::chrono::milliseconds time_limit) = 0;
  // Whether `carry` gets bytes from one place of the accelerator's memory to another: it is tried, and looked at.
  using Carry = std::function<void(std::byte* to, const std::byte* from, std::size_t bytes)>;
  virtual bool can_be_carried(const Carry& carry) = 0;
  // Called first by the thread that carries.
  virtual void bind_thread() = 0;
  // A few bytes to the accelerator's memory, from any one thread; done when it returns.
  virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
};

}  // namespace tca::fabric
