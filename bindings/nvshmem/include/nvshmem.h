/* NVSHMEM's calls on OpenTCA: those of them that are here, by their names and with their meaning. docs/nvshmem.md has the list.
 *
 * Kernels make these calls in translation units that nvcc compiles with -rdc=true; the host from any C or C++. Every PE is a
 * process with a GPU, and the GPUs of a host reach each other's memory. A call that is not here does not compile.
 */
#ifndef TCA_NVSHMEM_H
#define TCA_NVSHMEM_H

#include "tca_nvshmem/host.h"
#if defined(__CUDACC__)
#if defined(__CUDACC_RDC__)
#include "tca_nvshmem/kernel.cuh"
#else
#define TCA_NVSHMEM_HOST_ONLY /* kernels' calls are linked on the device: nvcc -rdc=true */
#endif
#endif
#include "tca_nvshmem/both.h"
#include "tca_nvshmem/missing.h"

#endif
