// The channels that a user forces for an application's messages.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tca::apps {

class Channels {
 public:
  // The library chooses for every message.
  Channels() = default;

  // Reads NAME=CHANNEL, such as "OUT=shm/staged", of messages with these names; the library chooses for the
  // others. Throws Error{invalid_argument} for what cannot be read, a message that there is not, with those
  // that there are, and a message that is named twice. Whether there is such a channel is seen when a chain
  // commits.
  Channels(std::span<const std::string> forced, std::span<const std::string_view> names);

  // Returns what ChainOptions::channel and CollOptions::channel take: empty where the library chooses.
  std::string of(std::string_view message) const;
  bool is_forced(std::string_view message) const { return forced_.contains(message); }

  void force(std::string_view message, std::string channel);

 private:
  std::map<std::string, std::string, std::less<>> forced_;
};

}  // namespace tca::apps
