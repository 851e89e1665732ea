// Any text is read as a tuning table, or refused. The checksum would refuse nearly all of them, so that it is made right.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "must.hpp"
#include "route/tuning_table.hpp"

namespace tca::fuzz {

inline std::string sealed_again(std::string_view text) {
  const std::string_view body = text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : body) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("checksum = \"{:016x}\"  # of all that follows; a changed table is not used\n{}", sum,
                     body);
}

inline std::string try_tuning(std::string_view text) {
  if (text.empty()) return "nothing";
  return refusal(Errc::invalid_argument, [&] {
    const route::TuningTable table = route::TuningTable::parse(sealed_again(text));
    must(table.text().size() < 4 * text.size() + 2000, "a table grows by reading it", std::string(text));
  });
}

}  // namespace tca::fuzz
