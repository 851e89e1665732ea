// Posts and notices: rank 0 hands out work, piece by piece, to whoever asks for it. Nobody knows beforehand who will ask
// and when, so nothing here is committed together. Runs with any number of ranks; alone, rank 0 has nobody to serve.
//
//   tca run -n 4 -- ./serve
#include <stdio.h>
#include <stdlib.h>

#include "tca/tca.h"

enum { PIECES = 100, ASK = 0, ANSWER = 1 };  // and slots of notices

static void check(tca_status status) {
  if (status == TCA_OK) return;
  fprintf(stderr, "%s\n", tca_last_message());
  exit((int)status);
}

static void check_that(int right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
  exit(1);
}

// What a rank is told: the number of its next piece, or -1 for none.
typedef long piece;

static void hand_out(tca_world* world, tca_notices* notices, const tca_token* tokens, int size) {
  tca_layout one;
  tca_post* post;
  piece next = 0, told;
  check(tca_layout_block(1, &one));
  check(tca_post_create(world, "answer", &post));
  for (int there = size - 1; there > 0;) {
    for (int rank = 1; rank < size; ++rank) {
      const tca_status asked = tca_notices_test(notices, rank, ASK, 0);
      if (asked == TCA_UNFINISHED) continue;
      check(asked);
      told = next < PIECES ? next++ : -1;
      check(tca_post_clear(post));
      check(tca_post_put(post, &tokens[rank], 0, &one, &told, 1, NULL, sizeof told));  // read by the start
      check(tca_post_notify(post, rank, ANSWER, 0));                                   // after the put
      check(tca_post_run(post));
      there -= told < 0;
    }
  }
  check_that(next == PIECES || size == 1, "the number of pieces");
  check(tca_post_free(post));
}

static void work(tca_world* world, tca_notices* notices, const piece* told) {
  tca_post* post;
  check(tca_post_create(world, "question", &post));
  check(tca_post_notify(post, 0, ASK, 0));
  for (piece before = -1;; before = *told) {
    check(tca_post_run(post));
    check(tca_notices_wait(notices, 0, ANSWER, 0));
    if (*told < 0) break;
    check_that(*told > before && *told < PIECES, "a piece");
  }
  check(tca_post_free(post));
}

int main(void) {
  tca_world* world;
  tca_region* region;
  tca_notices* notices;
  tca_token mine;
  void* data;
  int rank, size;
  check(tca_world_init(NULL, &world));
  check(tca_world_rank(world, &rank));
  check(tca_world_size(world, &size));
  check(tca_region_create(world, sizeof(piece),
                          &region));  // this rank's alone; the others learn of it by its token
  check(tca_region_token(region, &mine));
  check(tca_region_data(region, &data));
  tca_token* const tokens = malloc((size_t)size * sizeof mine);
  check_that(tokens != NULL, "there is no memory");
  check(tca_world_all_gather(world, &mine, sizeof mine, tokens));
  check(tca_notices_create(world, &notices));

  if (rank == 0)
    hand_out(world, notices, tokens, size);
  else
    work(world, notices, data);

  check(tca_world_barrier(world));
  if (rank == 0) printf("%d ranks: right\n", size);
  free(tokens);
  check(tca_notices_free(notices));
  check(tca_region_free(region));
  check(tca_world_free(world));
  return 0;
}
