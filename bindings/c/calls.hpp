// What every call of the C interface goes through: no exception leaves it, each becomes a status and a
// message.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tca/error.hpp"
#include "tca/tca.h"

namespace tca::c {

// A call that C++ could not have expressed: a null pointer, a handle of nothing, a number that is no
// enumerator. The name of the call is put in front of the sentence.
class Misuse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Keeps the exception that is being handled as this thread's last error. Returns its status.
tca_status keep_exception(const char* call) noexcept;

// Throws this thread's last error again if it has the status, and otherwise an error that says so.
[[noreturn]] void throw_status(int rank, tca_status status);

// Runs what a call does. It returns nothing, or a status itself. The try block costs nothing where nothing is
// thrown.
template <class Body>
tca_status guarded(const char* call, Body&& body) noexcept {
  try {
    if constexpr (std::is_same_v<std::invoke_result_t<Body>, tca_status>) {
      return body();
    } else {
      body();
      return TCA_OK;
    }
  } catch (...) {
    return keep_exception(call);
  }
}

inline tca_status finished(bool is_finished) { return is_finished ? TCA_OK : TCA_UNFINISHED; }

// Returns what an argument points to. Throws Misuse for a null one, which it calls `what`.
template <class T>
T& present(T* argument, const char* what) {
  if (argument == nullptr) [[unlikely]]
    throw Misuse(fmt::format("{} is NULL", what));
  return *argument;
}

// As a call that makes something begins: it leaves no old handle where it fails.
template <class Handle>
Handle*& emptied(Handle** made) {
  Handle*& place = present(made, "the place for the result");
  place = nullptr;
  return place;
}

// Returns the array as it is. Throws Misuse for a null one of some elements.
template <class T>
T* array(T* elements, std::size_t count, const char* what) {
  if (count > 0) present(elements, what);
  return elements;
}

inline std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

// Keeps a text until this thread's next one, for the program to read.
const char* lent(std::string text);

// Throws Misuse for a negative number of seconds, and for none.
std::chrono::nanoseconds duration_of(double seconds);
// The same, rounded up to milliseconds. 0: nothing.
std::optional<std::chrono::milliseconds> limit_of(double seconds);

// Returns an enumerator of C++ from its number in C. Throws Misuse above `last`.
template <class Enum>
Enum enumerator(int number, Enum last, const char* what) {
  if (number < 0 || number > static_cast<int>(last)) throw Misuse(fmt::format("{} is no {}", number, what));
  return static_cast<Enum>(number);
}

}  // namespace tca::c
