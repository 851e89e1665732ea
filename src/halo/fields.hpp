// The fields of a halo or a fold: arrays in windows, which every rank adds in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/codec.hpp"
#include "core/world/world_state.hpp"
#include "tca/halo.hpp"
#include "tca/raw/window.hpp"

namespace tca::halo {

// A field as described to the other ranks. Its offset in the window may differ from rank to rank; how it is
// combined may not.
struct Added {
  std::uint64_t window = 0;
  std::int64_t offset = 0;
  std::uint64_t combined = 0;  // by a fold: its type and operation; see `combination`

  static constexpr std::uint64_t combination(DataType type, ReduceOp op) {
    return 1 + static_cast<std::uint64_t>(type) * 8 + static_cast<std::uint64_t>(op);
  }
};

base::Blob encode(const std::vector<Added>& fields);
std::vector<Added> decode(const base::Blob& blob);

// Throws Error{invalid_argument} if a field of so many elements does not fit its window. `whose` names what
// it is added to, such as "halo 'u'".
void require_room(const core::WorldState& world, const std::string& whose, std::int64_t elements,
                  const raw::Window& window, std::int64_t offset);

// Throws Error{invalid_argument} if a field overlaps one that was added before.
void require_apart(const core::WorldState& world, const std::string& whose, std::int64_t elements,
                   std::span<const Added> before, const raw::Window& window, std::int64_t offset);

// Collective. Delivers letters to their recipients, and returns those for this rank. Throws Error{refused},
// on every rank alike, unless all ranks have added the same windows in the same order, and at least one.
std::vector<control::Letter> exchange_fields(const core::WorldState& world, const std::string& whose,
                                             const std::vector<Added>& mine,
                                             const std::vector<control::Letter>& letters);

}  // namespace tca::halo
