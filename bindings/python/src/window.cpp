#include "window.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <span>

#include "interpreter.hpp"

namespace opentca_python {

using namespace nb::literals;

namespace {

constexpr std::size_t max_dims = 8;

// What ranks tell each other of a window: their parts may differ.
struct Shape {
  std::int64_t dims;
  std::array<std::int64_t, max_dims> extents;
};

std::vector<std::int64_t> extents_of(nb::handle shape) {
  std::vector<std::int64_t> extents;
  if (PyIndex_Check(shape.ptr()) != 0) {
    extents.push_back(nb::cast<std::int64_t>(shape.attr("__index__")()));
  } else {
    for (nb::handle extent : shape) extents.push_back(nb::cast<std::int64_t>(extent.attr("__index__")()));
  }
  if (extents.size() > max_dims)
    throw tca::Error(tca::Errc::invalid_argument, "a window's array has up to 8 dimensions");
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) {
      throw tca::Error(tca::Errc::invalid_argument,
                       "a window of the shape " + describe(extents) + " cannot be");
    }
  }
  return extents;
}

std::vector<std::vector<std::int64_t>> gather_shapes(tca::World& world, const std::vector<std::int64_t>& mine) {
  Shape shape{static_cast<std::int64_t>(mine.size()), {}};
  std::copy(mine.begin(), mine.end(), shape.extents.begin());
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Shape& other : world.all_gather(shape))
    shapes.emplace_back(other.extents.begin(), other.extents.begin() + other.dims);
  return shapes;
}

// A buffer of Python's, released at the end of the scope.
class Buffer {
 public:
  Buffer(nb::handle object, int flags) : valid_(PyObject_GetBuffer(object.ptr(), &view_, flags) == 0) {}
  ~Buffer() {
    if (valid_) PyBuffer_Release(&view_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  bool valid() const { return valid_; }
  const Py_buffer& operator*() const { return view_; }
  const Py_buffer* operator->() const { return &view_; }

 private:
  Py_buffer view_;
  bool valid_;
};

nb::object as_array(nb::handle window) {
  // Looked up once, and kept for good, as modules are.
  static const nb::handle convert = nb::object(nb::module_::import_("numpy").attr("asarray")).release();
  return convert(window);
}

}  // namespace

WindowObject::WindowObject(std::shared_ptr<Place> place, tca::raw::Window window, ElementType element,
                           std::vector<std::vector<std::int64_t>> shapes, std::string name, nb::object kept_alive)
    : Member(std::move(place), Kind::window),
      window_(std::move(window)),
      element_(std::move(element)),
      shapes_(std::move(shapes)),
      mine_(whole(shapes_.at(static_cast<std::size_t>(this->place()->world().rank())))),
      name_(std::move(name)),
      kept_alive_(std::move(kept_alive)),
      memory_((*window_).data()) {
  for (const std::int64_t stride : mine_.strides)
    byte_strides_.push_back(stride * static_cast<std::int64_t>(element_.bytes));
  this->place()->windows_.emplace(reinterpret_cast<std::uintptr_t>(memory_), this);
}

WindowObject::~WindowObject() { forget(); }

void WindowObject::forget() {
  auto& windows = place()->windows_;
  const auto [first, last] = windows.equal_range(reinterpret_cast<std::uintptr_t>(memory_));
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second == this) {
      windows.erase(entry);
      return;
    }
  }
}

void WindowObject::drop() {
  closed_ = true;
  forget();
  if (exports_ == 0) window_.drop();
}

void WindowObject::release() {
  if (--exports_ == 0 && closed_) window_.drop();
}

void WindowObject::export_to(PyObject* self, Py_buffer* view, int flags) {
  if (closed_) place()->require_open("window");
  static char nothing = 0;
  view->buf = memory_ != nullptr ? memory_ : &nothing;
  view->obj = self;
  Py_INCREF(self);
  view->len = static_cast<Py_ssize_t>(bytes());
  view->itemsize = static_cast<Py_ssize_t>(element_.bytes);
  view->readonly = 0;
  view->ndim = static_cast<int>(mine_.shape.size());
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  view->format = (flags & PyBUF_FORMAT) != 0 ? element_.format.data() : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? reinterpret_cast<Py_ssize_t*>(mine_.shape.data()) : nullptr;
  view->strides =
      (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? reinterpret_cast<Py_ssize_t*>(byte_strides_.data()) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  ++exports_;
}

const std::vector<std::int64_t>& WindowObject::shape_on(int rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= shapes_.size()) {
    throw tca::Error(tca::Errc::invalid_argument, "Window.on(" + std::to_string(rank) + "): the world has the ranks 0 to " +
                                                      std::to_string(shapes_.size() - 1));
  }
  return shapes_[static_cast<std::size_t>(rank)];
}

