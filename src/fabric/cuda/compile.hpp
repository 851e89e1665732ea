// From a rank's share of a chain to what its kernels and copy engines do.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fabric/cuda/host_copier.hpp"
#include "fabric/cuda/inbox.hpp"
#include "fabric/cuda/kernels.hpp"
#include "fabric/fabric.hpp"

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

  DeviceChain chain;
  std::vector<int> partners;  // by link
  std::vector<PitchedCopy> copies;
  bool waits_for_permission = false;  // before the copies
  // Of the puts that kernels store in place: how many segments they have, and the narrowest atom.
  Word stored_segments = 0, narrowest_atom = 16;
  // Pinned, by which the host hears of what it started: the ticket of the last step that has finished; the number of the last that
  // the resident engine has; of the last attempt how far it came, 0 while it is under way.
  Word *done = nullptr, *rung_done = nullptr, *outcome = nullptr;
  Room room;
};

// Collective over the ranks that share the chain. `id` is not 0. `finish` makes of it what the rank will start: where one rank
// cannot, none goes on.
void compile(const fabric::Share& share, Word id, fabric::Control& control, Inbox& inbox, cudaStream_t stream,
             HostCopier& copier, const std::function<void(std::unique_ptr<Compiled>)>& finish);

// As many blocks as there is work for, a warp for each chunk of lines and a block for each segment of stores, at most `limit`.
Grid grid_for(Word chunks, Word segments, unsigned limit);

}  // namespace tca::cuda
