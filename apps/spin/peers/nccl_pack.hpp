// Packs cells of a colour into a buffer, and unpacks them, with one kernel each.
#pragma once

#include <cuda_runtime.h>

#include "spin/gpu/sites.hpp"

namespace tca::spin {

template <class Real>
cudaError_t launch_pack(const Sites<Real>& sites, const Cells& cells, Word colour, Vector<Real>* buffer,
                        cudaStream_t stream);
template <class Real>
cudaError_t launch_unpack(const Sites<Real>& sites, const Cells& cells, Word colour,
                          const Vector<Real>* buffer, cudaStream_t stream);

}  // namespace tca::spin
