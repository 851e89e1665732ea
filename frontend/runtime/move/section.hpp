// A side of an assignment of sections: which of its steps each rank has, and where.
#pragma once

#include "runtime/move/steps.hpp"
#include "runtime/runtime.hpp"

namespace tca::xacc {

// Which dimensions of a section are loops: those of an assignment that have several elements, or all of them, also
// in reverse, as a transposed array has them.
enum class Loops { several, all, reversed };

class Side {
 public:
  // Throws Error for a section outside of its array. With its shadow, what a rank has includes that of others where
  // shadows are full.
  explicit Side(const xacc_section& section, Loops loops = Loops::several, bool with_shadow = false);

  const xacc_section& section() const { return *section_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }  // of each loop
  bool transposed() const { return kind_ == Loops::reversed; }
  // Which part of the array a rank has, by coordinates; ranks with the same part are copies of each other. None
  // where it has none.
  std::optional<std::vector<int>> part(int rank) const;
  // The steps whose elements a rank has.
  std::vector<Box> owned_by(int rank) const;
  // Where a rank has the steps of a box, which is part of one that it owns, in elements from its part's first.
  Steps steps(const Box& box, int rank) const;
  // The same on every rank.
  std::string describe() const;
  std::string shape() const;

 private:
  std::vector<int> coordinates(int rank) const;
  const xacc_layout* layout() const { return section_->array ? section_->array->layout : nullptr; }
  // Of dimension d: the steps that a rank has, where it has an index, and the extent of its memory.
  std::vector<Progression> owned(std::size_t d, const std::vector<int>& at) const;
  std::int64_t position(std::size_t d, std::int64_t index, const std::vector<int>& at) const;
  std::int64_t extent(std::size_t d, const std::vector<int>& at) const;

  const xacc_section* section_;
  Loops kind_;
  bool with_shadow_;
  std::vector<std::int64_t> base_, count_, step_;  // of each dimension
  std::vector<std::size_t> loops_;                 // the dimensions that are loops
  std::vector<std::int64_t> counts_;
};

// Of `ranks`, those that have different parts of a side: of copies the nearest behind `rank`, itself if it is one.
std::vector<int> holders(const Side& side, const std::vector<int>& ranks, int rank);
// All ranks that have elements of an array; none where it is not distributed.
std::vector<int> ranks_with(const Side& side);
// A section that is all of an array.
xacc_section all_of(xacc_array& a);
// All steps of a side.
Box whole(const Side& side);
// Where this rank has a side, from its first element on.
std::byte* memory_of(const xacc_section& section);
inline std::byte* memory_of(const Side& side) { return memory_of(side.section()); }
// A side's elements, one behind the other; and the other way round, or its only one (`one`) over and over.
std::vector<std::byte> gather(const Side& from, int me);
void spread(std::byte* into, const Side& to, const std::byte* values, bool one, int me);

}  // namespace tca::xacc
