// What a world says of itself, groups, and windows as groups see them.
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "ranks.h"

static tca_status speaks(tca_world* world, void* context) {
  (void)context;
  int me, size, sub_clusters[3], number, all[3];
  double before, after;
  const char* text;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &size));
  REQUIRE(size == 3 && me >= 0 && me < 3, "rank %d of %d", me, size);
  TRY(tca_world_sub_clusters(world, sub_clusters));
  REQUIRE(sub_clusters[0] == 0, "rank 0 is in sub-cluster %d", sub_clusters[0]);
  const int mine = 7 * me;
  TRY(tca_world_all_gather(world, &mine, sizeof mine, all));
  for (int rank = 0; rank < 3; ++rank) REQUIRE(all[rank] == 7 * rank, "rank %d gives %d", rank, all[rank]);
  TRY(tca_world_now(world, &before));
  TRY(tca_world_compute(world, 1e6, 1e6));
  TRY(tca_world_barrier(world));
  TRY(tca_world_now(world, &after));
  REQUIRE(after >= before, "the clock goes from %g to %g", before, after);
  TRY(tca_world_progress(world));
  TRY(tca_world_check(world));
  TRY(tca_world_describe(world, &text));
  REQUIRE(text[0] != 0, "it says nothing");
  TRY(tca_world_device_name(world, &text));
  TRY(tca_world_ranks_on_device(world, &number));
  TRY(tca_world_ranks_share_devices(world, &number));
  return TCA_OK;
}

static tca_status windows(tca_world* world, void* context) {
  (void)context;
  int me;
  TRY(tca_world_rank(world, &me));
  tca_window* u;
  TRY(tca_window_create(world, 4 + me, 6, "uneven", &u));
  int64_t here, there;
  size_t bytes;
  uint32_t number;
  void* data;
  TRY(tca_window_elements(u, &here));
  TRY(tca_window_elements_on(u, 2, &there));
  TRY(tca_window_element_bytes(u, &bytes));
  TRY(tca_window_number(u, &number));
  TRY(tca_window_data(u, &data));
  REQUIRE(here == 4 + me && there == 6 && bytes == 6 && data != NULL, "%lld and %lld elements of %zu bytes",
          (long long)here, (long long)there, bytes);
  return tca_window_free(u);
}

// Rank 0 of a group puts to its rank 1, into a window of the world around.
static tca_status put_in(tca_world* group, tca_window* u, int value) {
  int me;
  tca_window* view;
  tca_chain* chain;
  tca_layout one;
  TRY(tca_world_rank(group, &me));
  TRY(tca_window_view(group, u, &view));
  TRY(tca_chain_create(group, "in the group", NULL, &chain));
  TRY(tca_layout_block(1, &one));
  if (me == 0) TRY(tca_chain_put(chain, tca_at(view, 1, 1), &one, tca_here(view, 0), NULL));
  if (me == 1) TRY(tca_chain_expect(chain, 0));
  TRY(tca_chain_commit(chain));
  if (me == 0) TRY(tca_window_write(view, 0, 1, &value));
  TRY(tca_chain_run(chain));
  int have = value;
  if (me == 1) TRY(tca_window_read(view, 1, 1, &have));
  REQUIRE(have == value, "%d has arrived", have);
  TRY(tca_chain_free(chain));
  return tca_window_free(view);
}

static tca_status groups(tca_world* world, void* context) {
  (void)context;
  int me, size;
  tca_window* u;
  tca_world *parity, *ends;
  TRY(tca_world_rank(world, &me));
  TRY(tca_window_create(world, 2, sizeof(int), "u", &u));
  TRY(tca_world_split(world, me % 2, -me, &parity));  // the higher rank first
  TRY(tca_world_size(parity, &size));
  REQUIRE(size == 2, "%d ranks have the colour", size);
  TRY(put_in(parity, u, 40 + me % 2));
  TRY(tca_world_free(parity));
  const int ranks[] = {3, 0};
  if (me == 0 || me == 3) {
    TRY(tca_world_group(world, ranks, 2, &ends));
    TRY(put_in(ends, u, 50));
    TRY(tca_world_free(ends));
  } else {
    EXPECT(tca_world_group(world, ranks, 2, &ends), TCA_INVALID_ARGUMENT, "group");
    REQUIRE(ends == NULL, "a handle is left");
  }
  return tca_window_free(u);
}

// Where ranks are threads, any memory can be a window.
static tca_status own_memory(tca_world* world, void* context) {
  (void)context;
  int me;
  TRY(tca_world_rank(world, &me));
  double* memory = calloc(4, sizeof *memory);
  tca_window* u;
  void* data;
  TRY(tca_window_of_memory(world, memory, 4, sizeof *memory, "mine", &u));
  TRY(tca_window_data(u, &data));
  REQUIRE(data == memory, "it lies elsewhere");
  TRY(tca_window_free(u));
  TRY(tca_world_barrier(world));
  TRY(tca_window_create(world, 1, 1, "later", &u));
  free(memory);
  return tca_window_free(u);
}

struct turns {
  pthread_t caller;
  int elsewhere;  // ranks on other threads
  double ends;    // of all ranks together
};

static tca_status trace(tca_world* world, void* context) {
  double begin, end;
  TRY(tca_world_now(world, &begin));
  TRY(tca_world_barrier(world));
  TRY(tca_world_now(world, &end));
  TRY(tca_world_trace_span(world, "meeting", begin, end));
  return tca_world_write_trace(world, context);
}

static int test_trace(way how) {
  char path[] = "bindings_c_trace.json", text[4096];
  tca_world_options options = TCA_WORLD_OPTIONS_INIT;
  options.trace = 1;
  options.fabric = how == SIM ? "sim" : "shm";
  if (tca_world_run_threads(2, trace, path, &options) != TCA_OK) return 0;
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  remove(path);
  return strstr(text, "meeting") != NULL;
}

// The same world in each, since a virtual clock knows nothing of threads; fibers take turns on the caller's.
static tca_status turns(tca_world* world, void* context) {
  struct turns* seen = context;
  double now;
  TRY(tca_world_barrier(world));
  TRY(tca_world_now(world, &now));
  seen->elsewhere += pthread_equal(pthread_self(), seen->caller) == 0;
  seen->ends += now;
  return TCA_OK;
}

static int test_fibers(void) {
  struct turns by_threads = {pthread_self(), 0, 0}, by_fibers = by_threads;
  tca_world_options options = TCA_WORLD_OPTIONS_INIT;
  options.fabric = "sim";
  if (tca_world_run_threads(7, turns, &by_threads, &options) != TCA_OK) return 0;
  options.fibers = 1;
  if (tca_world_run_threads(7, turns, &by_fibers, &options) != TCA_OK) return 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  by_fibers.elsewhere = 0;  // they are threads after all
#endif
  return by_threads.elsewhere == 6 && by_fibers.elsewhere == 0 && by_threads.ends == by_fibers.ends;
}

int test_worlds(way how) {
  if (how == SIM && !test_fibers()) return 0;
  if (how != PROCESSES && !(run_ranks(how, 2, own_memory, NULL) && test_trace(how))) return 0;
  return run_ranks(how, 3, speaks, NULL) && run_ranks(how, 3, windows, NULL) &&
         run_ranks(how, 4, groups, NULL);
}