nb::object make_window(const std::shared_ptr<Place>& place, nb::handle shape, nb::handle dtype, const std::string& name,
                       nb::object existing) {
  tca::World& world = place->world();
  const ElementType element = element_type(dtype);
  const std::vector<std::int64_t> extents = extents_of(shape);
  void* memory = nullptr;
  if (existing.is_valid()) {
    const Buffer buffer(existing, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    if (!buffer.valid()) throw nb::python_error();
    memory = buffer->buf;
  }
  std::vector<std::vector<std::int64_t>> shapes;
  tca::raw::Window window = without_lock([&] {
    shapes = gather_shapes(world, extents);
    const std::int64_t elements = whole(extents).elements();
    if (existing.is_valid()) return tca::raw::Window(world, memory, elements, element.bytes, name);
    return tca::raw::Window(world, elements, element.bytes, name);
  });
  return nb::cast(new WindowObject(place, std::move(window), element, std::move(shapes), name, std::move(existing)),
                  nb::rv_policy::take_ownership);
}

nb::object view_window(const std::shared_ptr<Place>& place, WindowObject& window) {
  std::vector<int> ranks(static_cast<std::size_t>(place->world().size()));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = static_cast<int>(rank);
  for (const Place* at = place.get(); at != window.place().get(); at = at->around()) {
    if (at->around() == nullptr) {
      throw tca::Error(tca::Errc::invalid_argument,
                       "World.view: the window belongs to another world, of which this is no group");
    }
    for (int& rank : ranks) rank = at->rank_around(rank);
  }
  std::vector<std::vector<std::int64_t>> shapes;
  for (const int rank : ranks) shapes.push_back(window.shape_on(rank));
  return nb::cast(new WindowObject(place, place->world().view(window.window()), window.element(), std::move(shapes),
                                   window.name(), nb::find(&window)),
                  nb::rv_policy::take_ownership);
}

LocalPart local_part(const Place& place, nb::handle array, std::size_t element_bytes) {
  WindowObject* whole_window = nullptr;
  if (nb::try_cast(array, whole_window)) {
    if (whole_window->place().get() != &place) {
      throw tca::Error(tca::Errc::invalid_argument,
                       "Chain.put: the source is a window of another world. A group sees one as World.view(window)");
    }
    return {whole_window, whole(whole_window->shape())};
  }
  const Buffer buffer(array, PyBUF_STRIDES);
  if (!buffer.valid()) {
    PyErr_Clear();
    const std::string type = text(nb::object(array.type().attr("__name__")));
    throw tca::Error(tca::Errc::invalid_argument,
                     "Chain.put: the source is a " + type + ", and neither a window nor a slice of one");
  }
  const auto bytes = static_cast<std::size_t>(buffer->itemsize);
  const bool empty = buffer->len == 0;
  WindowObject* const window = place.window_at(buffer->buf, empty ? 0 : bytes, element_bytes);
  if (window == nullptr) {
    throw tca::Error(tca::Errc::invalid_argument,
                     Place::window_anywhere(buffer->buf) != nullptr
                         ? "Chain.put: the source lies in a window of another world. A group sees one as "
                           "World.view(window)"
                         : "Chain.put: the source lies in no window of this world, so the other rank cannot take it "
                           "from there. Put slices of a window, such as u[1:-1, 0] of u = world.zeros(...), and no "
                           "copies of them; a single element is the slice u[3:4]");
  }
  const auto size = static_cast<std::int64_t>(window->element().bytes);
  if (static_cast<std::int64_t>(bytes) != size) {
    throw tca::Error(tca::Errc::invalid_argument,
                     "Chain.put: the source has elements of " + std::to_string(bytes) + " bytes, and its window of " +
                         std::to_string(size));
  }
  LocalPart local{window, {}};
  const auto distance = static_cast<const char*>(buffer->buf) - static_cast<const char*>(window->begin());
  local.part.offset = empty ? 0 : distance / size;
  bool whole_elements = empty || distance % size == 0;
  for (int axis = 0; axis < buffer->ndim; ++axis) {
    local.part.shape.push_back(buffer->shape[axis]);
    local.part.strides.push_back(buffer->strides[axis] / size);
    whole_elements = whole_elements && (buffer->shape[axis] <= 1 || buffer->strides[axis] % size == 0);
  }
  if (!whole_elements)
    throw tca::Error(tca::Errc::invalid_argument, "Chain.put: the source is no slice of whole elements of its window");
  return local;
}

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  try {
    nb::inst_ptr<WindowObject>(self)->export_to(self, view, flags);
    return 0;
  } catch (const std::exception& error) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
}

void release_buffer(PyObject* self, Py_buffer*) { nb::inst_ptr<WindowObject>(self)->release(); }

PyType_Slot window_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

nb::tuple tuple_of(const std::vector<std::int64_t>& shape) {
  return nb::tuple(nb::cast(shape));
}

RemoteObject part_on(nb::handle_t<WindowObject> self, int rank) {
  auto& window = *nb::inst_ptr<WindowObject>(self);
  window.window();
  return {nb::borrow(self), &window, rank, whole(window.shape_on(rank))};
}

