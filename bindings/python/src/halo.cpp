#include "halo.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays/window.hpp"
#include "chain.hpp"
#include "collective.hpp"
#include "steps.hpp"
#include "tca/device/chain.hpp"
#include "world.hpp"

namespace opentca_python {

namespace {

class HaloObject final : public Member {
 public:
  HaloObject(std::shared_ptr<Place> place, tca::Halo halo)
      : Member(std::move(place), Kind::step), handle_(std::move(halo)) {}
  void drop() override { handle_.drop(); }
  tca::Halo& step() { return present(*this, handle_, "halo"); }

 private:
  Handle<tca::Halo> handle_;
};

class FoldObject final : public Member {
 public:
  FoldObject(std::shared_ptr<Place> place, tca::Fold fold)
      : Member(std::move(place), Kind::step), handle_(std::move(fold)) {}
  void drop() override { handle_.drop(); }
  tca::Fold& step() { return present(*this, handle_, "fold"); }

 private:
  Handle<tca::Fold> handle_;
};

using Numbers = std::vector<std::int64_t>;

// Ghosts as Python gives them: one number, or for each dimension a number or a pair.
std::vector<tca::GhostWidth> widths(nb::handle given, std::size_t dims) {
  if (given.is_none()) return {};
  if (nb::isinstance<nb::int_>(given)) {
    const auto width = nb::cast<std::int64_t>(given);
    return std::vector<tca::GhostWidth>(dims, {width, width});
  }
  std::vector<tca::GhostWidth> all;
  for (nb::handle dim : given) {
    if (nb::isinstance<nb::int_>(dim)) {
      all.push_back({nb::cast<std::int64_t>(dim), nb::cast<std::int64_t>(dim)});
    } else {
      const auto [low, high] = nb::cast<std::pair<std::int64_t, std::int64_t>>(dim);
      all.push_back({low, high});
    }
  }
  return all;
}

tca::Grid::Coordinates coordinates(const tca::Grid& grid, const std::vector<int>& numbers, const char* call) {
  if (static_cast<int>(numbers.size()) != grid.dims()) {
    throw tca::Error(tca::Errc::invalid_argument, std::string(call) + ": " + std::to_string(numbers.size()) +
                                                      " numbers for a grid of " +
                                                      std::to_string(grid.dims()) + " dimensions");
  }
  tca::Grid::Coordinates all{};
  std::copy(numbers.begin(), numbers.end(), all.begin());
  return all;
}

nb::tuple of_dims(const tca::Grid& grid, const tca::Grid::Coordinates& numbers) {
  return nb::tuple(nb::cast(std::vector<int>(numbers.begin(), numbers.begin() + grid.dims())));
}

void bind_grids(nb::module_& module) {
  nb::class_<tca::Grid>(module, "Grid", "A process grid of one to seven dimensions, in row-major order.")
      .def(
          "__init__",
          [](tca::Grid* self, int ranks, std::vector<int> shape, std::vector<bool> periodic,
             const Numbers& extents) {
            new (self) tca::Grid(ranks, std::move(shape), std::move(periodic), extents);
          },
          "ranks"_a, "shape"_a, "periodic"_a = std::vector<bool>{}, "extents"_a = Numbers{},
          "A grid of `shape` ranks; zeros are chosen, for an array of `extents` elements.")
      .def_static(
          "choose",
          [](int ranks, const Numbers& extents, std::vector<bool> periodic) {
            return tca::Grid::choose(ranks, extents, std::move(periodic));
          },
          "ranks"_a, "extents"_a, "periodic"_a = std::vector<bool>{},
          "The grid whose busiest rank sends the least for the faces of an array of `extents` elements.")
      .def_prop_ro("dims", &tca::Grid::dims, "How many dimensions it has.")
      .def_prop_ro("ranks", &tca::Grid::ranks, "How many ranks it holds.")
      .def_prop_ro(
          "shape",
          [](const tca::Grid& self) {
            std::vector<int> shape;
            for (int dim = 0; dim < self.dims(); ++dim) shape.push_back(self.extent(dim));
            return nb::tuple(nb::cast(shape));
          },
          "The ranks along each dimension.", nb::sig("def shape(self) -> tuple[int, ...]"))
      .def(
          "coordinates",
          [](const tca::Grid& self, int rank) { return of_dims(self, self.coordinates(rank)); }, "rank"_a,
          "Where a rank is.", nb::sig("def coordinates(self, rank: int) -> tuple[int, ...]"))
      .def(
          "rank_at",
          [](const tca::Grid& self, const std::vector<int>& at) {
            return self.rank_at(coordinates(self, at, "Grid.rank_at"));
          },
          "coordinates"_a, "The rank at a place.")
      .def(
          "neighbour",
          [](const tca::Grid& self, int rank, const std::vector<int>& step) {
            return self.neighbour(rank, coordinates(self, step, "Grid.neighbour"));
          },
          "rank"_a, "step"_a, "The rank that is `step` away; None past an end that is not periodic.")
      .def(
          "part",
          [](const tca::Grid& self, int rank, int dim, std::int64_t elements) {
            if (dim < 0 || dim >= self.dims())
              throw tca::Error(tca::Errc::invalid_argument,
                               "Grid.part: there is no dimension " + std::to_string(dim));
            const tca::Range part = self.part(rank, dim, elements);
            return nb::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyRange_Type), "LL",
                                                   static_cast<long long>(part.begin),
                                                   static_cast<long long>(part.begin + part.size)));
          },
          "rank"_a, "dim"_a, "elements"_a,
          "The share of a rank when the elements of a dimension are dealt out evenly.",
          nb::sig("def part(self, rank: int, dim: int, elements: int) -> range"))
      .def("__repr__",
           [](const tca::Grid& self) { return "<opentca.Grid of " + self.describe() + " ranks>"; });
}

