#include "cli/options/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "tca/error.hpp"

namespace tca::tool {

void check_memory(const std::string& what, double bytes, int hosts) {
  const double present =
      hosts * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes < present) return;
  const std::string who =
      hosts == 1 ? "this machine has" : fmt::format("{} machines like this one have", hosts);
  throw Error(Errc::out_of_memory, fmt::format("{} needs {:.1f} GiB, {} {:.1f}; choose a smaller one", what,
                                               bytes / 0x1p30, who, present / 0x1p30));
}

}  // namespace tca::tool
