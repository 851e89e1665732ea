#include "model/machine/machine_units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

namespace tca::net {

namespace {

struct Unit {
  Quantity quantity;
  std::string_view name;
  double factor;
};

using enum Quantity;

// A rate in Gbit/s counts the bits carried, without the line coding of the lanes.
constexpr std::array units{
    Unit{time, "ps", 1},
    Unit{time, "ns", 1e3},
    Unit{time, "us", 1e6},
    Unit{time, "ms", 1e9},
    Unit{time, "s", 1e12},
    Unit{size, "B", 1},
    Unit{size, "KiB", 1024},
    Unit{size, "MiB", 1024.0 * 1024},
    Unit{size, "GiB", 1024.0 * 1024 * 1024},
    Unit{rate, "B/s", 1},
    Unit{rate, "MB/s", 1e6},
    Unit{rate, "GB/s", 1e9},
    Unit{rate, "TB/s", 1e12},
    Unit{rate, "Gbit/s", 1e9 / 8},
    Unit{operations, "Gflop/s", 1e9},
    Unit{operations, "Tflop/s", 1e12},
    Unit{count, "", 1},
};

}  // namespace

std::string_view describe(Quantity quantity) {
  switch (quantity) {
    case time:
      return "a time";
    case size:
      return "a size";
    case rate:
      return "a rate";
    case operations:
      return "a rate of operations";
    case count:
      return "a count";
  }
  return "?";
}

std::string units_of(Quantity quantity) {
  std::vector<std::string_view> names;
  for (const Unit& unit : units)
    if (unit.quantity == quantity && !unit.name.empty()) names.push_back(unit.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::optional<double> factor(Quantity quantity, std::string_view unit) {
  for (const Unit& known : units)
    if (known.quantity == quantity && known.name == unit) return known.factor;
  return std::nullopt;
}

std::optional<Quantity> quantity_of(std::string_view unit) {
  for (const Unit& known : units)
    if (known.name == unit) return known.quantity;
  return std::nullopt;
}

}  // namespace tca::net
