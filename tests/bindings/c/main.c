// The tests of the C interface: bindings_c threads|processes|sim TEST [SEED]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks.h"

static const struct {
  const char* name;
  int (*run)(way how);
} tests[] = {{"puts", test_puts},         {"counted", test_counted},         {"posts", test_posts},
             {"halos", test_halos},       {"collectives", test_collectives}, {"worlds", test_worlds},
             {"refusals", test_refusals}, {"handles", test_handles},         {"versions", test_versions},
             {"deaths", test_deaths}};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const way how = strcmp(argv[1], "threads") == 0 ? THREADS : strcmp(argv[1], "sim") == 0 ? SIM : PROCESSES;
  seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : (unsigned)time(NULL);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i) {
    if (strcmp(tests[i].name, argv[2]) != 0) continue;
    const int passed = tests[i].run(how);
    if (!passed) fprintf(stderr, "to repeat it: %s %s %s %u\n", argv[0], argv[1], argv[2], seed);
    return passed ? 0 : 1;
  }
  fprintf(stderr, "there is no test %s\n", argv[2]);
  return 2;
}
