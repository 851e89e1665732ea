#include "chain.hpp"

#include <nanobind/stl/string.h>

#include "arrays/window.hpp"
#include "steps.hpp"
#include "tca/device/chain.hpp"

namespace opentca_python {

namespace {

// What a put of one array into another is in C++.
struct Described {
  tca::raw::Remote to;
  tca::Layout to_layout;
  tca::raw::Local from;
  tca::Layout from_layout;
};

Described describe(const ChainObject& chain, const RemoteObject& to, nb::handle from) {
  if (to.window->place() != chain.place()) {
    throw tca::Error(
        tca::Errc::invalid_argument,
        "Chain.put: the target is a window of another world. A group sees one as World.view(window)");
  }
  const LocalPart source = local_part(*chain.place(), from, to.window->element().bytes);
  const auto [to_layout, from_layout] = layouts(to.part, source.part);
  return {to.window->window().on(to.rank).at(to.part.offset), to_layout,
          source.window->window().at(source.part.offset), from_layout};
}

nb::handle put(nb::handle_t<ChainObject> self, const RemoteObject& to, nb::handle from) {
  auto& chain = *nb::inst_ptr<ChainObject>(self);
  const Described one = describe(chain, to, from);
  chain.step().put(one.to, one.to_layout, one.from, one.from_layout);
  return self;
}

tca::CountedPut put_counted(ChainObject& chain, const RemoteObject& to, nb::handle from) {
  const Described one = describe(chain, to, from);
  return chain.step().put_counted(one.to, one.to_layout, one.from, one.from_layout);
}

}  // namespace

tca::ChainOptions chain_options(bool guarded, std::optional<double> time_limit, std::string channel,
                                bool partners_only, bool reroute) {
  tca::ChainOptions options{
      .guarded = guarded, .channel = std::move(channel), .partners_only = partners_only, .reroute = reroute};
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
           "of its array; both have the same shape. Slices that are no layout are refused with the axis.",
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
      .def("put_counted", &put_counted, "target"_a, "source"_a,
           "Adds a put that is cut short in every step to the length that is set: `sent.set(n)`. The slices "
           "are the most that it can move.",
           nb::sig("def put_counted(self, target: Remote, source: typing.Any) -> CountedPut"))
      .def(
          "expect_counted", [](ChainObject& self, int rank) { return self.step().expect_counted(rank); },
          "rank"_a,
          "Declares a counted put of a rank to this one, the n-th call for a rank its n-th one; `count` of "
          "what it returns is how much has come.",
          nb::sig("def expect_counted(self, rank: int) -> CountedArrival"))
      .def(
          "commit",
          [](ChainObject& self) {
            auto& step = self.step();
            without_lock([&] { step.commit(); });
          },
          "Collective. Checks the puts of all ranks, chooses their channels and compiles them. Raises "
          "Refused, with the "
          "same message on every rank.")
      .def(
          "device", [](ChainObject& self) { return bytes_of(self.step().device()); },
          "The bytes of the tca::DeviceChain that kernels take (tca/chain.cuh).")
      .def_prop_ro(
          "name", [](ChainObject& self) { return self.step().name(); }, "What messages call it.");
  bind_steps<ChainObject>(chain);
}

}  // namespace opentca_python
