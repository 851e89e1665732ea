// What every call of TCA goes through: no exception leaves it, each becomes a result and a message.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "peach2/board.hpp"
#include "tca-api.h"

namespace tca::peach2 {

// What a call asks for that cannot be, or that the board does not do.
class Misuse : public std::runtime_error {
 public:
  explicit Misuse(const std::string& sentence, tcaresult result = TCA_ERROR_INVALID_VALUE)
      : std::runtime_error(sentence), result_(result) {}
  tcaresult result() const { return result_; }

 private:
  tcaresult result_;
};

template <class... Values>
[[noreturn]] void misused(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Misuse(fmt::format(sentence, std::forward<Values>(values)...));
}
template <class... Values>
[[noreturn]] void not_done(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Misuse(fmt::format(sentence, std::forward<Values>(values)...), TCA_ERROR_NOT_SUPPORTED);
}

// This rank's board. Throws Misuse before tcaInit.
Board& board();
// Comes up in the world.
void come_up();

// Keeps the exception that is being handled as this thread's message, and says it. Returns its result.
tcaresult keep_exception(const char* call) noexcept;

template <class Body>
tcaresult guarded(const char* call, Body&& body) noexcept {
  try {
    body();
    return TCA_SUCCESS;
  } catch (...) {
    return keep_exception(call);
  }
}

template <class T>
T& present(T* argument, const char* what) {
  if (argument == nullptr) misused("{} is NULL", what);
  return *argument;
}

}  // namespace tca::peach2
