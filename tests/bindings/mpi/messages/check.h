/* What the programs of this folder say of a condition that does not hold. */
#include <stdio.h>

static int rank, wrong;

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition); \
      wrong = 1;                                                                     \
    }                                                                                \
  } while (0)
