// Posts into regions by their tokens, and the notices that they raise.
#include <stdlib.h>

#include "check.h"
#include "ranks.h"

enum { MOST_RANKS = 4, ZONE = 64, ROUNDS = 5 };

static int64_t value_of(int rank, int round, int64_t element) {
  return 100000 * rank + 1000 * round + element;
}

typedef struct everywhere {
  int me, size;
  tca_region* region;
  int64_t* data;
  tca_token tokens[MOST_RANKS];
  tca_notices* notices;
} everywhere;

// A region with a zone for each rank, and the tokens of all.
static tca_status make_everywhere(tca_world* world, everywhere* all) {
  const int64_t bytes = MOST_RANKS * ZONE * (int64_t)sizeof(int64_t);
  tca_token mine;
  void* data;
  size_t have;
  int rank;
  TRY(tca_world_rank(world, &all->me));
  TRY(tca_world_size(world, &all->size));
  TRY(tca_region_create(world, bytes, &all->region));
  TRY(tca_region_data(all->region, &data));
  all->data = data;
  TRY(tca_region_bytes(all->region, &have));
  REQUIRE(have == (size_t)bytes, "%zu bytes", have);
  TRY(tca_region_token(all->region, &mine));
  TRY(tca_world_all_gather(world, &mine, sizeof mine, all->tokens));
  TRY(tca_token_rank(&all->tokens[1], &rank));
  TRY(tca_token_bytes(&all->tokens[1], &have));
  REQUIRE(rank == 1 && have == (size_t)bytes, "the token is of rank %d, %zu bytes", rank, have);
  return tca_notices_create(world, &all->notices);
}

static tca_status free_everywhere(everywhere* all) {
  TRY(tca_notices_free(all->notices));
  return tca_region_free(all->region);
}

// By one call in each round.
static tca_status run_somehow(tca_post* post, int round) {
  if (round == 0) return tca_post_run(post);
  TRY(tca_post_start(post));
  tca_status status = TCA_UNFINISHED;
  while (status == TCA_UNFINISHED) {
    status = round == 1   ? tca_post_test(post)
             : round == 2 ? tca_post_wait_for(post, 0.001)
             : round == 3 ? tca_post_flush_for(post, 0.001)
                          : tca_post_flush(post);
  }
  TRY(status);
  return tca_post_wait(post);
}

static tca_status take_somehow(tca_notices* notices, int source, uint32_t tag, int round) {
  uint32_t found = tag;
  if (round == 0) return tca_notices_wait(notices, source, 3, tag);
  tca_status status = TCA_UNFINISHED;
  while (status == TCA_UNFINISHED) {
    status = round == 1   ? tca_notices_test(notices, source, 3, tag)
             : round == 2 ? tca_notices_test_any(notices, source, 3, &found)
                          : tca_notices_wait_for(notices, source, 3, tag, 0.001, 0);
  }
  REQUIRE(found == tag, "tag %u has come", found);
  return status;
}

// Every other element of this rank's goes to a row of the target's zone, from every rank to every other.
static tca_status all_to_all(tca_world* world, void* context) {
  (void)context;
  everywhere all;
  tca_post* post;
  tca_layout here, there;
  int64_t source[ZONE];
  TRY(make_everywhere(world, &all));
  TRY(tca_layout_stride(ZONE / 2 - 1, 2, &here));
  TRY(tca_layout_block(ZONE / 2 - 1, &there));
  here.first = 1;
  there.first = 2;
  TRY(tca_post_create(world, "everyone", &post));
  for (int to = 0; to < all.size; ++to) {
    if (to == all.me) continue;
    TRY(tca_post_put(post, &all.tokens[to], ZONE * all.me, &there, source, ZONE, &here, sizeof source[0]));
    TRY(tca_post_notify(post, to, 3, (uint32_t)all.me + 7));
  }
  for (int round = 0; round < ROUNDS; ++round) {
    for (int64_t i = 0; i < ZONE; ++i) source[i] = value_of(all.me, round, i);
    TRY(run_somehow(post, round));
    for (int from = 0; from < all.size; ++from) {
      if (from == all.me) continue;
      TRY(take_somehow(all.notices, from, (uint32_t)from + 7, round));
      for (int64_t i = 0; i < ZONE / 2 - 1; ++i) {
        REQUIRE(all.data[ZONE * from + 2 + i] == value_of(from, round, 1 + 2 * i),
                "element %lld of rank %d is %lld", (long long)i, from,
                (long long)all.data[ZONE * from + 2 + i]);
      }
    }
    TRY(tca_world_barrier(world));
  }
  TRY(tca_post_clear(post));
  TRY(tca_post_run(post));
  TRY(tca_post_free(post));
  return free_everywhere(&all);
}

