// The functions of xmp.h that rearrange whole arrays. Transposing moves every element once. The others read
// anywhere, so every rank first has what they read as a whole.
#include <algorithm>
#include <cstdarg>
#include <cstring>

#include "runtime/move/typed.hpp"
#include "runtime/move/whole.hpp"
#include "runtime/xmp.hpp"

namespace tca::xacc {
namespace {

void check_same_elements(const Whole& a, const Whole& b) {
  if (a.bytes() != b.bytes())
    refuse(a.name() + " and " + b.name() + " have elements of " + std::to_string(a.bytes()) + " and " +
           std::to_string(b.bytes()) + " bytes, which are not converted");
}

void multiply(Whole& x, Whole& a, Whole& b) {
  if (x.dims() != 2 || a.dims() != 2 || b.dims() != 2 || a.extent(1) != b.extent(0) ||
      x.extent(0) != a.extent(0) || x.extent(1) != b.extent(1))
    refuse(a.name() + " and " + b.name() + " are no matrices whose product has the shape of " + x.name());
  if (a.type() != x.type() || b.type() != x.type())
    refuse("the matrices have elements of different types, which are not converted");
  with_type(x.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t rows = x.extent(0), columns = x.extent(1), inner = a.extent(1);
    T *to = x.as<T>(), *left = a.as<T>(), *right = b.as<T>();
    std::fill(to, to + rows * columns, zero);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < inner; ++k)
        for (std::int64_t j = 0; j < columns; ++j)
          to[i * columns + j] =
              static_cast<T>(to[i * columns + j] + left[i * inner + k] * right[k * columns + j]);
  });
}

// The element of `a` that the arrays of indices name for their element i.
std::int64_t element_of(const Whole& a, std::vector<Whole>& indices, std::int64_t i) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < a.dims(); ++d) {
    const std::int64_t index = indices[d].number(i);
    if (index < 0 || index >= a.extent(d))
      refuse("index " + std::to_string(index) + " in " + indices[d].name() + " is outside of " + a.name() +
             ", which has " + std::to_string(a.extent(d)) + " elements along dimension " + std::to_string(d));
    at = at * a.extent(d) + index;
  }
  return at;
}

// The elements of `many`, in order, for which a mask is set, from or into those of `few`.
template <class Body>
void for_masked(const Whole& many, const Whole& few, void* mask, Body body) {
  std::optional<Whole> set;
  if (mask) set.emplace(mask);
  if (set && set->size() != many.size())
    refuse("mask " + set->name() + " has another shape than " + many.name());
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < many.size(); ++i) {
    if (set && set->number(i) == 0) continue;
    if (next == few.size())
      refuse(few.name() + " has " + std::to_string(few.size()) + " elements, and the mask is set more often");
    body(i, next++);
  }
}

void sort(void* from, void* to, bool down) {
  Whole source(from), target(to);
  check_same_elements(source, target);
  if (source.size() != target.size()) refuse(source.name() + " and " + target.name() + " differ in length");
  with_real_type(source.type(), [&](auto zero) {
    using T = decltype(zero);
    T* begin = source.as<T>();
    T* end = begin + source.size();
    std::sort(begin, end);
    if (down) std::reverse(begin, end);
  });
  std::memcpy(target.at(0), source.at(0), static_cast<std::size_t>(source.size()) * source.bytes());
  target.store();
}

std::vector<Whole> indices_of(void* descriptor, va_list list) {
  const auto* a = static_cast<const xacc_array*>(descriptor);
  std::vector<Whole> indices;
  for (std::size_t d = 0; a->layout && d < a->layout->dims.size(); ++d)
    indices.emplace_back(va_arg(list, void*));
  return indices;
}

// Functions have no place in the source.
void called(const char* name, const std::function<void()>& body) {
  const xacc_place at{"", 0, name};
  guarded(&at, body);
}

}  // namespace
}  // namespace tca::xacc

using namespace tca::xacc;

void xmp_transpose(void* to, void* from, int) {
  called("xmp_transpose", [&] {
    const xacc_section left = all_of(*static_cast<xacc_array*>(to)),
                       right = all_of(*static_cast<xacc_array*>(from));
    move(Side(left, Loops::reversed), Side(right, Loops::all));
  });
}

void xmp_matmul(void* x, void* a, void* b) {
  called("xmp_matmul", [&] {
    Whole to(x), left(a), right(b);
    multiply(to, left, right);
    to.store();
  });
}

void xmp_gather(void* x, void* a, ...) {
  va_list list;
  va_start(list, a);
  called("xmp_gather", [&] {
    std::vector<Whole> indices = indices_of(a, list);
    Whole to(x), from(a);
    check_same_elements(to, from);
    for (std::int64_t i = 0; i < to.size(); ++i)
      std::memcpy(to.at(i), from.at(element_of(from, indices, i)), to.bytes());
    to.store();
  });
  va_end(list);
}

void xmp_scatter(void* x, void* a, ...) {
  va_list list;
  va_start(list, a);
  called("xmp_scatter", [&] {
    std::vector<Whole> indices = indices_of(x, list);
    Whole to(x), from(a);
    check_same_elements(to, from);
    for (std::int64_t i = 0; i < from.size(); ++i)
      std::memcpy(to.at(element_of(to, indices, i)), from.at(i), to.bytes());
    to.store();
  });
  va_end(list);
}

void xmp_pack(void* v, void* a, void* mask) {
  called("xmp_pack", [&] {
    Whole to(v), from(a);
    check_same_elements(to, from);
    for_masked(from, to, mask,
               [&](std::int64_t i, std::int64_t n) { std::memcpy(to.at(n), from.at(i), to.bytes()); });
    to.store();
  });
}

void xmp_unpack(void* a, void* v, void* mask) {
  called("xmp_unpack", [&] {
    Whole to(a), from(v);
    check_same_elements(to, from);
    for_masked(to, from, mask,
               [&](std::int64_t i, std::int64_t n) { std::memcpy(to.at(i), from.at(n), to.bytes()); });
    to.store();
  });
}

void xmp_sort_up(void* from, void* to) {
  called("xmp_sort_up", [&] { sort(from, to, false); });
}

void xmp_sort_down(void* from, void* to) {
  called("xmp_sort_down", [&] { sort(from, to, true); });
}
