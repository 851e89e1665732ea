#include "himeno/cli/size.hpp"

#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "tca/error.hpp"

namespace tca::tool {

himeno::Extents parse_himeno_size(std::string_view text) {
  const auto given = parse_extents("--size", text);
  if (!given) {
    try {
      return himeno::size_named(text).extents;
    } catch (const Error& error) {
      refuse("{}, or give three extents such as 256x128x128", error.what());
    }
  }
  if (given->size() != 3)
    refuse("--size {}: give three extents, such as 256x128x128, or a size by name", text);
  return {(*given)[0], (*given)[1], (*given)[2]};
}

}  // namespace tca::tool
