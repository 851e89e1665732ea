// The benchmark's sizes, initial values and operation count.
#include "himeno/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tca/error.hpp"

namespace tca::himeno {

namespace {

// The benchmark's own arrays are one longer in each dimension (33 x 33 x 65 for XS) and leave the last place
// unused.
constexpr std::array<Size, 5> all_sizes{{
    {"XS", {32, 32, 64}},
    {"S", {64, 64, 128}},
    {"M", {128, 128, 256}},
    {"L", {256, 256, 512}},
    {"XL", {512, 512, 1024}},
}};

bool same_name(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](unsigned char l, unsigned char r) { return std::toupper(l) == std::toupper(r); });
}

}  // namespace

double Problem::flops_per_iteration() const {
  const Extents cells = interior();
  return 34.0 * static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]);
}

float Problem::initial_pressure(std::int64_t i) const {
  const std::int64_t last = extents[0] - 1;
  return static_cast<float>(i * i) / static_cast<float>(last * last);
}

std::span<const Size> sizes() { return all_sizes; }

const Size& size_named(std::string_view name) {
  for (const Size& size : all_sizes) {
    if (same_name(size.name, name)) return size;
  }
  std::string known;
  for (const Size& size : all_sizes) {
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", size.name, describe(size.extents));
  }
  throw Error(Errc::invalid_argument, fmt::format("there is no size \"{}\"; choose one of {}", name, known));
}

std::string describe(const Extents& extents) {
  return fmt::format("{}x{}x{}", extents[0], extents[1], extents[2]);
}

std::string name_of(const Extents& extents) {
  const auto size = std::ranges::find(all_sizes, extents, &Size::extents);
  return size == all_sizes.end() ? describe(extents) : std::string(size->name);
}

}  // namespace tca::himeno