// What is refused, and a notice that does not come; `context` says how the ranks run.
static tca_status refused(tca_world* world, void* context) {
  everywhere all;
  tca_post* post;
  tca_layout one, two;
  tca_token nothing;
  int64_t value = 5;
  uint32_t tag;
  memset(&nothing, 0, sizeof nothing);
  TRY(make_everywhere(world, &all));
  TRY(tca_layout_block(1, &one));
  TRY(tca_layout_block(2, &two));
  TRY(tca_post_create(world, NULL, &post));
  EXPECT(tca_post_put(post, &nothing, 0, &one, &value, 1, NULL, 8), TCA_INCOMPATIBLE, "token");
  EXPECT(tca_token_rank(&nothing, &all.size), TCA_INCOMPATIBLE, "token");
  EXPECT(tca_post_put(post, &all.tokens[1], MOST_RANKS * ZONE, &one, &value, 1, NULL, 8),
         TCA_INVALID_ARGUMENT, "the region ends outside");
  EXPECT(tca_post_put(post, &all.tokens[1], 0, &two, &value, 1, NULL, 8), TCA_INVALID_ARGUMENT, "source");
  two.first = 2;
  EXPECT(tca_post_put(post, &all.tokens[1], 0, &one, &value, 1, &two, 8), TCA_INVALID_ARGUMENT,
         "element 2 of 1");
  EXPECT(tca_post_put(post, NULL, 0, &one, &value, 1, NULL, 8), TCA_INVALID_ARGUMENT, "the token is NULL");
  EXPECT(tca_post_notify(post, 9, 0, 0), TCA_INVALID_ARGUMENT, "9");
  EXPECT(tca_post_notify(post, 1, 1000, 0), TCA_INVALID_ARGUMENT, "1000");
  REQUIRE(tca_notices_test_any(all.notices, 1, 0, &tag) == TCA_UNFINISHED, "a notice is there");
  EXPECT(tca_notices_test(all.notices, 1, 1000, 0), TCA_INVALID_ARGUMENT, "1000");
  if (*(way*)context != SIM) {
    REQUIRE(tca_notices_wait_for(all.notices, 1, 2, 3, 0.01, 0) == TCA_UNFINISHED, "a notice is there");
    EXPECT(tca_notices_wait_for(all.notices, 1 - all.me, 2, 3, 0.01, 100), TCA_TIMED_OUT,
           "slot 2 with tag 3");
  }
  // A ninth tag in a slot.
  for (uint32_t one_of_nine = 0; one_of_nine < 9; ++one_of_nine)
    TRY(tca_post_notify(post, 1 - all.me, 5, one_of_nine));
  EXPECT(tca_post_start(post), TCA_REFUSED, "has notices of 8 other tags");
  TRY(tca_post_clear(post));
  // The region goes; what was declared before is refused from then on.
  TRY(tca_world_barrier(world));
  if (all.me == 0) TRY(tca_post_put(post, &all.tokens[1], 0, &one, &value, 1, NULL, 8));
  TRY(tca_world_barrier(world));
  TRY(free_everywhere(&all));
  TRY(tca_world_barrier(world));
  if (all.me == 0) EXPECT(tca_post_start(post), TCA_INVALID_ARGUMENT, "gone");
  return tca_post_free(post);
}

// Memory that the program has, where ranks are threads of one process.
static tca_status memory_of_the_program(tca_world* world, void* context) {
  (void)context;
  static int64_t kept[2];
  tca_token tokens[2], mine;
  tca_region* region;
  tca_post* post;
  tca_notices* notices;
  tca_layout one;
  int me;
  TRY(tca_world_rank(world, &me));
  TRY(tca_region_of_memory(world, &kept[me], 8, &region));
  TRY(tca_region_token(region, &mine));
  TRY(tca_world_all_gather(world, &mine, sizeof mine, tokens));
  TRY(tca_notices_create(world, &notices));
  TRY(tca_post_create(world, "back", &post));
  TRY(tca_layout_block(1, &one));
  const int64_t value = 40 + me;
  TRY(tca_post_put(post, &tokens[1 - me], 0, &one, &value, 1, NULL, 8));
  TRY(tca_post_notify(post, 1 - me, 0, 0));
  TRY(tca_post_run(post));
  TRY(tca_notices_wait(notices, 1 - me, 0, 0));
  REQUIRE(kept[me] == 40 + (1 - me), "%lld", (long long)kept[me]);
  TRY(tca_world_barrier(world));
  TRY(tca_post_free(post));
  TRY(tca_notices_free(notices));
  return tca_region_free(region);
}

int test_posts(way how) {
  return run_ranks(how, MOST_RANKS, all_to_all, NULL) && run_ranks(how, 2, refused, &how) &&
         (how != THREADS || run_ranks(how, 2, memory_of_the_program, NULL));
}
