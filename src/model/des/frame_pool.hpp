// Allocates memory for coroutine frames. A frame that ends leaves its memory to the next one of its size.
#pragma once

#include <cstddef>

namespace tca::des {

void* take_frame(std::size_t bytes);
void leave_frame(void* frame, std::size_t bytes) noexcept;

}  // namespace tca::des
