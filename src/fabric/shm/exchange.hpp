// Collective calls by which every rank allocates a region and attaches to those of the others.
#pragma once

#include <string_view>
#include <vector>

#include "control/control.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

// By rank: what each has to share, and this rank's mapping of it. The mapping is empty for a rank outside
// the reach, one that shares nothing, and one whose memory is in its inbox.
struct Shared {
  std::vector<Token> tokens;
  std::vector<Mapping> mappings;
};

// Seals the region when it goes, whether all ranks have attached or something went wrong.
struct Seal {
  Space& space;
  const Token& token;
  ~Seal() {
    if (token.is_region()) space.seal(token);
  }
};

// Collective. Returns the tokens of all ranks. Throws Error{out_of_memory} on every rank when that of one has an
// error. `what` names the call in messages.
std::vector<Token> gather_tokens(control::Control& control, const Token& token, std::string_view what);

// Collective. Shares the memory `mine`, for which `token` stands, and maps what the ranks in `reach` share.
// Throws as `gather_tokens`, and on every rank what Space::attach throws on one.
Shared share_all(Space& space, control::Control& control, Mapping mine, const Token& token,
                 const Reach& reach, std::string_view what);

// As `share_all` for `bytes` that each rank allocates. Returns the mappings by rank.
std::vector<Mapping> allocate_all(Space& space, control::Control& control, std::size_t bytes, Backing backing,
                                  const Reach& reach, std::string_view what);

}  // namespace tca::shm
