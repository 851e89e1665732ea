#include "chain.hpp"

#include <nanobind/stl/string.h>

#include "steps.hpp"
#include "window.hpp"

namespace opentca_python {

namespace {

// Puts one array into another: what Chain::put and its two layouts are in C++.
nb::handle put(nb::handle_t<ChainObject> self, const RemoteObject& to, nb::handle from) {
  auto& chain = *nb::inst_ptr<ChainObject>(self);
  if (to.window->place() != chain.place()) {
    throw tca::Error(
        tca::Errc::invalid_argument,
        "Chain.put: the target is a window of another world. A group sees one as World.view(window)");
  }
  const LocalPart source = local_part(*chain.place(), from, to.window->element().bytes);
  const auto [to_layout, from_layout] = layouts(to.part, source.part);
  chain.step().put(to.window->window().on(to.rank).at(to.part.offset), to_layout,
                   source.window->window().at(source.part.offset), from_layout);
  return self;
}

}  // namespace

tca::ChainOptions chain_options(bool guarded, std::optional<double> time_limit, std::string channel) {
  tca::ChainOptions options{.guarded = guarded, .channel = std::move(channel)};
  if (time_limit) options.time_limit = milliseconds_of(*time_limit);
  return options;
}

void bind_chains(nb::module_& module) {
  auto chain = nb::class_<ChainObject>(module, "Chain",
                                       "An ordered list of puts, declared once, committed by every rank "
                                       "together, then started as often as needed.");
  chain
      .def("put", &put, "target"_a, "source"_a,
           "Adds a put: `chain.put(u.on(right)[1:-1, 0], u[1:-1, -2])`. The source is a window, or a slice "
           "of its array; "
           "both have the same shape. Slices that are no layout are refused with the axis.",
           nb::sig("def put(self, target: Remote, source: typing.Any) -> Chain"))
      .def(
          "signal",
          [](nb::handle_t<ChainObject> self, int rank) {
            nb::inst_ptr<ChainObject>(self)->step().signal(rank);
            return self;
          },
          "rank"_a, "Adds a put of no bytes, which only tells a rank that this one has started.",
          nb::sig("def signal(self, rank: int) -> Chain"))
      .def(
          "expect",
          [](nb::handle_t<ChainObject> self, int rank) {
            nb::inst_ptr<ChainObject>(self)->step().expect(rank);
            return self;
          },
          "rank"_a, "Declares that a rank puts or signals to this one.",
          nb::sig("def expect(self, rank: int) -> Chain"))
      .def(
          "commit",
          [](ChainObject& self) {
            auto& step = self.step();
            without_lock([&] { step.commit(); });
          },
          "Collective. Checks the puts of all ranks, chooses their channels and compiles them. Raises "
          "Refused, with the "
          "same message on every rank.")
      .def_prop_ro("name", [](ChainObject& self) { return self.step().name(); });
  bind_steps<ChainObject>(chain);
}

}  // namespace opentca_python
