#include "mpi/coll/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tca::interposer {

namespace {

// Floating-point numbers may be added in another order. What that does is small beside the largest of them.
template <class Number>
std::string difference_of(const std::vector<std::byte>& ours, const std::vector<std::byte>& theirs,
                          double tolerance) {
  const std::size_t count = ours.size() / sizeof(Number);
  std::vector<Number> a(count), b(count);
  std::memcpy(a.data(), ours.data(), count * sizeof(Number));
  std::memcpy(b.data(), theirs.data(), count * sizeof(Number));
  Number largest = 0;
  for (const Number number : b)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < count; ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (a[i] == b[i] || both_nan || std::abs(a[i] - b[i]) <= largest * static_cast<Number>(tolerance))
      continue;
    return fmt::format("number {} is {}, by MPI {}", i, a[i], b[i]);
  }
  return {};
}

}  // namespace

std::vector<std::byte> packed(const Output& output) {
  std::vector<std::byte> bytes;
  for (const Moved& buffer : output.buffers) {
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(buffer.bytes()));
    if (buffer.bytes() > 0) buffer.read_into(bytes.data() + before);
  }
  return bytes;
}

void restore(const Output& output, const std::vector<std::byte>& kept) {
  const std::byte* next = kept.data();
  for (const Moved& buffer : output.buffers) {
    if (buffer.bytes() > 0) buffer.write_from(next);
    next += buffer.bytes();
  }
}

std::string difference(const Output& output, const std::vector<std::byte>& ours,
                       const std::vector<std::byte>& theirs) {
  if (output.element != nullptr) {
    const Element& element = *output.element;
    if (element.kind == DataType::float32 || element.type == MPI_C_FLOAT_COMPLEX)
      return difference_of<float>(ours, theirs, 1e-4);
    if (element.kind == DataType::float64 || element.type == MPI_C_DOUBLE_COMPLEX)
      return difference_of<double>(ours, theirs, 1e-10);
    if (element.kind == DataType::long_double) return difference_of<long double>(ours, theirs, 1e-10);
  }
  const auto [a, b] = std::ranges::mismatch(ours, theirs);
  if (a == ours.end()) return {};
  return fmt::format("byte {} is {}, by MPI {}", a - ours.begin(), std::to_integer<int>(*a),
                     std::to_integer<int>(*b));
}

}  // namespace tca::interposer
