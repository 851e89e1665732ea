// Windows as arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <string>
#include <vector>

#include "arrays/elements.hpp"
#include "arrays/geometry.hpp"
#include "membership.hpp"

namespace opentca_python {

/// A window whose part on each rank is a row-major array. The memory stays as long as an array of Python's shows it, closed
/// or not.
class WindowObject final : public Member {
 public:
  /// Of a window of C++; `shapes` by rank.
  WindowObject(std::shared_ptr<Place> place, tca::raw::Window window, ElementType element,
               std::vector<std::vector<std::int64_t>> shapes, std::string name, nb::object kept_alive = {});
  ~WindowObject() override;

  void drop() override;

  tca::raw::Window& window() {
    if (closed_) place()->require_open("window");
    return present(*this, window_, "window");
  }
  const ElementType& element() const { return element_; }
  const std::vector<std::int64_t>& shape() const { return mine_.shape; }
  const std::vector<std::int64_t>& shape_on(int rank) const;
  const std::vector<std::vector<std::int64_t>>& shapes() const { return shapes_; }
  const std::string& name() const { return name_; }
  const void* begin() const { return memory_; }
  std::size_t bytes() const { return static_cast<std::size_t>(mine_.elements()) * element_.bytes; }

  /// Python's buffer protocol.
  void export_to(PyObject* self, Py_buffer* view, int flags);
  void release();
  /// For interfaces that hand out an address and do not say when it is no longer used: the memory stays as long as this.
  void pin() { ++exports_; }

 private:
  void forget();

  Handle<tca::raw::Window> window_;
  ElementType element_;
  std::vector<std::vector<std::int64_t>> shapes_;
  Geometry mine_;
  std::vector<std::int64_t> byte_strides_;
  std::string name_;
  nb::object kept_alive_;  // whose memory a window of existing memory is
  void* memory_;
  std::atomic<long> exports_ = 0;
  bool closed_ = false;
};

/// Part of a window on some rank, as the target of a put.
struct RemoteObject {
  nb::object holder;  // the window
  WindowObject* window;
  int rank;
  Geometry part;
};

/// Collective. Makes a window with the part `shape` on this rank, of new memory or of an existing array's.
nb::object make_window(const std::shared_ptr<Place>& place, nb::handle shape, nb::handle dtype,
                       const std::string& name, nb::object existing);

/// The window of a world as a group sees it.
nb::object view_window(const std::shared_ptr<Place>& place, WindowObject& window);

/// The extents that a shape of Python's has. Throws Error{invalid_argument} for what is no shape.
std::vector<std::int64_t> extents_of(nb::handle shape);

/// Describes a row-major array as the buffer protocol asks for it. What it points to lives as long as the view.
void fill_buffer(PyObject* owner, Py_buffer* view, int flags, void* memory, ElementType& element,
                 Geometry& array, std::vector<std::int64_t>& byte_strides);

/// The NumPy array of a buffer.
nb::object as_array(nb::handle buffer);

/// Part of this rank's own memory: a window, or an array that shows part of one.
struct LocalPart {
  WindowObject* window;
  Geometry part;
};
LocalPart local_part(const Place& place, nb::handle array, std::size_t element_bytes);

void bind_windows(nb::module_& module);

}  // namespace opentca_python
