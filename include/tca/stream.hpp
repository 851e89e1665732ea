// A queue of work on an accelerator, as a chain is ordered in. A `cudaStream_t` is one; no vendor's header is needed to
// name it.
#pragma once

struct CUstream_st;

namespace tca {

using Stream = CUstream_st*;

}  // namespace tca