void make_halo(HaloObject* self, const WorldObject& world, const std::string& name, const tca::Grid& grid,
               const Numbers& interior, nb::handle width, nb::handle exchange, bool corners, bool guarded,
               std::optional<double> time_limit, std::string channel) {
  tca::HaloOptions options{.width = widths(width, interior.size()),
                           .exchange = widths(exchange, interior.size()),
                           .corners = corners,
                           .chain = chain_options(guarded, time_limit, std::move(channel))};
  tca::World& of = world.place->world();
  tca::Halo halo = without_lock([&] { return tca::Halo(of, name, grid, interior, std::move(options)); });
  new (self) HaloObject(world.place, std::move(halo));
}

template <class Object>
void require_same_place(const char* call, Object& self, WindowObject& field) {
  if (field.place() == self.place()) return;
  throw tca::Error(
      tca::Errc::invalid_argument,
      std::string(call) + ": the window belongs to another world. A group sees one as World.view(window)");
}

void make_fold(FoldObject* self, const WorldObject& world, const std::string& name, HaloObject& halo,
               bool guarded, std::optional<double> time_limit, std::string channel) {
  tca::Fold fold(world.place->world(), name, halo.step(),
                 chain_options(guarded, time_limit, std::move(channel)));
  new (self) FoldObject(world.place, std::move(fold));
}

void bind_folds(nb::module_& module) {
  auto fold = nb::class_<FoldObject>(
      module, "Fold", "Adds what the ghosts of a halo have gathered to the cells that they stand for.");
  fold.def("__init__", &make_fold, "world"_a, "name"_a, "halo"_a, nb::kw_only(), "guarded"_a = true,
           "time_limit"_a = nb::none(), "channel"_a = "",
           "Of the ghosts that `halo`, which need not be committed, would fill.")
      .def(
          "add",
          [](nb::handle_t<FoldObject> self, WindowObject& field, std::int64_t offset, const std::string& op) {
            auto& of = *nb::inst_ptr<FoldObject>(self);
            require_same_place("Fold.add", of, field);
            of.step().add(field.window(), field.element().type, offset, reduce_op(op));
            return self;
          },
          "field"_a, "offset"_a = 0, "op"_a = "sum",
          "Adds a field of numbers, which begins `offset` elements into the window. `op` is \"sum\", "
          "\"min\", \"max\" "
          "or \"product\".",
          nb::sig("def add(self, field: Window, offset: int = 0, op: str = 'sum') -> Fold"))
      .def(
          "commit",
          [](FoldObject& self) {
            auto& step = self.step();
            without_lock([&] { step.commit(); });
          },
          "Collective. Raises Refused, with the same message on every rank, where their fields differ.")
      .def_prop_ro(
          "bytes", [](FoldObject& self) { return self.step().bytes(); },
          "The bytes of all fields that this rank sends in a step.");
  bind_steps<FoldObject>(fold);
}

