// The module opentca._core: the library's classes, directly over tca/raw.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include "arrays/device.hpp"
#include "arrays/window.hpp"
#include "chain.hpp"
#include "collective.hpp"
#include "counted.hpp"
#include "errors.hpp"
#include "halo.hpp"
#include "launch.hpp"
#include "post.hpp"
#include "region.hpp"
#include "world.hpp"

NB_MODULE(_core, module) {
  namespace python = opentca_python;
  // Worlds that are still open when the interpreter ends are the system's to clear up.
  nanobind::set_leak_warnings(false);
  python::translate_errors();
  python::bind_windows(module);
  python::bind_counted(module);
  python::bind_chains(module);
  python::bind_worlds(module);
  python::bind_halos(module);
  python::bind_collectives(module);
  python::bind_regions(module);
  python::bind_posts(module);
  python::bind_teams(module);
  module.attr("_version") = tca::library_version();
  module.def("_rank_of_process", &python::rank_of_process);
  module.def("_close_all", &python::Place::close_all, nanobind::arg("failed"));
}
