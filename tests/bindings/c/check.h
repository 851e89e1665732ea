// What the tests of the C interface say when something is wrong.
#ifndef TESTS_BINDINGS_C_CHECK_H
#define TESTS_BINDINGS_C_CHECK_H

#include <stdio.h>
#include <string.h>

#include "tca/tca.h"

// Ends the body of a rank, or a function that a body calls by TRY, where something does not hold.
#define REQUIRE(holds, ...)                                       \
  do {                                                            \
    if (!(holds)) {                                               \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #holds); \
      fprintf(stderr, __VA_ARGS__);                               \
      fprintf(stderr, "\n");                                      \
      return TCA_INTERNAL;                                        \
    }                                                             \
  } while (0)

// A call that must succeed.
#define TRY(call)                                                                                   \
  do {                                                                                              \
    const tca_status status_ = (call);                                                              \
    if (status_ != TCA_OK) {                                                                        \
      fprintf(stderr, "%s:%d: %s is %s: %s\n", __FILE__, __LINE__, #call, tca_status_name(status_), \
              tca_last_message());                                                                  \
      return status_;                                                                               \
    }                                                                                               \
  } while (0)

// A call that must fail, with a message that has these words.
#define EXPECT(call, expected, words)                                                             \
  do {                                                                                            \
    const tca_status status_ = (call);                                                            \
    REQUIRE(status_ == (expected), "it is %s: %s", tca_status_name(status_), tca_last_message()); \
    REQUIRE(strstr(tca_last_message(), (words)) != NULL, "'%s' is not in '%s'", (words),          \
            tca_last_message());                                                                  \
  } while (0)

#endif
