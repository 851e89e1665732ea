/* The constants and types of NVSHMEM, with its values, and the lists of types that calls come in. */
#ifndef TCA_NVSHMEM_TYPES_H
#define TCA_NVSHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3
#define NVSHMEM_VENDOR_STRING "OpenTCA"
#define NVSHMEM_MAX_NAME_LEN 256

enum { NVSHMEM_CMP_EQ, NVSHMEM_CMP_NE, NVSHMEM_CMP_GT, NVSHMEM_CMP_LE, NVSHMEM_CMP_LT, NVSHMEM_CMP_GE };
enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 };
enum { NVSHMEM_THREAD_SINGLE, NVSHMEM_THREAD_FUNNELED, NVSHMEM_THREAD_SERIALIZED, NVSHMEM_THREAD_MULTIPLE };

/* The last two have the PEs of one host, which are all where there is one; each has its own collectives. */
typedef int32_t nvshmem_team_t;
enum { NVSHMEM_TEAM_INVALID = -1, NVSHMEM_TEAM_WORLD = 0, NVSHMEM_TEAM_SHARED = 1, NVSHMEMX_TEAM_NODE = 2 };

enum { NVSHMEMX_INIT_WITH_MPI_COMM = 1 << 1, NVSHMEMX_INIT_WITH_UNIQUEID = 1 << 3 };

typedef struct {
  int version;
  char internal[124];
} nvshmemx_uniqueid_t;

typedef struct {
  int version;
  nvshmemx_uniqueid_t* id;
  int myrank, nranks;
} nvshmemx_uniqueid_args_t;

typedef struct {
  int version;
  nvshmemx_uniqueid_args_t uid_args;
} nvshmemx_init_args_t;

typedef struct {
  int version;
  void* mpi_comm; /* an MPI_Comm* */
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_t;

/* How numbers are added. Signed and unsigned integers have the same sums. */
enum tca_nvshmem_kind { tca_nvshmem_float32, tca_nvshmem_float64, tca_nvshmem_word32, tca_nvshmem_word64 };

/* clang-format off */
#define NVSHMEMX_UNIQUEID_INITIALIZER {1, {0}}
#define NVSHMEMX_INIT_ATTR_INITIALIZER {1, NULL, {1, {1, NULL, -1, -1}}}

/* X(name, type) */
#define TCA_NVSHMEM_WAIT_TYPES(X) \
  X(short, short) X(int, int) X(long, long) X(longlong, long long) X(ushort, unsigned short) X(uint, unsigned int) \
  X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) \
  X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define TCA_NVSHMEM_RMA_TYPES(X) \
  TCA_NVSHMEM_WAIT_TYPES(X) X(float, float) X(double, double) X(char, char) X(schar, signed char) \
  X(uchar, unsigned char) X(int8, int8_t) X(int16, int16_t) X(uint8, uint8_t) X(uint16, uint16_t)
/* X(name, type, kind) */
#define TCA_NVSHMEM_SUM_TYPES(X) \
  X(int, int, tca_nvshmem_word32) X(uint, unsigned int, tca_nvshmem_word32) X(int32, int32_t, tca_nvshmem_word32) \
  X(uint32, uint32_t, tca_nvshmem_word32) X(long, long, tca_nvshmem_word64) X(longlong, long long, tca_nvshmem_word64) \
  X(ulong, unsigned long, tca_nvshmem_word64) X(ulonglong, unsigned long long, tca_nvshmem_word64) \
  X(int64, int64_t, tca_nvshmem_word64) X(uint64, uint64_t, tca_nvshmem_word64) X(size, size_t, tca_nvshmem_word64) \
  X(ptrdiff, ptrdiff_t, tca_nvshmem_word64) X(float, float, tca_nvshmem_float32) X(double, double, tca_nvshmem_float64)
/* clang-format on */

#endif
