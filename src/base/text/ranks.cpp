#include "base/text/ranks.hpp"

#include <fmt/format.h>

namespace tca::base {

std::string list_ranks(std::span<const int> ranks) {
  constexpr int most = 10;
  std::string text;
  int pieces = 0;
  for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1, ++pieces) {
    if (pieces == most) {
      const std::size_t others = ranks.size() - first;
      return text + fmt::format(" and {} other{}", others, others == 1 ? "" : "s");
    }
    for (last = first; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;) ++last;
    if (last == first + 1) last = first;  // "1, 2" is as short as "1 to 2"
    text += text.empty() ? "" : ", ";
    text +=
        last == first ? fmt::format("{}", ranks[first]) : fmt::format("{} to {}", ranks[first], ranks[last]);
  }
  return text;
}

}  // namespace tca::base
