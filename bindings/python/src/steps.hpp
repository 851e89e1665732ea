// What chains, halos and collectives have in common: their steps.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays/device.hpp"
#include "interpreter.hpp"

namespace opentca_python {

using namespace nb::literals;

template <class Object>
void start(Object& self, nb::handle stream) {
  auto& step = self.step();
  const auto on = stream_of(*self.place(), stream);
  at_once(*self.place(), [&] { on ? step.start(*on) : step.start(); });
}

template <class Object>
void wait(Object& self, nb::handle stream) {
  auto& step = self.step();
  if (const auto on = stream_of(*self.place(), stream)) {
    at_once(*self.place(), [&] { step.wait(*on); });
  } else {
    wait(*self.place(), step);
  }
}

// One kernel on a stream, where a start and a wait of their own are two.
template <class Object>
void run(Object& self, nb::handle stream) {
  auto& step = self.step();
  if (const auto on = stream_of(*self.place(), stream)) {
    at_once(*self.place(), [&] { step.run(*on); });
  } else {
    at_once(*self.place(), [&] { step.start(); });
    wait(*self.place(), step);
  }
}

/// Adds the methods of a step to a class whose `step()` is the chain, halo or collective of C++.
template <class Object, class Class>
void bind_steps(Class& type) {
  type.def("start", &start<Object>, "stream"_a = nb::none(),
           "Starts a step, and never blocks. On GPUs it is ordered on a stream of CuPy, torch, cuda.core or "
           "a number, by default the current one; opentca.HOST orders it by the host.",
           nb::sig("def start(self, stream: typing.Any = None) -> None"))
      .def(
          "test",
          [](Object& self) {
            auto& step = self.step();
            return at_once(*self.place(), [&] { return step.test(); });
          },
          "Returns whether the step has finished, without blocking.")
      .def(
          "wait", [](Object& self, nb::handle stream) { wait(self, stream); }, "stream"_a = nb::none(),
          "Finishes the step. Other threads of Python run meanwhile, and Ctrl-C is heard. Raises TimedOut or "
          "RankLost. On a stream, what is behind it there sees what arrived, and the host does not wait.",
          nb::sig("def wait(self, stream: typing.Any = None) -> None"))
      .def(
          "wait_for",
          [](Object& self, double seconds) {
            return wait(*self.place(), self.step(), nanoseconds_of(seconds));
          },
          "seconds"_a, "Waits for at most so many seconds, and returns whether the step has finished.")
      .def(
          "run", [](Object& self, nb::handle stream) { run(self, stream); }, "stream"_a = nb::none(),
          "A start and a wait, which are one kernel on a stream.",
          nb::sig("def run(self, stream: typing.Any = None) -> None"))
      .def(
          "explain", [](Object& self) { return self.step().explain(); },
          "A table of what is put, over which channel, and why.")
      .def(
          "close", [](Object& self) { self.drop(); },
          "Gives up what it holds. Not collective, and never blocks.");
}

}  // namespace opentca_python
