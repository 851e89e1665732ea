#include "halo/fields.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/fail.hpp"
#include "base/hash.hpp"

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

// Throws on every rank alike, since not all have added the same.
void refuse_different(const core::WorldState& world, const std::string& whose, const std::vector<Added>& mine,
                      const std::string& what) {
  std::vector<Added> first;
  int rank = 0;
  for (const base::Blob& blob : world.control().all_gather(encode(mine), what)) {
    const std::vector<Added> theirs = decode(blob);
    if (rank == 0) first = theirs;
    if (!std::ranges::equal(theirs, first, is_same)) {
      fail(
          Errc::refused,
          "{}: rank 0 has added {}; rank {} has added {}; every rank adds the same windows in the same order",
          whose, describe(world, first), rank, describe(world, theirs));
    }
    ++rank;
  }
}

}  // namespace

base::Blob encode(const std::vector<Added>& fields) {
  base::Writer writer;
  for (const Added& field : fields) writer.put(field);
  return writer.blob();
}

std::vector<Added> decode(const base::Blob& blob) {
  std::vector<Added> fields;
  for (base::Reader reader(blob); !reader.done();) fields.push_back(reader.get<Added>());
  return fields;
}

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

std::vector<control::Letter> exchange_fields(const core::WorldState& world, const std::string& whose,
                                             const std::vector<Added>& mine,
                                             const std::vector<control::Letter>& letters) {
  base::Writer writer;
  for (const Added& field : mine) writer.put(field.window).put(field.combined);
  const auto [same, not_same] = control::vote_for(base::fnv1a(writer.blob()));
  const std::string what = fmt::format("commit of {}", whose);
  control::Exchanged met = world.control().exchange(letters, {same, not_same}, what);
  if (!control::all_voted_alike(met.votes[0], met.votes[1])) refuse_different(world, whose, mine, what);
  if (mine.empty()) fail(Errc::refused, "{} has no field: add a window before its commit", whose);
  return std::move(met.letters);
}

}  // namespace tca::halo
