#include "collective.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <string_view>

#include "arrays/window.hpp"
#include "steps.hpp"
#include "world.hpp"

namespace opentca_python {

namespace {

using Kind = tca::CollectiveKind;

class CollectiveObject : public Member {
 public:
  CollectiveObject(std::shared_ptr<Place> place, tca::raw::Collective collective, ElementType elements,
                   nb::object reads, nb::object writes, bool of_one_value)
      : Member(std::move(place), Member::Kind::step),
        element(std::move(elements)),
        from(std::move(reads)),
        to(std::move(writes)),
        scalar(of_one_value),
        handle_(std::move(collective)) {}
  void drop() override { handle_.drop(); }
  tca::raw::Collective& step() { return present(*this, handle_, "collective"); }

  const ElementType element;
  const nb::object from, to;  // windows; not set for a barrier
  const bool scalar;          // a reduction of one value

 private:
  Handle<tca::raw::Collective> handle_;
};

// A class of Python's for each kind.
template <Kind kind>
class Of final : public CollectiveObject {
  using CollectiveObject::CollectiveObject;
};

// Combines by a function of the program's, which takes and returns arrays.
tca::raw::Combiner combiner(nb::object function, nb::object dtype, std::size_t bytes) {
  // Copies of a Combiner come and go without the interpreter's lock.
  const std::shared_ptr<nb::object> shared(new nb::object(nb::make_tuple(function, dtype)),
                                           [](nb::object* held) {
                                             const nb::gil_scoped_acquire lock;
                                             delete held;
                                           });
  return [shared, bytes](void* into, const void* left, const void* right, std::size_t count) {
    const nb::gil_scoped_acquire lock;
    const nb::module_ numpy = nb::module_::import_("numpy");
    const auto array = [&](const void* memory, int flags) {
      const nb::object view = nb::steal(PyMemoryView_FromMemory(
          static_cast<char*>(const_cast<void*>(memory)), static_cast<Py_ssize_t>(count * bytes), flags));
      return numpy.attr("frombuffer")(view, (*shared)[1]);
    };
    const nb::object combined = (*shared)[0](array(left, PyBUF_READ), array(right, PyBUF_READ));
    numpy.attr("copyto")(array(into, PyBUF_WRITE), combined);
  };
}

tca::raw::Operation operation(nb::handle op, nb::handle dtype, const ElementType& element) {
  if (!nb::isinstance<nb::str>(op)) {
    if (!nb::bool_(nb::steal(PyBool_FromLong(PyCallable_Check(op.ptr())))))
      throw tca::Error(tca::Errc::invalid_argument,
                       "a reduction's op is a name, or a function of two arrays");
    return combiner(nb::borrow(op), nb::module_::import_("numpy").attr("dtype")(dtype), element.bytes);
  }
  return reduce_op(nb::borrow<nb::str>(op).c_str());
}

std::vector<std::int64_t> shape_of(nb::handle shape) {
  if (shape.is_none()) return {};
  if (nb::isinstance<nb::int_>(shape)) return {nb::cast<std::int64_t>(shape)};
  std::vector<std::int64_t> extents;
  for (nb::handle extent : shape) extents.push_back(nb::cast<std::int64_t>(extent));
  return extents;
}

// What a collective of each kind is asked for.
struct Asked {
  std::string name;
  nb::object shape, dtype, op, source, result;
  int root;
  std::string algorithm, channel;
  std::optional<double> time_limit;
};

bool gathers(Kind kind, bool input) {
  switch (kind) {
    case Kind::all_gather:
      return !input;
    case Kind::reduce_scatter:
      return input;
    case Kind::all_to_all:
      return true;
    default:
      return false;
  }
}

// The window of a collective's own memory as an array: blocks of the shape, one for each rank where it has so many.
nb::object own_window(const std::shared_ptr<Place>& place, const tca::raw::Window& window,
                      const ElementType& element, std::vector<std::int64_t> block, const std::string& name) {
  const auto ranks = static_cast<std::size_t>(place->world().size());
  std::int64_t elements = 1;
  for (const std::int64_t extent : block) elements *= extent;
  if (static_cast<std::int64_t>(window.size()) != elements)
    block.insert(block.begin(), static_cast<std::int64_t>(ranks));
  return nb::cast(new WindowObject(place, window, element, std::vector(ranks, std::move(block)), name),
                  nb::rv_policy::take_ownership);
}

WindowObject& window_of(const std::shared_ptr<Place>& place, nb::handle window) {
  WindowObject* found = nullptr;
  if (!nb::try_cast(window, found) || found->place() != place) {
    throw tca::Error(
        tca::Errc::invalid_argument,
        "a collective's source and result are windows of its world. A group sees one as World.view(window)");
  }
  return *found;
}

template <Kind kind>
void make(Of<kind>* self, const WorldObject& of, const Asked& asked) {
  const std::shared_ptr<Place>& place = of.place;
  tca::World& world = place->world();
  tca::raw::Request request{.kind = kind, .name = asked.name, .root = asked.root};
  request.options.algorithm = asked.algorithm;
  request.options.channel = asked.channel;
  if (asked.time_limit) request.options.time_limit = milliseconds_of(*asked.time_limit);

  nb::object source = asked.source, result = asked.result;
  if (source.is_none()) source = result;
  if (result.is_none()) result = source;
  std::vector<std::int64_t> shape = shape_of(asked.shape);
  ElementType element;
  if (source.is_none()) {
    element = element_type(asked.dtype);
  } else {
    WindowObject& from = window_of(place, source);
    WindowObject& to = window_of(place, result);
    element = from.element();
    if (asked.shape.is_none()) {
      const bool in_place = &from == &to;
      std::int64_t elements = whole(from.shape()).elements();
      if (gathers(kind, true) || (in_place && gathers(kind, false))) elements /= world.size();
      shape = {elements};
    }
  }
  request.type = element.type;
  request.element_bytes = element.bytes;
  if (kind != Kind::barrier) request.count = whole(shape).elements();
  if (kind == Kind::all_reduce || kind == Kind::reduce_scatter) {
    nb::object dtype = asked.dtype;
    if (!source.is_none()) dtype = source.attr("dtype");
    request.operation = operation(asked.op, dtype, element);
  }

  tca::raw::Collective collective = [&] {
    if (source.is_none()) return without_lock([&] { return tca::raw::Collective(world, request); });
    const tca::raw::Window from = window_of(place, source).window(), to = window_of(place, result).window();
    if (source.is(result)) return without_lock([&] { return tca::raw::Collective(world, request, from); });
    return without_lock([&] { return tca::raw::Collective(world, request, from, to); });
  }();
  const bool scalar = source.is_none() && asked.shape.is_none();
  if (source.is_none() && kind != Kind::barrier) {
    const tca::raw::Window from = collective.from(), to = collective.to();
    source = own_window(place, from, element, shape, asked.name);
    result = from.data() == to.data() && from.number() == to.number()
                 ? source
                 : own_window(place, to, element, shape, asked.name);
  }
  new (self) Of<kind>(place, std::move(collective), element, std::move(source), std::move(result), scalar);
}

// A whole run: writes the value, and returns what came of it.
nb::object reduce(CollectiveObject& self, nb::handle value) {
  const auto run = [&] {
    start(self, nb::none());
    wait(self, nb::none());
  };
  const bool on_host = !self.place()->on_device();
  if (self.scalar && self.element.type == tca::DataType::float64 && on_host) {
    double number = nb::cast<double>(nb::float_(value));
    std::memcpy(self.step().from().data(), &number, sizeof number);
    run();
    std::memcpy(&number, self.step().to().data(), sizeof number);
    return nb::float_(number);
  }
  self.from.attr("__setitem__")(nb::ellipsis(), value);
  run();
  const nb::object result = self.to.attr("array");
  return self.scalar ? nb::object(result.attr("item")())
                     : nb::object(result.attr(nb::hasattr(result, "clone") ? "clone" : "copy")());
}

template <Kind kind>
auto bind(nb::module_& module, const char* name, const char* text) {
  auto type = nb::class_<Of<kind>, CollectiveObject>(module, name, text);
  bind_steps<Of<kind>>(type);
  return type;
}

const std::string options =
    "algorithm: str = '', channel: str = '', time_limit: float | None = None) -> None";
const std::string windows =
    "dtype: typing.Any = 'f8', source: Window | None = None, result: Window | None = None, ";

// A collective that moves blocks, and that reduces them where it has an op.
template <Kind kind>
auto bind_moving(nb::module_& module, const std::string& name, const char* text) {
  constexpr bool reduces = kind == Kind::all_reduce || kind == Kind::reduce_scatter;
  auto type = bind<kind>(module, name.c_str(), text);
  const std::string signature = "def __init__(self, world: World, name: str, shape: typing.Any = None, *, " +
                                windows + (reduces ? "op: typing.Any = 'sum', " : "") +
                                (kind == Kind::broadcast ? "root: int = 0, " : "") + options;
  const auto construct = [](Of<kind>* self, const WorldObject& world, const std::string& title,
                            nb::object shape, nb::object dtype, nb::object source, nb::object result,
                            nb::object op, int root, std::string algorithm, std::string channel,
                            std::optional<double> time_limit) {
    make<kind>(self, world,
               {title, std::move(shape), std::move(dtype), std::move(op), std::move(source),
                std::move(result), root, std::move(algorithm), std::move(channel), time_limit});
  };
  type.def("__init__", construct, "world"_a, "name"_a, "shape"_a = nb::none(), nb::kw_only(),
           "dtype"_a = "f8", "source"_a = nb::none(), "result"_a = nb::none(), "op"_a = "sum", "root"_a = 0,
           "algorithm"_a = "", "channel"_a = "", "time_limit"_a = nb::none(), nb::sig(signature.c_str()),
           "Collective. `shape` is that of a block, which is what one rank gives to one other. Without "
           "windows it has memory of its own; with one window it works in place.");
  return type;
}

}  // namespace

tca::ReduceOp reduce_op(std::string_view name) {
  if (name == "sum") return tca::ReduceOp::sum;
  if (name == "min") return tca::ReduceOp::min;
  if (name == "max") return tca::ReduceOp::max;
  if (name == "product") return tca::ReduceOp::product;
  throw tca::Error(
      tca::Errc::invalid_argument,
      "a reduction's op is \"sum\", \"min\", \"max\" or \"product\", or for collectives a function of "
      "two arrays, and not \"" +
          std::string(name) + "\"");
}

void bind_collectives(nb::module_& module) {
  nb::class_<CollectiveObject>(module, "Collective", "What all collectives have in common.")
      .def_prop_ro(
          "source", [](const CollectiveObject& self) { return self.from; }, "The window that it reads.",
          nb::sig("def source(self) -> Window"))
      .def_prop_ro(
          "result", [](const CollectiveObject& self) { return self.to; },
          "The window that it writes; it may be the source.", nb::sig("def result(self) -> Window"))
      .def_prop_ro(
          "algorithm", [](CollectiveObject& self) { return self.step().algorithm(); },
          "The one that was chosen or named (docs/design.md, \"Collectives\").");
  bind<Kind::barrier>(module, "Barrier", "Every rank waits until all have come.")
      .def(
          "__init__",
          [](Of<Kind::barrier>* self, const WorldObject& world, const std::string& name) {
            make<Kind::barrier>(
                self, world,
                {name, nb::none(), nb::str("u1"), nb::none(), nb::none(), nb::none(), 0, "", "", {}});
          },
          "world"_a, "name"_a, "Collective.");
  bind_moving<Kind::broadcast>(module, "Broadcast", "Gives the root's elements to every rank.");
  bind_moving<Kind::all_gather>(
      module, "AllGather",
      "Gives a block of every rank to every rank. In memory of its own, rank r writes "
      "`source[r]`.");
  bind_moving<Kind::all_reduce>(module, "AllReduce",
                                "Combines the elements of all ranks, and gives the result to every rank.")
      .def(
          "reduce", [](Of<Kind::all_reduce>& self, nb::handle value) { return reduce(self, value); },
          "value"_a, "A whole run: returns the combination of every rank's value, a number or an array.",
          nb::sig("def reduce(self, value: typing.Any) -> typing.Any"));
  bind_moving<Kind::reduce_scatter>(module, "ReduceScatter",
                                    "Rank r gets the combination of all ranks' blocks r.");
  bind_moving<Kind::all_to_all>(module, "AllToAll", "Block s of rank r becomes block r of rank s.");
}

}  // namespace opentca_python
