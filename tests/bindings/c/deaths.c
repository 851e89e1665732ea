// A rank that dies, is late, or is not the one that was expected, as the others see it in `wait`.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "ranks.h"

// Signals between two ranks.
static tca_status make_chain(tca_world* world, const tca_chain_options* options, int* me, tca_chain** chain) {
  TRY(tca_world_rank(world, me));
  TRY(tca_chain_create(world, "pulse", options, chain));
  TRY(tca_chain_signal(*chain, 1 - *me));
  TRY(tca_chain_expect(*chain, 1 - *me));
  TRY(tca_chain_commit(*chain));
  return tca_chain_run(*chain);
}

static tca_status check_missing(tca_status status) {
  tca_error error = TCA_ERROR_INIT;
  TRY(tca_last_error(&error));
  REQUIRE(error.status == (int)status && error.rank == 0 && strcmp(error.chain, "pulse") == 0, "%s",
          error.message);
  REQUIRE(error.missing_count == 1 && error.missing[0] == 1, "%d ranks are missing: %s", error.missing_count,
          error.message);
  REQUIRE(error.has_step && error.step == 2, "step %lld: %s", (long long)error.step, error.message);
  return TCA_OK;
}

// By a signal, Ctrl-C's for instance, or without.
static tca_status dies(tca_world* world, void* context) {
  int me;
  tca_chain* chain;
  TRY(make_chain(world, NULL, &me, &chain));
  if (me == 1) {
    raise(*(int*)context);
    _exit(0);
  }
  TRY(tca_chain_start(chain));
  if (*(int*)context) {
    EXPECT(tca_chain_wait(chain), TCA_RANK_LOST, "rank 1");
  } else {
    tca_status status = TCA_UNFINISHED;
    while (status == TCA_UNFINISHED) status = tca_chain_wait_for(chain, 0.05);
    REQUIRE(status == TCA_RANK_LOST, "it is %s", tca_status_name(status));
  }
  TRY(check_missing(TCA_RANK_LOST));
  return tca_chain_free(chain);
}

// Rank 1 starts once rank 0 has given up waiting; the step then goes on.
static tca_status is_late(tca_world* world, void* context) {
  const int* const ends = context;
  char byte = 0;
  int me;
  tca_chain* chain;
  tca_chain_options options = TCA_CHAIN_OPTIONS_INIT;
  options.time_limit = 0.2;
  TRY(make_chain(world, &options, &me, &chain));
  if (me == 1) {
    REQUIRE(read(ends[0], &byte, 1) == 1, "the pipe is closed");
    return tca_chain_run(chain);
  }
  TRY(tca_chain_start(chain));
  REQUIRE(tca_chain_test(chain) == TCA_UNFINISHED, "the step has finished");
  EXPECT(tca_chain_wait(chain), TCA_TIMED_OUT, "pulse");
  TRY(check_missing(TCA_TIMED_OUT));
  REQUIRE(write(ends[1], &byte, 1) == 1, "the pipe is closed");
  tca_status status = TCA_TIMED_OUT;
  while (status == TCA_TIMED_OUT) status = tca_chain_wait(chain);
  TRY(status);
  return tca_chain_free(chain);
}

static volatile sig_atomic_t is_interrupted;
static void on_interrupt(int signal) { is_interrupted = signal; }

// A program that handles Ctrl-C hears of it between slices of a wait; the step goes on.
static tca_status hears_an_interrupt(tca_world* world, void* context) {
  const int* const ends = context;
  char byte = 0;
  int me;
  tca_chain* chain;
  TRY(make_chain(world, NULL, &me, &chain));
  if (me == 1) {
    REQUIRE(read(ends[0], &byte, 1) == 1, "the pipe is closed");
    TRY(tca_chain_run(chain));
    return tca_chain_free(chain);
  }
  signal(SIGINT, on_interrupt);
  TRY(tca_chain_start(chain));
  const pid_t sender = fork();
  if (sender == 0) _exit(kill(getppid(), SIGINT));
  while (!is_interrupted) {
    const tca_status status = tca_chain_wait_for(chain, 0.01);
    REQUIRE(status == TCA_UNFINISHED, "it is %s", tca_status_name(status));
  }
  signal(SIGINT, SIG_DFL);
  waitpid(sender, NULL, 0);
  REQUIRE(write(ends[1], &byte, 1) == 1, "the pipe is closed");
  TRY(tca_chain_wait(chain));
  return tca_chain_free(chain);
}

// A child that a rank has forked frees what it has inherited, and ends: the ranks go on as if it had not been.
static tca_status has_a_child(tca_world* world, void* context) {
  (void)context;
  int me, how = 0;
  tca_chain* chain;
  TRY(make_chain(world, NULL, &me, &chain));
  const pid_t child = fork();
  if (child == 0) _exit(tca_chain_free(chain) == TCA_OK && tca_world_free(world) == TCA_OK ? 0 : 1);
  REQUIRE(waitpid(child, &how, 0) == child && how == 0, "the child has ended by %d", how);
  for (int step = 0; step < 3; ++step) TRY(tca_chain_run(chain));
  return tca_chain_free(chain);
}

// Two processes that both want to be rank 0 of 2; a third one is rank 1.
static int rank_is_taken(void) {
  char key[64];
  int ends[2], taken = 0, passed = 0, how;
  snprintf(key, sizeof key, "c-test.%d.taken", (int)getpid());
  if (pipe(ends) != 0) return 0;
  for (int i = 0; i < 2; ++i) {
    if (fork() != 0) continue;
    tca_world* world;
    const tca_status status = tca_world_join(0, 2, key, NULL, &world);
    if (status == TCA_INCOMPATIBLE && write(ends[1], "x", 1) != 1) _exit(1);
    _exit((int)status);
  }
  char byte;
  if (read(ends[0], &byte, 1) != 1) return 0;  // one was refused, and the other waits for rank 1
  if (fork() == 0) {
    tca_world* world;
    _exit((int)tca_world_join(1, 2, key, NULL, &world));
  }
  for (int i = 0; i < 3; ++i) {
    if (wait(&how) < 0 || !WIFEXITED(how)) return 0;
    taken += WEXITSTATUS(how) == TCA_INCOMPATIBLE;
    passed += WEXITSTATUS(how) == TCA_OK || WEXITSTATUS(how) == TCA_RANK_LOST;
  }
  return taken == 1 && passed == 2;
}

// The first rank must pass; the other one is dead by then, of `by` if that is a signal.
static int survives(int by) {
  char key[64];
  int how, passed = 0;
  snprintf(key, sizeof key, "c-test.%d.%d", (int)getpid(), by);
  for (int rank = 0; rank < 2; ++rank) {
    if (fork() != 0) continue;
    signal(SIGINT, SIG_DFL);  // a shell's background jobs ignore it
    tca_world* world;
    tca_status status = tca_world_join(rank, 2, key, NULL, &world);
    if (status == TCA_OK) status = dies(world, &by);
    fflush(NULL);
    _exit(status == TCA_OK ? 17 : (int)status);
  }
  for (int rank = 0; rank < 2; ++rank) passed += wait(&how) > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 17;
  return passed == 1;
}

int test_deaths(way how) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  return survives(0) && survives(SIGKILL) && survives(SIGINT) && rank_is_taken() &&
         run_ranks(how, 2, is_late, ends) && run_ranks(how, 2, hears_an_interrupt, ends) &&
         run_ranks(how, 2, has_a_child, NULL);
}
