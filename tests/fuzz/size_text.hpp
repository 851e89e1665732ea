// Any text is read as a size with a unit and as extents, or refused.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/bytes.hpp"
#include "cli/options/extents.hpp"
#include "must.hpp"

namespace tca::fuzz {

inline std::string try_size(std::string_view text) {
  const std::string error = refusal(Errc::invalid_argument, [&] {
    for (const std::int64_t extent :
         tool::parse_extents("--size", text).value_or(std::vector<std::int64_t>{1}))
      must(extent >= 1 && extent <= 1 << 24, "no such extent", std::string(text));
  });
  const std::optional<std::int64_t> bytes = tool::parse_bytes(text);
  if (bytes)
    must(tool::parse_bytes(tool::bytes_in_short(*bytes)) == bytes, "not what was written", std::string(text));
  return bytes ? std::string() : error.empty() ? "no size" : error;
}

}  // namespace tca::fuzz
