// `tca xacc`: compiles C with directives of XcalableACC. What stands behind it is the front end's to read.
#include <memory>

#include "cli/subcommand.hpp"
#include "driver/driver.hpp"
#include "driver/home.hpp"

namespace tca::tool {

void add_xacc(Subcommands& tca) {
  auto app = std::make_shared<CLI::App*>();
  *app = &tca.add("xacc", "Compiles C with directives of XcalableMP and OpenACC (tca xacc --help)",
                  "tca xacc cc -O2 heat.c -o heat && tca run -n 4 -- ./heat\n"
                  "tca xacc check heat.c",
                  [app] { return xacc::run((*app)->remaining(), xacc::find_home()); });
  (*app)->set_help_flag();
  (*app)->prefix_command();
}

}  // namespace tca::tool
