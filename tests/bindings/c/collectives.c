// Every kind of collective against what a loop over all ranks gives.
#include "check.h"
#include "ranks.h"

enum { COUNT = 5, MOST = 64 };

static int64_t value_of(int rank, int step, int64_t element) {
  return 1000 * (rank + 1) + 100 * step + element;
}

// What `element` of this rank's output is.
static int64_t expected_of(int kind, int me, int ranks, int step, int64_t element) {
  int64_t sum = 0;
  switch (kind) {
    case TCA_BROADCAST:
      return value_of(1, step, element);  // from the root
    case TCA_ALL_GATHER:
      return value_of((int)(element / COUNT), step, element % COUNT);
    case TCA_ALL_REDUCE:
      for (int rank = 0; rank < ranks; ++rank) sum += value_of(rank, step, element);
      return sum;
    case TCA_REDUCE_SCATTER:
      for (int rank = 0; rank < ranks; ++rank) sum += value_of(rank, step, me * COUNT + element);
      return sum;
    default:  // block r is what rank r has for me
      return value_of((int)(element / COUNT), step, me * COUNT + element % COUNT);
  }
}

static int64_t elements_in(int kind, int ranks) {
  return kind == TCA_REDUCE_SCATTER || kind == TCA_ALL_TO_ALL ? ranks * COUNT : COUNT;
}
static int64_t elements_out(int kind, int ranks) {
  return kind == TCA_ALL_GATHER || kind == TCA_ALL_TO_ALL ? ranks * COUNT : COUNT;
}

static tca_status run_one(tca_collective* all, int step) {
  if (step == 0) return tca_collective_run(all);
  TRY(tca_collective_start(all));
  tca_status status = TCA_UNFINISHED;
  while (status == TCA_UNFINISHED)
    status = step == 1 ? tca_collective_test(all) : tca_collective_wait_for(all, 0.001);
  TRY(status);
  return tca_collective_wait(all);
}

// From one window to another, or with memory of its own.
static tca_status check_kind(tca_world* world, int kind, int is_own) {
  int me, ranks;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &ranks));
  tca_collective_request request = TCA_COLLECTIVE_REQUEST_INIT;
  request.kind = kind;
  request.name = "all";
  request.type = TCA_INT64;
  request.count = COUNT;
  request.root = 1;
  request.time_limit = 15;
  const int64_t in = elements_in(kind, ranks), out = elements_out(kind, ranks);
  const int is_in_place = kind == TCA_BROADCAST;
  tca_window *from = NULL, *to = NULL;
  tca_collective* all;
  if (!is_own) {
    TRY(tca_window_create(world, in, sizeof(int64_t), "from", &from));
    if (!is_in_place) TRY(tca_window_create(world, out, sizeof(int64_t), "to", &to));
  }
  TRY(tca_collective_create(world, &request, from, to, &all));
  if (is_own) {
    TRY(tca_collective_from(all, &from));
    TRY(tca_collective_to(all, &to));
  }
  int64_t mine[MOST], have[MOST];
  for (int step = 0; step < 3; ++step) {
    for (int64_t i = 0; i < in; ++i) mine[i] = value_of(me, step, i);
    // With memory of its own, a rank's block of an all-gather lies in its final place.
    TRY(tca_window_write(from, is_own && kind == TCA_ALL_GATHER ? me * COUNT : 0, in, mine));
    TRY(run_one(all, step));
    TRY(tca_window_read(is_in_place ? from : to, 0, out, have));
    for (int64_t i = 0; i < out; ++i) {
      const int64_t expected = expected_of(kind, me, ranks, step, i);
      REQUIRE(have[i] == expected, "kind %d, rank %d, step %d: element %lld is %lld, not %lld", kind, me,
              step, (long long)i, (long long)have[i], (long long)expected);
    }
  }
  TRY(tca_collective_free(all));
  TRY(tca_window_free(from));
  return tca_window_free(to);
}

static tca_status every_kind(tca_world* world, void* context) {
  (void)context;
  for (int kind = TCA_BROADCAST; kind <= TCA_ALL_TO_ALL; ++kind) {
    for (int is_own = 0; is_own < 2; ++is_own) TRY(check_kind(world, kind, is_own));
  }
  return TCA_OK;
}

typedef struct largest {
  int first, second;
} largest;

// Keeps the two largest values; `context` counts the calls.
static void two_largest(void* into, const void* left, const void* right, size_t count, void* context) {
  largest* const to = into;
  const largest *a = left, *b = right;
  for (size_t i = 0; i < count; ++i) {
    const largest high = a[i].first > b[i].first ? a[i] : b[i], low = a[i].first > b[i].first ? b[i] : a[i];
    to[i].first = high.first;
    to[i].second = low.first > high.second ? low.first : high.second;
  }
  ++*(int*)context;
}

static tca_status own_operation_and_barrier(tca_world* world, void* context) {
  (void)context;
  int me, ranks, calls = 0;
  largest best;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &ranks));
  tca_collective_request request = TCA_COLLECTIVE_REQUEST_INIT;
  request.kind = TCA_ALL_REDUCE;
  request.name = "two largest";
  request.element_bytes = sizeof best;
  request.count = 1;
  request.combine = two_largest;
  request.context = &calls;
  request.algorithm = "flat";
  tca_collective *all, *barrier;
  tca_window* window;
  const char* text;
  TRY(tca_collective_create(world, &request, NULL, NULL, &all));
  TRY(tca_collective_algorithm(all, &text));
  REQUIRE(strcmp(text, "flat") == 0, "it is '%s'", text);
  TRY(tca_collective_explain(all, &text));
  REQUIRE(strstr(text, "flat") != NULL, "it is '%s'", text);
  TRY(tca_collective_from(all, &window));
  best.first = 10 * me, best.second = -1;
  TRY(tca_window_write(window, 0, 1, &best));
  TRY(tca_collective_run(all));
  TRY(tca_window_read(window, 0, 1, &best));
  REQUIRE(best.first == 10 * (ranks - 1) && best.second == 10 * (ranks - 2), "they are %d and %d", best.first,
          best.second);
  REQUIRE(calls > 0, "the operation was not called");
  TRY(tca_window_free(window));
  TRY(tca_collective_free(all));

  tca_collective_request meet = TCA_COLLECTIVE_REQUEST_INIT;
  meet.name = "meet";
  TRY(tca_collective_create(world, &meet, NULL, NULL, &barrier));
  for (int i = 0; i < 3; ++i) TRY(tca_collective_run(barrier));
  return tca_collective_free(barrier);
}

int test_collectives(way how) {
  return run_ranks(how, 3, every_kind, NULL) && run_ranks(how, 3, own_operation_and_barrier, NULL);
}
