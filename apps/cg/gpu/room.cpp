#include <fmt/format.h>

#include <algorithm>

#include "cg/gpu/run.hpp"
#include "tca/error.hpp"

namespace tca::cg {

// What is used most comes first, and the matrix gets what is left.
Room plan_room(const Tiles::Most& most, const Tiling& tiling, bool merged, std::size_t bytes) {
  constexpr std::size_t value = sizeof(double);
  constexpr std::size_t step = step_elements * (sizeof(double) + sizeof(std::uint16_t));
  std::size_t used = most.columns * value;
  if (used > bytes)
    throw Error(Errc::invalid_argument,
                fmt::format("a block would need {} bytes of shared memory for {} columns and has {}; take a "
                            "smaller class",
                            used, most.columns, bytes));
  Room room;
  const auto place = [&](Word& at, std::size_t size) {
    if (used + size > bytes) return;
    at = static_cast<Word>(used);
    used += (size + value - 1) / value * value;
  };
  place(room.own, own_vectors * most.own * value);
  if (merged) place(room.residual, most.columns * value);
  place(room.slices, most.slices * sizeof(Slice));
  place(room.row_of, std::size_t{most.slices} * tiling.slice_rows() * sizeof(Word));
  room.kept_steps =
      static_cast<Word>(std::min<std::size_t>(most.steps, (bytes - std::min(used, bytes)) / step));
  room.value = static_cast<Word>(used);
  room.column = static_cast<Word>(used + room.kept_steps * step_elements * value);
  room.bytes = static_cast<Word>(used + room.kept_steps * step);
  return room;
}

std::uint64_t spill_of(const Tiles::Most& most, const Room& room, bool merged) {
  std::uint64_t spill = 0;
  if (room.own == Room::nowhere) spill += std::uint64_t{own_vectors} * most.own;
  if (merged && room.residual == Room::nowhere) spill += most.columns;
  return spill;
}

}  // namespace tca::cg
