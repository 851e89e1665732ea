#include "world.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "arrays/window.hpp"
#include "chain.hpp"
#include "interpreter.hpp"
#include "launch.hpp"

namespace opentca_python {

using namespace nb::literals;

namespace {

// Closes a group with the world around it.
class GroupOf final : public Member {
 public:
  GroupOf(std::shared_ptr<Place> around, Place& group)
      : Member(std::move(around), Kind::group), group_(group) {}
  void drop() override { group_.close(false); }

 private:
  Place& group_;
};

WorldObject group_of(const std::shared_ptr<Place>& around, tca::World made) {
  std::vector<int> ranks = without_lock([&] { return made.all_gather(around->world().rank()); });
  auto place = std::make_shared<Place>(std::move(made), around->threads(), around->arrays());
  place->enter(around, std::move(ranks), std::make_unique<GroupOf>(around, *place));
  return {std::move(place)};
}

// Gathers objects, as bytes of the length that the longest one needs.
nb::list gather_objects(tca::World& world, nb::handle mine) {
  const nb::module_ pickle = nb::module_::import_("pickle");
  const nb::bytes bytes = nb::cast<nb::bytes>(pickle.attr("dumps")(mine));
  std::vector<std::size_t> lengths;
  std::vector<std::byte> all;
  std::size_t longest = 0;
  without_lock([&] {
    lengths = world.all_gather(bytes.size());
    longest = *std::max_element(lengths.begin(), lengths.end());
    std::vector<std::byte> padded(longest);
    std::copy_n(static_cast<const std::byte*>(bytes.data()), bytes.size(), padded.begin());
    all.resize(longest * lengths.size());
    world.all_gather(padded, all);
  });
  nb::list objects;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank)
    objects.append(pickle.attr("loads")(nb::bytes(all.data() + rank * longest, lengths[rank])));
  return objects;
}

void bind_lifetime(nb::class_<WorldObject>& world) {
  world
      .def(
          "__init__", [](WorldObject* self, nb::kwargs options) { new (self) WorldObject{come_up(options)}; },
          "Collective. Comes up as one rank of `tca run`, mpirun, srun, flux or torchrun, or alone as a "
          "world of one; of "
          "`comm`, a communicator of mpi4py; or of `size` processes of one host that know a `key`. "
          "Times are in seconds.",
          nb::sig(
              "def __init__(self, *, comm: typing.Any = None, rank: int | None = None, size: int | None = "
              "None, key: str | None = None, fabric: str = '', machine: str = '', fidelity: str = '', "
              "time_limit: float = 30.0, faults: str = '', reroute: bool = False, trace: bool = False, "
              "check_steps: bool = False, progress_thread: bool = False, device: int | None = None, "
              "engine_blocks: int = 0, arrays: typing.Any = None) -> None"))
      .def(
          "__enter__", [](nb::handle_t<WorldObject> self) { return self; },
          nb::sig("def __enter__(self) -> World"))
      .def(
          "__exit__",
          [](WorldObject& self, nb::handle type, nb::handle, nb::handle) {
            self.place->close(!type.is_none());
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
          "Closes the world. After an exception the other ranks hear at once that this one has failed.",
          nb::sig("def __exit__(self, type: typing.Any, value: typing.Any, traceback: typing.Any) -> None"))
      .def(
          "close", [](WorldObject& self) { self.place->close(false); },
          "Closes chains, halos and collectives, then windows, then the world. Neither collective nor "
          "blocking. Arrays that "
          "show windows stay valid.")
      .def_prop_ro(
          "closed", [](const WorldObject& self) { return self.place->closed(); }, "Whether it is closed.");
}

void bind_members(nb::class_<WorldObject>& world) {
  world
      .def(
          "zeros",
          [](WorldObject& self, nb::object shape, nb::object dtype, const std::string& name) {
            return make_window(self.place, shape, dtype, name, {});
          },
          "shape"_a, "dtype"_a = "f8", "name"_a = "",
          "Collective. Makes a window of zeros. Ranks may ask for different shapes.",
          nb::sig("def zeros(self, shape: typing.Any, dtype: typing.Any = 'f8', name: str = '') -> Window"))
      .def(
          "empty",
          [](WorldObject& self, nb::object shape, nb::object dtype, const std::string& name) {
            return make_window(self.place, shape, dtype, name, {});
          },
          "shape"_a, "dtype"_a = "f8", "name"_a = "",
          "The same as zeros: memory that is new to a process is zero.",
          nb::sig("def empty(self, shape: typing.Any, dtype: typing.Any = 'f8', name: str = '') -> Window"))
      .def(
          "window",
          [](WorldObject& self, nb::object array, const std::string& name) {
            return make_window(self.place, array.attr("shape"), array.attr("dtype"), name, array);
          },
          "array"_a, "name"_a = "",
          "Collective. Makes a window of an array that is there already: where ranks are threads, and over "
          "MPI. Between processes of one host take zeros.",
          nb::sig("def window(self, array: typing.Any, name: str = '') -> Window"))
      .def(
          "chain",
          [](WorldObject& self, const std::string& name, bool guarded, std::optional<double> time_limit,
             std::string channel, bool partners_only, bool reroute) {
            return new ChainObject(
                self.place,
                self.place->world().chain(
                    name, chain_options(guarded, time_limit, std::move(channel), partners_only, reroute)));
          },
          "name"_a, nb::kw_only(), "guarded"_a = true, "time_limit"_a = nb::none(), "channel"_a = "",
          "partners_only"_a = false, "reroute"_a = false, nb::rv_policy::take_ownership,
          "Makes an empty chain, which concerns no other rank before it is committed: by all ranks together, "
          "or with `partners_only` by those that the chain joins. With `reroute` it goes round what fails.",
          nb::sig("def chain(self, name: str, *, guarded: bool = True, time_limit: float | None = None, "
                  "channel: str = '', partners_only: bool = False, reroute: bool = False) "
                  "-> Chain"))
      .def(
          "group",
          [](WorldObject& self, const std::vector<int>& ranks) {
            tca::World& of = self.place->world();
            return group_of(self.place, without_lock([&] { return of.group(ranks); }));
          },
          "ranks"_a,
          "Collective over these ranks alone: makes a world of them, in which the first is rank 0.")
      .def(
          "split",
          [](WorldObject& self, int color, int key) {
            tca::World& of = self.place->world();
            return group_of(self.place, without_lock([&] { return of.split(color, key); }));
          },
          "color"_a, "key"_a = 0, "Collective. Makes a group of those ranks that give the same colour.")
      .def(
          "view", [](WorldObject& self, WindowObject& window) { return view_window(self.place, window); },
          "window"_a,
          "A window of the world around, as this group sees it: the same memory, with the group's ranks.",
          nb::sig("def view(self, window: Window) -> Window"));
}

void bind_rest(nb::class_<WorldObject>& world) {
  world
      .def_prop_ro(
          "rank", [](WorldObject& self) { return self.place->world().rank(); }, "This rank.")
      .def_prop_ro(
          "size", [](WorldObject& self) { return self.place->world().size(); }, "How many ranks there are.")
      .def(
          "barrier",
          [](WorldObject& self) {
            auto& of = self.place->world();
            without_lock([&] { of.barrier(); });
          },
          "Collective, for set-up; in inner loops use Barrier.")
      .def(
          "all_gather",
          [](WorldObject& self, nb::object value) { return gather_objects(self.place->world(), value); },
          "value"_a, "Collective, for set-up: a list of the objects of all ranks, which are pickled.",
          nb::sig("def all_gather(self, value: typing.Any) -> list[typing.Any]"))
      .def(
          "sub_cluster_of_ranks",
          [](WorldObject& self) { return self.place->world().sub_cluster_of_ranks(); },
          "For each rank the number of the sub-cluster that it is in.")
      .def(
          "now",
          [](WorldObject& self) {
            auto& of = self.place->world();
            return at_once(*self.place, [&] { return of.now().count(); });
          },
          "Seconds by this rank's clock; a virtual one on sim.")
      .def(
          "compute",
          [](WorldObject& self, double bytes, double flops) {
            auto& of = self.place->world();
            without_lock([&] { of.compute(bytes, flops); });
          },
          "bytes"_a, "flops"_a, "Tells sim that this rank computes; does nothing on other fabrics.")
      .def(
          "progress",
          [](WorldObject& self) {
            auto& of = self.place->world();
            at_once(*self.place, [&] { of.progress(); });
          },
          "Progresses the steps of this rank's chains without blocking.")
      .def(
          "check", [](WorldObject& self) { self.place->world().check(); },
          "Raises the error of a step that was ordered on a stream, or of a put from a kernel, if there was "
          "one.")
      .def(
          "write_trace",
          [](WorldObject& self, const std::string& path) {
            auto& of = self.place->world();
            without_lock([&] { of.write_trace(path); });
          },
          "path"_a,
          "Collective. Writes every rank's events for ui.perfetto.dev; the world was made with trace=True.")
      .def(
          "describe", [](WorldObject& self) { return self.place->world().describe(); },
          "One line: which fabrics this world runs on and how it came up.")
      .def("__repr__", [](const WorldObject& self) {
        return self.place->closed() ? std::string("<opentca.World, closed>")
                                    : "<opentca.World: " + self.place->world().describe() + ">";
      });
}

}  // namespace

void bind_worlds(nb::module_& module) {
  nb::class_<WorldObject> world(module, "World", "All the ranks of a program, and this one's part in it.");
  bind_lifetime(world);
  bind_members(world);
  bind_rest(world);
  module.def(
      "run_threads", &run_threads, "ranks"_a, "body"_a, "options"_a,
      "Runs `body(world)` in threads of this process, each of them a rank, and returns what they return, by "
      "rank. Raises the exception of the rank that failed first. `fabric=\"sim\"` runs on a modelled "
      "machine.",
      nb::sig("def run_threads(ranks: int, body: collections.abc.Callable[[World], typing.Any], *, fabric: "
              "str = '', machine: str = '', fidelity: str = '', time_limit: float = 30.0, faults: str = '', "
              "reroute: bool = False, trace: bool = False, check_steps: bool = False) -> list[typing.Any]"));
}

}  // namespace opentca_python
