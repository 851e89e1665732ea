#include "shared/channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tca/error.hpp"

namespace tca::apps {

Channels::Channels(std::span<const std::string> forced, std::span<const std::string_view> names) {
  const auto fail = [](const std::string& said, const std::string& why) {
    throw Error(Errc::invalid_argument, fmt::format("--channel {}: {}", said, why));
  };
  for (const std::string& said : forced) {
    const std::size_t sign = said.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == said.size())
      fail(said, fmt::format("give a message and its channel, such as {}=CHANNEL", names.front()));
    const std::string name = said.substr(0, sign);
    if (std::ranges::find(names, name) == names.end())
      fail(said, fmt::format("there is no message {} here; there {} {}", name,
                             names.size() == 1 ? "is" : "are", fmt::join(names, ", ")));
    if (is_forced(name)) fail(said, fmt::format("{} has channel {} already", name, of(name)));
    force(name, said.substr(sign + 1));
  }
}

std::string Channels::of(std::string_view message) const {
  const auto found = forced_.find(message);
  return found == forced_.end() ? std::string() : found->second;
}

void Channels::force(std::string_view message, std::string channel) {
  forced_.insert_or_assign(std::string(message), std::move(channel));
}

}  // namespace tca::apps
