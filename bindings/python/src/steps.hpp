// What chains, halos and collectives have in common: their steps.
#pragma once

#include <nanobind/nanobind.h>

#include "interpreter.hpp"

namespace opentca_python {

using namespace nb::literals;

template <class Object>
void start(Object& self) {
  auto& step = self.step();
  at_once(*self.place(), [&] { step.start(); });
}

/// Adds the methods of a step to a class whose `step()` is the chain, halo or collective of C++.
template <class Object, class Class>
void bind_steps(Class& type) {
  type.def("start", &start<Object>, "Starts a step, and never blocks.")
      .def(
          "test",
          [](Object& self) {
            auto& step = self.step();
            return at_once(*self.place(), [&] { return step.test(); });
          },
          "Returns whether the step has finished, without blocking.")
      .def(
          "wait", [](Object& self) { wait(*self.place(), self.step()); },
          "Finishes the step. Other threads of Python run meanwhile, and Ctrl-C is heard. Raises TimedOut or "
          "RankLost.")
      .def(
          "wait_for",
          [](Object& self, double seconds) {
            return wait(*self.place(), self.step(), nanoseconds_of(seconds));
          },
          "seconds"_a, "Waits for at most so many seconds, and returns whether the step has finished.")
      .def(
          "run",
          [](Object& self) {
            start(self);
            wait(*self.place(), self.step());
          },
          "A start and a wait.")
      .def(
          "explain", [](Object& self) { return self.step().explain(); },
          "A table of what is put, over which channel, and why.")
      .def(
          "close", [](Object& self) { self.drop(); },
          "Gives up what it holds. Not collective, and never blocks.");
}

}  // namespace opentca_python
