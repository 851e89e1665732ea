#include "halo/fields.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/fail.hpp"

namespace tca::halo {

namespace {

using base::fail;

std::string_view name_of(DataType type) {
  constexpr std::array<std::string_view, 12> names{"float32",     "float64", "int32",  "int64",
                                                   "long double", "int8",    "int16",  "uint8",
                                                   "uint16",      "uint32",  "uint64", "other"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view name_of(ReduceOp op) {
  constexpr std::array<std::string_view, 4> names{"sum", "min", "max", "product"};
  return names[static_cast<std::size_t>(op)];
}

std::string describe(const core::WorldState& world, const Added& field) {
  std::string words = world.window_title(static_cast<std::uint32_t>(field.window));
  if (field.combined == 0) return words;
  const std::uint64_t combined = field.combined - 1;
  return fmt::format("{} for the {} of {}", words, name_of(static_cast<ReduceOp>(combined % 8)),
                     name_of(static_cast<DataType>(combined / 8)));
}

std::string describe(const core::WorldState& world, const std::vector<Added>& fields) {
  if (fields.empty()) return "nothing";
  std::vector<std::string> words;
  for (const Added& field : fields) words.push_back(describe(world, field));
  return fmt::format("{}", fmt::join(words, ", "));
}

bool is_same(const Added& a, const Added& b) { return a.window == b.window && a.combined == b.combined; }

}  // namespace

void require_room(const core::WorldState& world, const std::string& whose, std::int64_t elements,
                  const raw::Window& window, std::int64_t offset) {
  const auto have = static_cast<std::int64_t>(window.size());
  if (offset >= 0 && offset <= have && elements <= have - offset) return;
  fail(Errc::invalid_argument,
       "{}: a field of {} elements, ghosts included, does not fit at element {} of {}, which has {} here",
       whose, elements, offset, world.window_title(window.number()), have);
}

void require_apart(const core::WorldState& world, const std::string& whose, std::int64_t elements,
                   std::span<const Added> before, const raw::Window& window, std::int64_t offset) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Added& other = before[i];
    if (other.window != window.number() || std::abs(other.offset - offset) >= elements) continue;
    fail(Errc::invalid_argument,
         "{}: fields {} and {}, of {} elements from {} and {} on, overlap in {}; add each field once", whose,
         i, before.size(), elements, other.offset, offset, world.window_title(window.number()));
  }
}

void require_same(const core::WorldState& world, const std::string& whose,
                  const std::vector<std::vector<Added>>& by_rank) {
  const std::vector<Added>& first = by_rank.front();
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (std::ranges::equal(by_rank[rank], first, is_same)) continue;
    fail(Errc::refused,
         "{}: rank 0 has added {}; rank {} has added {}; every rank adds the same windows in the same order",
         whose, describe(world, first), rank, describe(world, by_rank[rank]));
  }
  if (first.empty()) fail(Errc::refused, "{} has no field: add a window before its commit", whose);
}

}  // namespace tca::halo
