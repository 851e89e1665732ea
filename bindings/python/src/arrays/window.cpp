#include "arrays/window.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "arrays/buffer.hpp"
#include "arrays/device.hpp"
#include "interpreter.hpp"

namespace opentca_python {

namespace {

constexpr std::size_t max_dims = 8;

// What ranks tell each other of a window: their parts may differ.
struct Shape {
  std::int64_t dims;
  std::array<std::int64_t, max_dims> extents;
};

std::vector<std::vector<std::int64_t>> gather_shapes(tca::World& world,
                                                     const std::vector<std::int64_t>& mine) {
  Shape shape{static_cast<std::int64_t>(mine.size()), {}};
  std::copy(mine.begin(), mine.end(), shape.extents.begin());
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Shape& other : world.all_gather(shape))
    shapes.emplace_back(other.extents.begin(), other.extents.begin() + other.dims);
  return shapes;
}

}  // namespace

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

WindowObject::WindowObject(std::shared_ptr<Place> place, tca::raw::Window window, ElementType element,
                           std::vector<std::vector<std::int64_t>> shapes, std::string name,
                           nb::object kept_alive)
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
  if (this->place()->on_device()) use_device_of(memory_);
  const nb::ft_lock_guard lock(this->place()->mutex_);
  this->place()->windows_.emplace(reinterpret_cast<std::uintptr_t>(memory_), this);
}

WindowObject::~WindowObject() { forget(); }

