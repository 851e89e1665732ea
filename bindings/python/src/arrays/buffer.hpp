// Memory of other objects of Python, by its buffer protocol.
#pragma once

#include <nanobind/nanobind.h>

namespace opentca_python {

namespace nb = nanobind;

/// A buffer of an object, released at the end of the scope.
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

}  // namespace opentca_python
