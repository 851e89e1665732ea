// The command line `tca` with all of its subcommands.
#include "cli/subcommand.hpp"

namespace tca::tool {
namespace {

void add_all(Subcommands& tca) {
  add_himeno(tca);
  add_qcd(tca);
  add_cg(tca);
  add_bfs(tca);
  add_spin(tca);
  add_fft(tca);
  add_pic(tca);
  add_trigger(tca);
  add_run(tca);
  add_mpi(tca);
  add_xacc(tca);
  add_bench(tca);
  add_tune(tca);
  add_explain(tca);
  add_faults(tca);
  add_info(tca);
  add_plot(tca);
  add_model(tca);
  add_scorecard(tca);
  add_fit(tca);
  add_pages(tca);
}

}  // namespace
}  // namespace tca::tool

int main(int argc, char** argv) { return tca::tool::command_line(argc, argv, tca::tool::add_all); }
