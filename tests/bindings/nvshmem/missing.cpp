// A call that OpenTCA does not have of NVSHMEM.
#include <nvshmem.h>

void count(int* here) { nvshmem_int_atomic_add(here, 1, 0); }
