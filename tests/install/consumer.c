// A small program in C: a world of one rank that writes to itself, and is refused.
#include <string.h>
#include <tca/tca.h>

static int writes(tca_world* world) {
  tca_window* u;
  tca_chain* chain;
  tca_layout one;
  int value = 42, have = 0;
  return tca_window_create(world, 2, sizeof value, "u", &u) == TCA_OK &&
         tca_layout_block(1, &one) == TCA_OK && tca_chain_create(world, "self", NULL, &chain) == TCA_OK &&
         tca_chain_put(chain, tca_at(u, 0, 1), &one, tca_here(u, 0), NULL) == TCA_OK &&
         tca_chain_expect(chain, 0) == TCA_OK && tca_chain_commit(chain) == TCA_OK &&
         tca_window_write(u, 0, 1, &value) == TCA_OK && tca_chain_run(chain) == TCA_OK &&
         tca_window_read(u, 1, 1, &have) == TCA_OK && have == value && tca_chain_free(chain) == TCA_OK &&
         tca_window_free(u) == TCA_OK;
}

// An exception is thrown inside, and becomes a message.
static int is_refused(tca_world* world) {
  tca_chain* chain;
  return tca_chain_create(world, "refused", NULL, &chain) == TCA_OK &&
         tca_chain_expect(chain, 7) == TCA_INVALID_ARGUMENT &&
         strstr(tca_last_message(), "refused") != NULL && tca_chain_free(chain) == TCA_OK &&
         tca_chain_start(chain) == TCA_INVALID_ARGUMENT;
}

int main(void) {
  tca_world* world;
  return tca_world_init(NULL, &world) == TCA_OK && writes(world) && is_refused(world) &&
                 tca_world_free(world) == TCA_OK
             ? 0
             : 1;
}
