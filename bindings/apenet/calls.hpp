// What every call of APEnet+ goes through: no exception leaves it, each becomes a result and a sentence on stderr.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "apelib.h"
#include "apenet/card.hpp"

// The link, whose type C sees by name alone.
struct apelink {
  tca::apenet::Card card;
};

namespace tca::apenet {

class Misuse : public std::runtime_error {
 public:
  explicit Misuse(const std::string& sentence, int result) : std::runtime_error(sentence), result_(result) {}
  int result() const { return result_; }

 private:
  int result_;
};

template <class... Values>
[[noreturn]] void misused(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Misuse(fmt::format(sentence, std::forward<Values>(values)...), APELINK_INVALID);
}
template <class... Values>
[[noreturn]] void not_done(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Misuse(fmt::format(sentence, std::forward<Values>(values)...), APELINK_NOTSUPPORTED);
}

// Says what the exception that is being handled is. Returns its result.
int say_exception(const char* call) noexcept;

// Runs what a call does, which returns nothing or a result itself.
template <class Body>
int guarded(const char* call, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return APELINK_SUCCESS;
    } else {
      return body();
    }
  } catch (...) {
    return say_exception(call);
  }
}

template <class T>
T& present(T* argument, const char* what) {
  if (argument == nullptr) misused("{} is NULL", what);
  return *argument;
}

inline Card& card(apelink_t link) { return present(link, "the link").card; }

}  // namespace tca::apenet
