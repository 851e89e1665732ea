// What kernels know of the PEs; the host tells them.
#ifndef TCA_NVSHMEM_STATE_H
#define TCA_NVSHMEM_STATE_H

#include "types.h"

namespace tca_nvshmem {

enum { max_pes = 72 };  // as many GPUs as one NVLink switch domain joins

struct State {
  int pe, pes;
  char* heap;  // this PE's symmetric memory
  unsigned long long bytes;
  long long apart[max_pes];  // from an address in this PE's heap to the same one in that of each PE
};

}  // namespace tca_nvshmem

#endif
