// Ways to run a body as the ranks of a world.
#ifndef TESTS_BINDINGS_C_RANKS_H
#define TESTS_BINDINGS_C_RANKS_H

#include "tca/tca.h"

typedef enum way { THREADS, PROCESSES, SIM } way;

// Returns whether every rank has returned TCA_OK.
int run_ranks(way how, int ranks, tca_rank_body body, void* context);

// Of random numbers, the same on every rank; printed when a test fails.
extern unsigned seed;
// Returns a number from 0 to `below` - 1.
int64_t random_below(unsigned* state, int64_t below);

// The tests: each returns whether it has passed.
int test_puts(way how);
int test_counted(way how);
int test_posts(way how);
int test_halos(way how);
int test_collectives(way how);
int test_worlds(way how);
int test_refusals(way how);
int test_handles(way how);
int test_versions(way how);
int test_deaths(way how);

#endif
