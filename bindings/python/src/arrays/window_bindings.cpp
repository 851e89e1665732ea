#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>

#include "arrays/buffer.hpp"
#include "arrays/device.hpp"
#include "arrays/window.hpp"
#include "interpreter.hpp"
#include "tca/device/window.hpp"

namespace opentca_python {

using namespace nb::literals;

nb::object as_array(nb::handle buffer) {
  // Looked up once, and kept for good, as modules are; by several threads at a time, if they come at once. An import gives
  // the interpreter's lock away, so whoever waited for it in a guard of C++'s would keep it from ever ending.
  static std::atomic<PyObject*> known{nullptr};
  PyObject* convert = known.load(std::memory_order_acquire);
  if (convert == nullptr) {
    convert = nb::object(nb::module_::import_("numpy").attr("asarray")).release().ptr();
    known.store(convert, std::memory_order_release);
  }
  return nb::handle(convert)(buffer);
}

namespace {

// This rank's part, as an array of NumPy or of the library that the world uses on GPUs.
nb::object array_of(nb::handle_t<WindowObject> window) {
  WindowObject& of = *nb::inst_ptr<WindowObject>(window);
  return of.place()->on_device() ? device_array(*of.place(), window) : as_array(window);
}

nb::object cuda_interface(WindowObject& window) {
  if (!window.place()->on_device()) throw nb::attribute_error("__cuda_array_interface__");
  window.window();
  window.pin();
  nb::dict shown;
  shown["shape"] = nb::tuple(nb::cast(window.shape()));
  shown["typestr"] = type_string(window.element());
  shown["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(window.begin()), false);
  shown["strides"] = nb::none();
  shown["version"] = 3;
  shown["stream"] = nb::none();  // steps are ordered on the streams of those who use the array
  return shown;
}

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

nb::tuple tuple_of(const std::vector<std::int64_t>& shape) { return nb::tuple(nb::cast(shape)); }

RemoteObject part_on(nb::handle_t<WindowObject> self, int rank) {
  auto& window = *nb::inst_ptr<WindowObject>(self);
  window.window();
  return {nb::borrow(self), &window, rank, whole(window.shape_on(rank))};
}

void put_now(const RemoteObject& target, nb::handle value) {
  WindowObject& window = *target.window;
  if (target.part.elements() != 1) {
    throw tca::Error(tca::Errc::invalid_argument,
                     "Remote.put: one element at a time, not an array of the shape " +
                         describe(target.part.shape) + "; a chain puts more");
  }
  const nb::object dtype = window.place()->on_device()
                               ? nb::object(nb::str(type_string(window.element()).c_str()))
                               : nb::object(as_array(target.holder).attr("dtype"));
  const nb::object one = nb::module_::import_("numpy").attr("array")(value, "dtype"_a = dtype);
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
      .def(
          "__getitem__",
          [](const RemoteObject& self, nb::handle index) {
            return RemoteObject{self.holder, self.window, self.rank, indexed(self.part, index)};
          },
          "index"_a, nb::sig("def __getitem__(self, index: typing.Any, /) -> Remote"))
      .def("put", &put_now, "value"_a,
           "Puts one element at once, outside of any chain: its target sees it some time later.")
      .def_ro("rank", &RemoteObject::rank, "Whose part it is.")
      .def_prop_ro(
          "shape", [](const RemoteObject& self) { return tuple_of(self.part.shape); },
          "The elements along each dimension.", nb::sig("def shape(self) -> tuple[int, ...]"))
      .def("__repr__", [](const RemoteObject& self) {
        return "<opentca.Remote of the shape " + describe(self.part.shape) + " on rank " +
               std::to_string(self.rank) + ">";
      });

  nb::class_<WindowObject>(
      module, "Window", nb::type_slots(window_slots),
      "Memory that every rank registers together. It is an array: of NumPy (`window.array`), and "
      "of all that read buffers, `__array_interface__` or DLPack, without a copy. Attributes that it "
      "lacks are the array's: `u.sum()`, `u.dtype`.")
      .def("on", &part_on, "rank"_a, "The part of a rank, as a target of puts: `u.on(right)[1:-1, 0]`.",
           nb::sig("def on(self, rank: int) -> Remote"))
      .def_prop_ro("array", &array_of,
                   "This rank's part as a NumPy array, and on GPUs as one of CuPy or torch. It stays valid "
                   "when the world is "
                   "closed.",
                   nb::sig("def array(self) -> typing.Any"))
      .def(
          "tensor",
          [](nb::handle_t<WindowObject> self) {
            return nb::object(nb::module_::import_("opentca._arrays").attr("tensor")(self));
          },
          "This rank's part as a tensor of torch, without a copy.", nb::sig("def tensor(self) -> typing.Any"))
      .def_prop_ro(
          "peer_pointers",
          [](WindowObject& self) {
            const tca::DeviceWindow<std::byte>& device = self.window().device();
            std::vector<std::uintptr_t> parts;
            for (std::uint32_t rank = 0; rank < device.size; ++rank)
              parts.push_back(reinterpret_cast<std::uintptr_t>(device.parts[rank]));
            return nb::tuple(nb::cast(parts));
          },
          "The addresses of all ranks' parts as kernels of this one reach them; 0 where they do not. On the "
          "fabric cuda.",
          nb::sig("def peer_pointers(self) -> tuple[int, ...]"))
      .def(
          "device", [](WindowObject& self) { return bytes_of(self.window().device()); },
          "The bytes of the tca::DeviceWindow<std::byte> that kernels take (tca/window.cuh).")
      .def_prop_ro(
          "shape", [](const WindowObject& self) { return tuple_of(self.shape()); },
          "The elements along each dimension.", nb::sig("def shape(self) -> tuple[int, ...]"))
      .def(
          "shape_on", [](const WindowObject& self, int rank) { return tuple_of(self.shape_on(rank)); },
          "rank"_a, "The shape of a rank's part.",
          nb::sig("def shape_on(self, rank: int) -> tuple[int, ...]"))
      .def_prop_ro("name", &WindowObject::name, "What messages call it.")
      .def_prop_ro(
          "itemsize", [](const WindowObject& self) { return self.element().bytes; },
          "The bytes of an element.")
      .def(
          "__getitem__",
          [](nb::handle_t<WindowObject> self, nb::handle index) { return nb::object(array_of(self)[index]); },
          nb::sig("def __getitem__(self, index: typing.Any, /) -> typing.Any"))
      .def(
          "__setitem__",
          [](nb::handle_t<WindowObject> self, nb::handle index, nb::handle value) {
            array_of(self)[index] = value;
          },
          nb::sig("def __setitem__(self, index: typing.Any, value: typing.Any, /) -> None"))
      .def("__len__",
           [](const WindowObject& self) {
             if (self.shape().empty()) throw nb::type_error("a window of a single element has no length");
             return self.shape().front();
           })
      .def(
          "__getattr__",
          [](nb::handle_t<WindowObject> self, const char* name) {
            // Not of what Python itself asks for, such as __array_struct__.
            if (std::strncmp(name, "__", 2) == 0) throw nb::attribute_error(name);
            return nb::object(array_of(self).attr(name));
          },
          nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def_prop_ro(
          "__array_interface__",
          [](nb::handle_t<WindowObject> self) {
            if (nb::inst_ptr<WindowObject>(self)->place()->on_device())
              throw nb::attribute_error("__array_interface__");
            nb::inst_ptr<WindowObject>(self)->pin();
            return nb::object(as_array(self).attr("__array_interface__"));
          },
          nb::sig("def __array_interface__(self) -> dict[str, typing.Any]"))
      .def_prop_ro("__cuda_array_interface__", &cuda_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, typing.Any]"))
      .def(
          "__dlpack__",
          [](nb::handle_t<WindowObject> self, nb::kwargs options) {
            return nb::object(array_of(self).attr("__dlpack__")(**options));
          },
          nb::sig("def __dlpack__(self, **options: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__",
          [](nb::handle_t<WindowObject> self) -> nb::object {
            const bool on_device = nb::inst_ptr<WindowObject>(self)->place()->on_device();
            return on_device ? nb::object(array_of(self).attr("__dlpack_device__")()) : nb::make_tuple(1, 0);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__repr__", [](const WindowObject& self) {
        return "<opentca.Window " + (self.name().empty() ? "" : "'" + self.name() + "' ") + "of the shape " +
               describe(self.shape()) + ", elements '" + self.element().format + "'>";
      });
}

}  // namespace opentca_python
