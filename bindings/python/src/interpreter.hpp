// The interpreter's lock and its signals, around calls that take time.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "membership.hpp"

namespace opentca_python {

namespace nb = nanobind;

/// What str() makes of an object.
std::string text(nb::handle object);

/// Calls `f` without the interpreter's lock; for calls that block.
template <class F>
auto without_lock(F f) {
  const nb::gil_scoped_release release;
  return f();
}

/// Calls `f`, which never blocks between processes. Ranks that are threads may take turns in it (sim), and those that wait
/// for their turn need the lock.
template <class F>
auto at_once(const Place& place, F f) {
  if (!place.threads()) return f();
  return without_lock(f);
}

/// How often a wait looks before it gives the lock away, which costs as much as a small step takes.
inline constexpr int polls_under_lock = 64;

/// How long Ctrl-C may go unheard.
inline constexpr std::chrono::milliseconds slice{50};

/// Waits for the step of a chain, halo or collective until it is over, or until `limit` has passed. Signals are handled
/// every 50 ms: Ctrl-C raises KeyboardInterrupt, and the step goes on. Returns whether it is over.
template <class Step>
bool wait(const Place& place, Step& step, std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) {
  if (!place.threads()) {
    for (int i = 0; i < polls_under_lock; ++i)
      if (step.test()) return true;
  }
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const std::chrono::nanoseconds left =
        limit == std::chrono::nanoseconds::max() ? limit : limit - (std::chrono::steady_clock::now() - begin);
    const auto now = std::clamp(left, std::chrono::nanoseconds(0), std::chrono::nanoseconds(slice));
    if (without_lock([&] { return step.wait_for(now); })) return true;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (left <= now) return false;
  }
}

/// A number of seconds from Python. Throws Error{invalid_argument} for what is none.
std::chrono::milliseconds milliseconds_of(double seconds);
std::chrono::nanoseconds nanoseconds_of(double seconds);

}  // namespace opentca_python
