#define _POSIX_C_SOURCE 200809L
#include "ranks.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned seed;

int64_t random_below(unsigned* state, int64_t below) {
  *state = *state * 1664525u + 1013904223u;
  return (int64_t)(*state >> 8) % below;
}

// Processes that find each other by a key.
static int run_processes(int ranks, tca_rank_body body, void* context) {
  static int worlds = 0;
  char key[64];
  snprintf(key, sizeof key, "c-test.%d.%d", (int)getpid(), worlds++);
  fflush(NULL);
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    tca_world_options options = TCA_WORLD_OPTIONS_INIT;
    tca_world* world;
    options.time_limit = 20;
    tca_status status = tca_world_join(rank, ranks, key, &options, &world);
    if (status != TCA_OK) fprintf(stderr, "rank %d: %s\n", rank, tca_last_message());
    if (status == TCA_OK) status = body(world, context);
    if (status == TCA_OK) status = tca_world_free(world);
    fflush(NULL);
    _exit((int)status);
  }
  int passed = 1, how = 0;
  for (int rank = 0; rank < ranks; ++rank) passed &= wait(&how) > 0 && how == 0;
  return passed;
}

int run_ranks(way how, int ranks, tca_rank_body body, void* context) {
  if (how == PROCESSES) return run_processes(ranks, body, context);
  tca_world_options options = TCA_WORLD_OPTIONS_INIT;
  options.time_limit = 20;
  options.fabric = how == SIM ? "sim" : "shm";
  const tca_status status = tca_world_run_threads(ranks, body, context, &options);
  if (status != TCA_OK) fprintf(stderr, "%s: %s\n", tca_status_name(status), tca_last_message());
  return status == TCA_OK;
}
