// What the last block of a region with reductions does with their results: it takes them to the other ranks and to the
// host, in the same kernel.
#pragma once

#include <cuda_runtime.h>

#include <optional>

#include "tca/team.hpp"
#include "tca/xacc/meeting.hpp"
#include "tca/xacc/runtime.h"

namespace tca::xacc {

class Reductions {
 public:
  ~Reductions();

  // Whether a kernel with so many threads a block reduces its results among ranks by itself, where they ask for it:
  // numbers of four or eight bytes, of all ranks. The first time it is collective over these.
  bool meets_others(const xacc_launch& how, unsigned threads);
  // For the next launch; `scratch` is that of its queue.
  xacc_meeting_of_ranks prepare(const xacc_launch& how, void* scratch, bool meets_others);
  // Waits until the launch that was prepared last has told its results, and stores them. Throws Error where the stream
  // has failed.
  void collect(const xacc_launch& how, cudaStream_t stream);

  static bool has_over(const xacc_launch& how);

 private:
  static bool wants_told(const xacc_launch& how);
  device::Packet await(int result, cudaStream_t stream) const;

  device::Packet* told_ = nullptr;  // pinned
  int room_ = 0;                    // results
  device::Word launch_ = 0;
  std::optional<Team> team_;
  bool has_looked_ = false;  // whether there is a team
};

}  // namespace tca::xacc
