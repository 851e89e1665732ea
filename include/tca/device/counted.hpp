/// @file
/// The two ends of a counted put as kernels see them, passed by value:
///
///     __global__ void step(const __grid_constant__ tca::DeviceChain chain, tca::DeviceCountedPut sent,
///                          tca::DeviceCountedArrival come, ...) {
///       tca::BlockChain steps(chain);
///       const unsigned n = pack(...);
///       if (threadIdx.x == 0) sent.set(n);      // before the start, like the elements
///       steps.start();
///       if (!steps.wait()) return;
///       unpack(..., come.count());              // after the wait, like the elements
///     }
///     step<<<1, threads>>>(chain.device(), sent.device(), come.device(), ...);
///
/// A length is one more word that is sent and that arrives: code that may store and read the elements may
/// set the length and read the count. With a BlockChain of several blocks each block sets it, all to the
/// same; with a GridChain one thread does. On a stream, or in a CUDA graph, any kernel before the chain's
/// start may.
#pragma once

#include <cstdint>

#include "tca/device/mistakes.hpp"

namespace tca {

namespace device {

// Stands for an impossible length: a step that finds it sends nothing, and fails.
inline constexpr Word no_length = ~Word{0};

// One end of a counted put. Lengths are in elements.
struct Counted {
  Word* length = nullptr;        // in this GPU's memory: of the next step, or of the last one that has come
  const Word* landed = nullptr;  // at the receiver: the same in pinned memory, of steps that the host ordered
  const ElementCheck* check = nullptr;  // at the sender, in device memory
  Word capacity = 0;
  Word unit = 1;  // lengths are multiples of it
  Word link = 0;
};

}  // namespace device

/// The sending end.
struct DeviceCountedPut : device::Counted {
  /// Sets the length of the steps that are started from here on, whatever starts them, 0 to the capacity.
  /// An impossible one sends nothing, ends the chain's waits and makes the host throw
  /// Error{invalid_argument}; returns false then.
  TCA_DEVICE bool set(std::uint64_t elements) const {
    using namespace device;
    const bool fits = elements <= capacity;
    if (fits && (unit == 1 || static_cast<Word>(elements) % unit == 0)) {
      *in_global_memory(length) = static_cast<Word>(elements);
      return true;
    }
    *in_global_memory(length) = no_length;
    const Word told = elements < no_length ? static_cast<Word>(elements) : no_length;
    ElementChecks::tell(check, fits ? Mistake::uneven : Mistake::too_long, told, fits ? unit : capacity, link,
                        0);
    return false;
  }
};

/// The receiving end.
struct DeviceCountedArrival : device::Counted {
  /// Returns how many elements have arrived with the last step.
  TCA_DEVICE device::Word count() const { return *device::in_global_memory(length); }
};

}  // namespace tca
