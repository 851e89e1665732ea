// Structs of programs that were compiled with another version of tca/tca.h: shorter and longer than the
// library's.
#include <stddef.h>

#include "check.h"
#include "ranks.h"

// As a later tca.h may have it.
typedef struct later_chain_options {
  tca_chain_options known;
  const char* hint;
  double weight;
} later_chain_options;

static tca_status chains(tca_world* world, void* context) {
  (void)context;
  tca_chain* chain;
  later_chain_options later = {TCA_CHAIN_OPTIONS_INIT, NULL, 0};
  later.known.size = sizeof later;
  TRY(tca_chain_create(world, "later", &later.known, &chain));
  TRY(tca_chain_free(chain));
  later.weight = 1;
  EXPECT(tca_chain_create(world, "later", &later.known, &chain), TCA_INVALID_ARGUMENT,
         "the options of a chain set something at byte");

  // An earlier tca.h that ended behind the time limit: what follows in memory is not looked at.
  tca_chain_options earlier = TCA_CHAIN_OPTIONS_INIT;
  earlier.size = offsetof(tca_chain_options, channel);
  earlier.channel = "no/such channel";
  earlier.partners_only = 77;
  TRY(tca_chain_create(world, "earlier", &earlier, &chain));
  TRY(tca_chain_signal(chain, 0));
  TRY(tca_chain_expect(chain, 0));
  TRY(tca_chain_commit(chain));
  TRY(tca_chain_free(chain));

  tca_chain_options unset;
  memset(&unset, 0, sizeof unset);
  EXPECT(tca_chain_create(world, "unset", &unset, &chain), TCA_INVALID_ARGUMENT,
         "the size of the options of a chain is 0; set them by their _INIT");
  memset(&unset, 0xff, sizeof unset);
  EXPECT(tca_chain_create(world, "garbage", &unset, &chain), TCA_INVALID_ARGUMENT, "the size of the options");
  tca_halo* halo = NULL;
  tca_grid grid;
  const int64_t cells = 1;
  TRY(tca_grid_create(1, 1, &(int){1}, NULL, &cells, &grid));
  tca_halo_options reserved = TCA_HALO_OPTIONS_INIT;
  reserved.reserved = 1;
  EXPECT(tca_halo_create(world, "reserved", &grid, &cells, &reserved, &halo), TCA_INVALID_ARGUMENT,
         "the reserved field");
  tca_chain_options reserved_of_chain = TCA_CHAIN_OPTIONS_INIT;
  reserved_of_chain.reserved = 1;
  EXPECT(tca_chain_create(world, "reserved", &reserved_of_chain, &chain), TCA_INVALID_ARGUMENT,
         "the reserved field");
  tca_chain_options limit = TCA_CHAIN_OPTIONS_INIT;
  limit.time_limit = -2;
  EXPECT(tca_chain_create(world, "limit", &limit, &chain), TCA_INVALID_ARGUMENT, "-2 seconds cannot be");
  return TCA_OK;
}

static tca_status errors(void) {
  struct {
    tca_error known;
    int later;
  } longer = {TCA_ERROR_INIT, 42};
  longer.known.size = sizeof longer;
  TRY(tca_last_error(&longer.known));
  REQUIRE(longer.later == 42 && longer.known.size == sizeof longer, "what is not known was written to");
  tca_error shorter = TCA_ERROR_INIT;
  shorter.size = offsetof(tca_error, missing);
  shorter.line = 4711;
  TRY(tca_last_error(&shorter));
  REQUIRE(shorter.line == 4711 && shorter.message != NULL, "more was written than there is room for");
  REQUIRE(tca_last_error(NULL) == TCA_INVALID_ARGUMENT, "NULL is taken");
  shorter.size = 0;
  REQUIRE(tca_last_error(&shorter) == TCA_INVALID_ARGUMENT, "a size of 0 is taken");
  return TCA_OK;
}

static tca_status worlds(void) {
  tca_world* world;
  tca_world_options options = TCA_WORLD_OPTIONS_INIT;
  options.size = 4;
  EXPECT(tca_world_init(&options, &world), TCA_INVALID_ARGUMENT, "the size of the options of a world is 4");
  options.size = sizeof options.size;  // as short as can be: all defaults
  options.fabric = "no fabric";
  TRY(tca_world_init(&options, &world));
  return tca_world_free(world);
}

int test_versions(way how) {
  return (how == PROCESSES || worlds() == TCA_OK) && run_ranks(how, 1, chains, NULL) && errors() == TCA_OK;
}
