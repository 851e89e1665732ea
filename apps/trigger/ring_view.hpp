// A ring of slots as those see it who answer what is in it. Callable on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trigger/datagram.hpp"

namespace tca::trigger {

// Words by which the host and whoever answers talk, each on a line of its own.
struct Signals {
  alignas(64) std::uint64_t filled;  // modulo 2^32, and in the upper half how many events these have
  alignas(64) std::uint32_t answered;
  alignas(64) std::uint32_t stop;
  alignas(64) std::uint32_t watched;  // 1: a kernel is there that watches the ring
};

// Where a ring is, for the host or for a kernel.
struct RingView {
  std::byte* slots;
  Answer* answers;  // `batch` a slot
  Signals* signals;
  std::uint64_t slot_bytes;
  std::uint32_t size, batch;

  TCA_DEVICE Header* header(std::uint64_t slot) const {
    return reinterpret_cast<Header*>(slots + slot % size * slot_bytes);
  }
  TCA_DEVICE Answer* answers_of(std::uint64_t slot) const { return answers + slot % size * batch; }
};

}  // namespace tca::trigger
