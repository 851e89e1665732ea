/* The extensions nvshmemx_...; they come with the rest. */
#ifndef TCA_NVSHMEMX_H
#define TCA_NVSHMEMX_H

#include "nvshmem.h"

#endif
