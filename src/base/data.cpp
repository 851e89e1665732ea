#include "base/data.hpp"

#include <string>
#include <system_error>

namespace tca::base {

namespace fs = std::filesystem;

std::vector<fs::path> data_places(const fs::path& name, const fs::path& in_sources) {
  const fs::path installed = fs::path(OPENTCA_INSTALLED) / name,
                 source = fs::path(OPENTCA_SOURCES) / in_sources;
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (unknown) return {installed, source};
  const fs::path beside = program.parent_path().parent_path() / "share/opentca" / name;
  const bool is_of_this_build = program.string().starts_with(OPENTCA_BUILD "/");
  return is_of_this_build ? std::vector{beside, source, installed} : std::vector{beside, installed, source};
}

}  // namespace tca::base
