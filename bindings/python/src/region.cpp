#include "region.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>

#include "arrays/buffer.hpp"
#include "arrays/window.hpp"
#include "interpreter.hpp"
#include "world.hpp"

namespace opentca_python {

using namespace nb::literals;

RegionObject::RegionObject(std::shared_ptr<Place> place, tca::Region region, ElementType element,
                           std::vector<std::int64_t> shape, nb::object kept_alive)
    : Member(std::move(place), Kind::window),
      region_(std::move(region)),
      element_(std::move(element)),
      array_(whole(std::move(shape))),
      kept_alive_(std::move(kept_alive)),
      memory_((*region_).data()) {
  for (const std::int64_t stride : array_.strides)
    byte_strides_.push_back(stride * static_cast<std::int64_t>(element_.bytes));
}

void RegionObject::drop() {
  closed_ = true;
  if (exports_ == 0) region_.drop();
}

void RegionObject::release() {
  if (--exports_ == 0 && closed_) region_.drop();
}

void RegionObject::export_to(PyObject* self, Py_buffer* view, int flags) {
  region();
  fill_buffer(self, view, flags, memory_, element_, array_, byte_strides_);
  ++exports_;
}

tca::RegionToken token_of(nb::handle bytes) {
  const Buffer buffer(bytes, PyBUF_SIMPLE);
  if (!buffer.valid()) throw nb::python_error();
  if (buffer->len != static_cast<Py_ssize_t>(tca::RegionToken::size)) {
    throw tca::Error(tca::Errc::incompatible, "a token of " + std::to_string(buffer->len) +
                                                  " bytes is none; Region.token has " +
                                                  std::to_string(tca::RegionToken::size));
  }
  std::array<std::byte, tca::RegionToken::size> content{};
  std::copy_n(static_cast<const std::byte*>(buffer->buf), content.size(), content.begin());
  return std::bit_cast<tca::RegionToken>(content);
}

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  try {
    nb::inst_ptr<RegionObject>(self)->export_to(self, view, flags);
    return 0;
  } catch (const std::exception& error) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
}

void release_buffer(PyObject* self, Py_buffer*) { nb::inst_ptr<RegionObject>(self)->release(); }

PyType_Slot region_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

void make(RegionObject* self, const WorldObject& of, nb::object shape, nb::object dtype, nb::object memory) {
  tca::World& world = of.place->world();
  const bool existing = !memory.is_none();
  const ElementType element = element_type(existing ? nb::object(memory.attr("dtype")) : dtype);
  std::vector<std::int64_t> extents = extents_of(existing ? nb::object(memory.attr("shape")) : shape);
  const std::int64_t bytes = whole(extents).elements() * static_cast<std::int64_t>(element.bytes);
  tca::Region region = [&] {
    if (!existing) return tca::Region::on_host(world, bytes);
    const Buffer buffer(memory, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    if (!buffer.valid()) throw nb::python_error();
    return tca::Region(world, buffer->buf, bytes);
  }();
  new (self) RegionObject(of.place, std::move(region), element, std::move(extents), std::move(memory));
}

}  // namespace

void bind_regions(nb::module_& module) {
  nb::class_<RegionObject>(module, "Region", nb::type_slots(region_slots),
                           "Memory of this rank that others may post into, from here until it is closed. "
                           "Other ranks name it by its "
                           "token. It is an array, as windows are.")
      .def(
          "__init__", &make, "world"_a, "shape"_a = 0, "dtype"_a = "u1", nb::kw_only(),
          "memory"_a = nb::none(),
          "New memory of zeros, or that of an array, into which the system has to let other processes write.",
          nb::sig("def __init__(self, world: World, shape: typing.Any = 0, dtype: typing.Any = 'u1', *, "
                  "memory: typing.Any = None) -> None"))
      .def_prop_ro(
          "token",
          [](RegionObject& self) {
            const tca::RegionToken token = self.region().token();
            return nb::bytes(reinterpret_cast<const char*>(&token), sizeof token);
          },
          "Names the region to the ranks of its world: bytes, which travel to them by any means.",
          nb::sig("def token(self) -> bytes"))
      .def_prop_ro(
          "array", [](nb::handle_t<RegionObject> self) { return as_array(self); },
          "The memory as a NumPy array, which keeps it, closed or not.",
          nb::sig("def array(self) -> numpy.ndarray"))
      .def_prop_ro(
          "shape", [](const RegionObject& self) { return nb::tuple(nb::cast(self.shape())); },
          "The elements along each dimension.", nb::sig("def shape(self) -> tuple[int, ...]"))
      .def(
          "__getitem__",
          [](nb::handle_t<RegionObject> self, nb::handle index) { return nb::object(as_array(self)[index]); },
          nb::sig("def __getitem__(self, index: typing.Any, /) -> typing.Any"))
      .def(
          "__setitem__",
          [](nb::handle_t<RegionObject> self, nb::handle index, nb::handle value) {
            as_array(self)[index] = value;
          },
          nb::sig("def __setitem__(self, index: typing.Any, value: typing.Any, /) -> None"))
      .def(
          "close", [](RegionObject& self) { self.drop(); },
          "From here on posts into the region are refused, once no array shows it any more.");
}

}  // namespace opentca_python
