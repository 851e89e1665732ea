// `tca` with only the few subcommands that a first look needs. It is built in half the time.
#include "cli/subcommand.hpp"

namespace tca::tool {
namespace {

void add_first(Subcommands& tca) {
  add_himeno(tca);
  add_run(tca);
  add_info(tca);
}

}  // namespace
}  // namespace tca::tool

int main(int argc, char** argv) {
  return tca::tool::command_line(argc, argv, tca::tool::add_first,
                                 "`make build` makes the tca with all subcommands, build/release/bin/tca");
}
