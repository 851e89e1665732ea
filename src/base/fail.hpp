// Throws an Error with a formatted message, and with the ranks, chain and so on that it concerns.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "tca/error.hpp"

namespace tca::base {

template <class... Args>
[[noreturn]] void fail(Errc code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail(Errc code, ErrorFields fields, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...), std::move(fields));
}

}  // namespace tca::base
