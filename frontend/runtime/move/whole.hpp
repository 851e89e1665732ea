// All elements of a distributed array, for what reads them in any order.
#pragma once

#include "runtime/move/gmove.hpp"

namespace tca::xacc {

// Row by row, on every rank that executes; making one is collective.
class Whole {
 public:
  explicit Whole(void* descriptor);

  // Puts those that this rank owns back into the array.
  void store() const;

  std::int64_t size() const { return volume(box_); }
  std::int64_t extent(std::size_t d) const { return box_[d].count; }
  std::size_t dims() const { return box_.size(); }
  std::size_t bytes() const { return section_.element_bytes; }
  int type() const { return array_->layout->type; }
  const std::string& name() const { return array_->layout->name; }
  std::byte* at(std::int64_t i) { return values_.data() + static_cast<std::size_t>(i) * bytes(); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(values_.data());
  }
  // An integer of an array of indices or of a mask.
  std::int64_t number(std::int64_t i);

 private:
  xacc_array* array_;
  xacc_section section_;
  Box box_;
  std::vector<std::byte> values_;
};

}  // namespace tca::xacc
