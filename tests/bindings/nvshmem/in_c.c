/* The host's calls in C. */
#include <nvshmem.h>
#include <nvshmemx.h>

int main(void) {
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_get_uniqueid(&id);
  nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attributes);
  if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) return 1;
  double* const values = nvshmem_malloc(2 * sizeof(double));
  nvshmem_double_p(values, 1.5, nvshmem_my_pe());
  nvshmem_double_sum_reduce(NVSHMEM_TEAM_WORLD, values + 1, values, 1);
  const int good = nvshmem_double_g(values + 1, 0) == 1.5;
  nvshmem_free(values);
  nvshmem_finalize();
  return good ? 0 : 1;
}
