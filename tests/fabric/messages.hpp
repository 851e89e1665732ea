// Turns errors into values, and checks that a message says what the user needs to know.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tca/tca.hpp"

namespace tca::test {

struct Caught {
  Errc code{};
  std::string message = "nothing was thrown";
  ErrorFields fields = {};
};

inline Caught caught(const std::function<void()>& run) {
  try {
    run();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what(), error.fields()};
  }
}

// Looks over and over for what never comes, though not for ever where nothing is thrown.
inline Caught caught_while_looking(const std::function<bool()>& look) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  return caught([&] {
    while (!look() && std::chrono::steady_clock::now() < until) continue;
  });
}

inline testing::AssertionResult says(const std::string& message,
                                     std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (message.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "\"" << message << "\" does not say \"" << part << "\"";
    }
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult refuses(Errc code, std::initializer_list<std::string_view> parts,
                                        const std::function<void()>& run) {
  const Caught error = caught(run);
  if (error.code != code) {
    return testing::AssertionFailure() << "code " << static_cast<int>(error.code) << ": " << error.message;
  }
  return says(error.message, parts);
}

// Returns what each rank of a world of threads caught.
inline std::vector<Caught> caught_by_ranks(int ranks, const std::function<void(World&)>& body,
                                           const WorldOptions& options = {}) {
  std::vector<Caught> all(static_cast<std::size_t>(ranks));
  World::run_threads(
      ranks,
      [&](World& world) { all[static_cast<std::size_t>(world.rank())] = caught([&] { body(world); }); },
      options);
  return all;
}

}  // namespace tca::test
