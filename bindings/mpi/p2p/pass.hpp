// Serves a call, or leaves it to MPI.
#pragma once

#include <memory>
#include <new>
#include <stdexcept>

#include "mpi/hook.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/tally.hpp"

namespace tca::interposer {

// `work` may find no memory, and elements that no MPI packs.
template <class Work>
int guarded(const Channel& channel, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return channel.fail(MPI_ERR_NO_MEM);
  } catch (const std::length_error&) {
    return channel.fail(MPI_ERR_COUNT);
  }
}

template <Call call, class Pass, class Work>
int serve_or_pass(const std::shared_ptr<Channel>& channel, bool is_served, const Pass& pass,
                  const Work& work) {
  if (!is_served) {
    tally.count(call, channel == nullptr ? Way::communicator : Way::type);
    return pass();
  }
  tally.count(call, Way::served);
  return guarded(*channel, work);
}

}  // namespace tca::interposer
