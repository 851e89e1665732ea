// Compiles a rank's share of a chain into work for its kernels and copy engines.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/cuda/compile/times.hpp"
#include "fabric/cuda/kernels.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/fabric.hpp"
#include "tca/device/produced.hpp"

namespace tca::cuda {

// One pitched copy of a copy engine; `rows` of `bytes` each.
struct PitchedCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t to_pitch, from_pitch, bytes, rows;
};

// Whether a copy engine moves such a shape in a few commands.
bool fits_copy_engine(const base::Shape& shape);

struct Compiled {
  explicit Compiled(Inbox& inbox) : room(inbox) {}

  DeviceProducedChain chain;
  std::vector<int> partners;  // by link
  std::vector<PitchedCopy> copies;
  TimedLengths lengths;
  std::vector<const std::uint64_t*> sent_lengths;  // where the host has set the lengths in `lengths.sent`
  bool waits_for_permission = false;               // the copies wait for the partners' permission
  bool lands_on_host = false;                      // some of what arrives is for a window in host memory
  // The number of segments of the puts that kernels store in place, and the narrowest atom among them
  // (bytes).
  Word stored_segments = 0, narrowest_atom = 16;
  // Pinned words that tell the host how far its own steps have got.
  Word* done = nullptr;         // the ticket of the last step that has finished
  Word* engine_done = nullptr;  // the number of the last command that the resident engine has finished
  Word* outcome = nullptr;      // how far the last attempt got; 0 while it is under way
  // For a timed chain: the view for kernels that take times, and what they have recorded.
  std::optional<DeviceTimedChain> timed;
  std::unique_ptr<RecordedTimes> times;
  Room room;
};

// Returns the offer of a rank's share: room in its inbox. `id` is not 0. Binding meets the others once
// more, since tables may no longer fit, or the GPU may fail, on one rank alone; `finish` makes the program
// that the rank will start.
using Finish = std::function<std::unique_ptr<fabric::Program>(std::unique_ptr<Compiled>)>;
std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share, Word id, control::Control& control,
                                     Inbox& inbox, cudaStream_t stream, HostCopier& copier, Finish finish);

// Gives a chain as many blocks as it has work for, at most `limit`: a warp for each chunk of packets, a
// block for each segment of stores.
Grid grid_for(Word chunks, Word segments, unsigned limit);

}  // namespace tca::cuda