void require_cell(const tca::Halo& halo, const Numbers& cell) {
  if (cell.size() != halo.extents().size()) {
    throw tca::Error(tca::Errc::invalid_argument, "Halo.index: " + std::to_string(cell.size()) +
                                                      " numbers for a halo of " +
                                                      std::to_string(halo.extents().size()) + " dimensions");
  }
}

}  // namespace

void bind_halos(nb::module_& module) {
  bind_grids(module);
  auto halo = nb::class_<HaloObject>(module, "Halo",
                                     "The ghost cells of an N-dimensional array and their exchange. A field "
                                     "is a window of the shape `extents`.");
  halo.def("__init__", &make_halo, "world"_a, "name"_a, "grid"_a, "interior"_a, nb::kw_only(),
           "width"_a = nb::none(), "exchange"_a = nb::none(), "corners"_a = false, "guarded"_a = true,
           "time_limit"_a = nb::none(), "channel"_a = "",
           "Collective. `interior` is how many cells of each dimension this rank owns. `width` is how many "
           "ghosts there are, "
           "and `exchange` how many of them are filled: a number, or for each dimension a number or (low, "
           "high).",
           nb::sig("def __init__(self, world: World, name: str, grid: Grid, interior: "
                   "collections.abc.Sequence[int], *, width: typing.Any = None, exchange: typing.Any = None, "
                   "corners: bool = False, guarded: bool = True, time_limit: float | None = None, channel: "
                   "str = '') -> None"))
      .def(
          "add",
          [](nb::handle_t<HaloObject> self, WindowObject& field, std::int64_t offset) {
            auto& of = *nb::inst_ptr<HaloObject>(self);
            require_same_place("Halo.add", of, field);
            of.step().add(field.window(), offset);
            return self;
          },
          "field"_a, "offset"_a = 0, "Adds a field, which begins `offset` elements into the window.",
          nb::sig("def add(self, field: Window, offset: int = 0) -> Halo"))
      .def(
          "add_counted",
          [](nb::handle_t<HaloObject> self, WindowObject& field, std::int64_t offset) {
            auto& of = *nb::inst_ptr<HaloObject>(self);
            require_same_place("Halo.add_counted", of, field);
            of.step().add_counted(field.window(), offset);
            return self;
          },
          "field"_a, "offset"_a = 0,
          "Adds a field whose faces are counted puts: the cells next to a side are a queue of what goes to "
          "the neighbour there.",
          nb::sig("def add_counted(self, field: Window, offset: int = 0) -> Halo"))
      .def(
          "to",
          [](HaloObject& self, std::size_t field, const std::vector<int>& side) {
            return self.step().to(field, std::span<const int>(side));
          },
          "field"_a, "side"_a,
          "What goes from this rank's cells of a counted field to the neighbour at `side`, such as (-1, 0); "
          "None where none is there. After the commit.")
      .def(
          "from_",
          [](HaloObject& self, std::size_t field, const std::vector<int>& side) {
            return self.step().from(field, std::span<const int>(side));
          },
          "field"_a, "side"_a, "What comes from the neighbour at `side` into the ghosts there.")
      .def(
          "commit",
          [](HaloObject& self) {
            auto& step = self.step();
            without_lock([&] { step.commit(); });
          },
          "Collective. Raises Refused, with the same message on every rank, where their fields differ.")
      .def_prop_ro(
          "extents",
          [](HaloObject& self) {
            const auto extents = self.step().extents();
            return nb::tuple(nb::cast(Numbers(extents.begin(), extents.end())));
          },
          "The elements of each dimension of a field, ghosts included.",
          nb::sig("def extents(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "elements", [](HaloObject& self) { return self.step().elements(); },
          "The elements of a field, ghosts included.")
      .def_prop_ro(
          "bytes", [](HaloObject& self) { return self.step().bytes(); },
          "The bytes of all fields that this rank sends in a step.")
      .def(
          "index",
          [](HaloObject& self, const Numbers& cell) {
            require_cell(self.step(), cell);
            return self.step().index(std::span<const std::int64_t>(cell));
          },
          "cell"_a,
          "The offset of a cell in a field, in elements. The interior begins at 0, and -1 is a ghost.");
  halo.def(
      "device", [](HaloObject& self) { return bytes_of(self.step().device()); },
      "The bytes of the tca::DeviceChain that kernels take (tca/chain.cuh).");
  bind_steps<HaloObject>(halo);
  bind_folds(module);
}

}  // namespace opentca_python
