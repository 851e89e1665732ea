/// @file
/// A queue of work on an accelerator, in which steps may be ordered. A `cudaStream_t` is one, but naming a
/// Stream needs no vendor's header.
#pragma once

#include "tca/detail/language.hpp"

struct CUstream_st;

namespace tca {

using Stream = CUstream_st*;

}  // namespace tca
