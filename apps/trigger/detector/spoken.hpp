// What a detector's process and the one that has started it say to each other.
#pragma once

namespace tca::trigger {

inline constexpr char ready = 'r';  // to the rank: the events are there
inline constexpr char go = 'g';     // to the detector: send

}  // namespace tca::trigger
