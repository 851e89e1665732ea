// What kernels know of the PEs; the host tells them.
#ifndef TCA_NVSHMEM_STATE_H
#define TCA_NVSHMEM_STATE_H

#include "types.h"

namespace tca_nvshmem {

enum { max_pes = 72 };  // as many GPUs as one NVLink switch domain joins

enum { elsewhere = 1 };  // in place of the distance to a heap on another host; distances are even

struct State {
  int pe, pes;
  int near;    // `pes` where all of them are on this host, otherwise 0: kernels then look each one up
  char* heap;  // this PE's symmetric memory
  unsigned long long bytes;
  long long apart[max_pes];  // from an address in this PE's heap to the same one in that of each PE
  // Of the PEs on this host: this one's number there, how many there are, which they are, and their heaps; and the number
  // of each PE there, or -1.
  int node_pe, node_pes;
  int node[max_pes];
  long long node_apart[max_pes];
  int in_node[max_pes];
};

}  // namespace tca_nvshmem

#endif
