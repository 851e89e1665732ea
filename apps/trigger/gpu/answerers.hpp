// Answers by a GPU, which reads the ring in the host's memory and writes the answers there.
#pragma once

#include <memory>

#include "tca/world.hpp"
#include "trigger/answerer.hpp"

namespace tca::trigger {

// The ring outlives them. They throw Error{device_failed} where the GPU is too small, or fails.
//
// A kernel is there all the time and watches the ring.
std::unique_ptr<Answerer> resident_answerer(World& world, SlotRing& ring, const Gather& gather,
                                            float resolution);
// The host launches a kernel for each batch.
std::unique_ptr<Answerer> launching_answerer(World& world, SlotRing& ring, const Gather& gather,
                                             float resolution);

}  // namespace tca::trigger