void WindowObject::forget() {
  const nb::ft_lock_guard lock(place()->mutex_);
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

void fill_buffer(PyObject* owner, Py_buffer* view, int flags, void* memory, ElementType& element,
                 Geometry& array, std::vector<std::int64_t>& byte_strides) {
  static char nothing = 0;
  view->buf = memory != nullptr ? memory : &nothing;
  view->obj = owner;
  Py_INCREF(owner);
  view->len = static_cast<Py_ssize_t>(array.elements()) * static_cast<Py_ssize_t>(element.bytes);
  view->itemsize = static_cast<Py_ssize_t>(element.bytes);
  view->readonly = 0;
  view->ndim = static_cast<int>(array.shape.size());
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  view->format = (flags & PyBUF_FORMAT) != 0 ? element.format.data() : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? reinterpret_cast<Py_ssize_t*>(array.shape.data()) : nullptr;
  view->strides =
      (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? reinterpret_cast<Py_ssize_t*>(byte_strides.data()) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
}

void WindowObject::export_to(PyObject* self, Py_buffer* view, int flags) {
  if (closed_) place()->require_open("window");
  if (place()->on_device()) {
    throw tca::Error(tca::Errc::invalid_argument,
                     "this window lies in the memory of a GPU; window.array is an array of CuPy or torch");
  }
  fill_buffer(self, view, flags, memory_, element_, mine_, byte_strides_);
  ++exports_;
}

const std::vector<std::int64_t>& WindowObject::shape_on(int rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= shapes_.size()) {
    throw tca::Error(tca::Errc::invalid_argument, "Window.on(" + std::to_string(rank) +
                                                      "): the world has the ranks 0 to " +
                                                      std::to_string(shapes_.size() - 1));
  }
  return shapes_[static_cast<std::size_t>(rank)];
}

namespace {

// An array as its interface shows it: bytes of an element, and from one to the next along each axis.
struct Shown {
  const void* address;
  std::int64_t item;
  std::vector<std::int64_t> shape, strides;
};

[[noreturn]] void refuse_source(nb::handle array) {
  const std::string type = text(nb::object(array.type().attr("__name__")));
  throw tca::Error(tca::Errc::invalid_argument,
                   "Chain.put: the source is a " + type + ", and neither a window nor a slice of one");
}

Shown shown_by_buffer(nb::handle array) {
  const Buffer buffer(array, PyBUF_STRIDES);
  if (!buffer.valid()) {
    PyErr_Clear();
    refuse_source(array);
  }
  const auto dims = static_cast<std::size_t>(buffer->ndim);
  return {buffer->buf,
          buffer->itemsize,
          {buffer->shape, buffer->shape + dims},
          {buffer->strides, buffer->strides + dims}};
}

Shown shown_on_device(nb::handle array) {
  if (!nb::hasattr(array, "__cuda_array_interface__")) refuse_source(array);
  const nb::dict shown = nb::cast<nb::dict>(nb::object(array.attr("__cuda_array_interface__")));
  const auto type = nb::cast<std::string>(shown["typestr"]);  // such as "<f8"
  Shown all{reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(nb::object(shown["data"])[0])),
            std::stoll(type.substr(2)),
            nb::cast<std::vector<std::int64_t>>(shown["shape"]),
            {}};
  if (shown.contains("strides") && !nb::object(shown["strides"]).is_none()) {
    all.strides = nb::cast<std::vector<std::int64_t>>(shown["strides"]);
  } else {
    for (const std::int64_t stride : whole(all.shape).strides) all.strides.push_back(stride * all.item);
  }
  return all;
}

// Where a contiguous array lies that the program keeps.
void* memory_of(const Place& place, nb::handle array) {
  if (place.on_device()) return const_cast<void*>(shown_on_device(array).address);
  const Buffer buffer(array, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  if (!buffer.valid()) throw nb::python_error();
  return buffer->buf;
}

}  // namespace

nb::object make_window(const std::shared_ptr<Place>& place, nb::handle shape, nb::handle dtype,
                       const std::string& name, nb::object existing) {
  tca::World& world = place->world();
  const ElementType element = element_type(dtype);
  const std::vector<std::int64_t> extents = extents_of(shape);
  void* memory = nullptr;
  if (existing.is_valid()) memory = memory_of(*place, existing);
  std::vector<std::vector<std::int64_t>> shapes;
  tca::raw::Window window = without_lock([&] {
    shapes = gather_shapes(world, extents);
    const std::int64_t elements = whole(extents).elements();
    if (existing.is_valid()) return tca::raw::Window(world, memory, elements, element.bytes, name);
    return tca::raw::Window(world, elements, element.bytes, name);
  });
  return nb::cast(
      new WindowObject(place, std::move(window), element, std::move(shapes), name, std::move(existing)),
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
  return nb::cast(new WindowObject(place, place->world().view(window.window()), window.element(),
                                   std::move(shapes), window.name(), nb::find(&window)),
                  nb::rv_policy::take_ownership);
}

LocalPart local_part(const Place& place, nb::handle array, std::size_t element_bytes) {
  WindowObject* whole_window = nullptr;
  if (nb::try_cast(array, whole_window)) {
    if (whole_window->place().get() != &place) {
      throw tca::Error(
          tca::Errc::invalid_argument,
          "Chain.put: the source is a window of another world. A group sees one as World.view(window)");
    }
    return {whole_window, whole(whole_window->shape())};
  }
  const Shown shown = place.on_device() ? shown_on_device(array) : shown_by_buffer(array);
  const std::int64_t bytes = shown.item;
  const bool empty = std::ranges::count(shown.shape, 0) > 0;
  WindowObject* const window =
      place.window_at(shown.address, empty ? 0 : static_cast<std::size_t>(bytes), element_bytes);
  if (window == nullptr) {
    throw tca::Error(
        tca::Errc::invalid_argument,
        Place::window_anywhere(shown.address) != nullptr
            ? "Chain.put: the source lies in a window of another world. A group sees one as "
              "World.view(window)"
            : "Chain.put: the source lies in no window of this world, so the other rank cannot take it "
              "from there. Put slices of a window, such as u[1:-1, 0] of u = world.zeros(...), and no "
              "copies of them; a single element is the slice u[3:4]");
  }
  const auto size = static_cast<std::int64_t>(window->element().bytes);
  if (bytes != size) {
    throw tca::Error(tca::Errc::invalid_argument, "Chain.put: the source has elements of " +
                                                      std::to_string(bytes) + " bytes, and its window of " +
                                                      std::to_string(size));
  }
  LocalPart local{window, {0, shown.shape, {}}};
  const auto distance = static_cast<const char*>(shown.address) - static_cast<const char*>(window->begin());
  local.part.offset = empty ? 0 : distance / size;
  bool whole_elements = empty || distance % size == 0;
  for (std::size_t axis = 0; axis < shown.shape.size(); ++axis) {
    local.part.strides.push_back(shown.strides[axis] / size);
    whole_elements = whole_elements && (shown.shape[axis] <= 1 || shown.strides[axis] % size == 0);
  }
  if (!whole_elements)
    throw tca::Error(tca::Errc::invalid_argument,
                     "Chain.put: the source is no slice of whole elements of its window");
  return local;
}

}  // namespace opentca_python