void put_now(const RemoteObject& target, nb::handle value) {
  WindowObject& window = *target.window;
  if (target.part.elements() != 1) {
    throw tca::Error(tca::Errc::invalid_argument,
                     "Remote.put: one element at a time, not an array of the shape " + describe(target.part.shape) +
                         "; a chain puts more");
  }
  const nb::object one =
      nb::module_::import_("numpy").attr("array")(value, "dtype"_a = as_array(target.holder).attr("dtype"));
  const Buffer buffer(one, PyBUF_SIMPLE);
  if (!buffer.valid()) throw nb::python_error();
  if (static_cast<std::size_t>(buffer->len) != window.element().bytes)
    throw tca::Error(tca::Errc::invalid_argument, "Remote.put: the value is not one element of the window");
  const tca::raw::Remote at = window.window().on(target.rank).at(target.part.offset);
  at_once(*window.place(), [&] { at.put(buffer->buf); });
}

}  // namespace

void bind_windows(nb::module_& module) {
  nb::class_<RemoteObject>(module, "Remote",
                           "Part of a window on some rank: `u.on(rank)[slices]`, the target of a put.")
      .def("__getitem__",
           [](const RemoteObject& self, nb::handle index) {
             return RemoteObject{self.holder, self.window, self.rank, indexed(self.part, index)};
           },
           "index"_a, nb::sig("def __getitem__(self, index: typing.Any, /) -> Remote"))
      .def("put", &put_now, "value"_a,
           "Puts one element at once, outside of any chain: its target sees it some time later.")
      .def_ro("rank", &RemoteObject::rank)
      .def_prop_ro("shape", [](const RemoteObject& self) { return tuple_of(self.part.shape); },
                   nb::sig("def shape(self) -> tuple[int, ...]"))
      .def("__repr__", [](const RemoteObject& self) {
        return "<opentca.Remote of the shape " + describe(self.part.shape) + " on rank " + std::to_string(self.rank) +
               ">";
      });

  nb::class_<WindowObject>(module, "Window", nb::type_slots(window_slots),
                           "Memory that every rank registers together. It is an array: of NumPy (`window.array`), and "
                           "of all that read buffers, `__array_interface__` or DLPack, without a copy. Attributes that it "
                           "lacks are the array's: `u.sum()`, `u.dtype`.")
      .def("on", &part_on, "rank"_a, "The part of a rank, as a target of puts: `u.on(right)[1:-1, 0]`.",
           nb::sig("def on(self, rank: int) -> Remote"))
      .def_prop_ro("array", [](nb::handle_t<WindowObject> self) { return as_array(self); },
                   "This rank's part as a NumPy array. It stays valid when the world is closed.",
                   nb::sig("def array(self) -> numpy.ndarray"))
      .def_prop_ro("shape", [](const WindowObject& self) { return tuple_of(self.shape()); },
                   nb::sig("def shape(self) -> tuple[int, ...]"))
      .def("shape_on", [](const WindowObject& self, int rank) { return tuple_of(self.shape_on(rank)); }, "rank"_a,
           "The shape of a rank's part.", nb::sig("def shape_on(self, rank: int) -> tuple[int, ...]"))
      .def_prop_ro("name", &WindowObject::name)
      .def_prop_ro("itemsize", [](const WindowObject& self) { return self.element().bytes; })
      .def("__getitem__",
           [](nb::handle_t<WindowObject> self, nb::handle index) { return nb::object(as_array(self)[index]); },
           nb::sig("def __getitem__(self, index: typing.Any, /) -> typing.Any"))
      .def("__setitem__",
           [](nb::handle_t<WindowObject> self, nb::handle index, nb::handle value) { as_array(self)[index] = value; },
           nb::sig("def __setitem__(self, index: typing.Any, value: typing.Any, /) -> None"))
      .def("__len__",
           [](const WindowObject& self) {
             if (self.shape().empty()) throw nb::type_error("a window of a single element has no length");
             return self.shape().front();
           })
      .def("__getattr__",
           [](nb::handle_t<WindowObject> self, const char* name) {
             // Not of what Python itself asks for, such as __array_struct__.
             if (std::strncmp(name, "__", 2) == 0) throw nb::attribute_error(name);
             return nb::object(as_array(self).attr(name));
           },
           nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def_prop_ro("__array_interface__",
                   [](nb::handle_t<WindowObject> self) {
                     nb::inst_ptr<WindowObject>(self)->pin();
                     return nb::object(as_array(self).attr("__array_interface__"));
                   },
                   nb::sig("def __array_interface__(self) -> dict[str, typing.Any]"))
      .def("__dlpack__",
           [](nb::handle_t<WindowObject> self, nb::kwargs options) {
             return nb::object(as_array(self).attr("__dlpack__")(**options));
           },
           nb::sig("def __dlpack__(self, **options: typing.Any) -> typing.Any"))
      .def("__dlpack_device__", [](const WindowObject&) { return nb::make_tuple(1, 0); },
           nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__repr__", [](const WindowObject& self) {
        return "<opentca.Window " + (self.name().empty() ? "" : "'" + self.name() + "' ") + "of the shape " +
               describe(self.shape()) + ", elements '" + self.element().format + "'>";
      });
}

}  // namespace opentca_python
