// Memory that other ranks post into.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays/elements.hpp"
#include "arrays/geometry.hpp"
#include "membership.hpp"
#include "tca/post.hpp"

namespace opentca_python {

/// A region as a row-major array. It stays as long as an array of Python's shows it, closed or not.
class RegionObject final : public Member {
 public:
  RegionObject(std::shared_ptr<Place> place, tca::Region region, ElementType element,
               std::vector<std::int64_t> shape, nb::object kept_alive);

  void drop() override;
  tca::Region& region() {
    if (closed_) place()->require_open("region");
    return present(*this, region_, "region");
  }
  const std::vector<std::int64_t>& shape() const { return array_.shape; }

  /// Python's buffer protocol.
  void export_to(PyObject* self, Py_buffer* view, int flags);
  void release();

 private:
  Handle<tca::Region> region_;
  ElementType element_;
  Geometry array_;
  std::vector<std::int64_t> byte_strides_;
  nb::object kept_alive_;  // whose memory a region of existing memory is
  void* memory_;
  std::atomic<long> exports_ = 0;
  bool closed_ = false;
};

/// The bytes of a token. Throws Error{incompatible} where they are none.
tca::RegionToken token_of(nb::handle bytes);

void bind_regions(nb::module_& module);

}  // namespace opentca_python
