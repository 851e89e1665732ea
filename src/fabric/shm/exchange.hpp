// Collective calls in which ranks allocate a region and attach to those of the others.
#pragma once

#include <string_view>
#include <vector>

#include "control/members.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

// By rank: what each shares, and this rank's mapping of it. The mapping is empty for a rank that is out of
// reach, one that shares nothing, and one whose memory is in its inbox.
struct Shared {
  std::vector<Token> tokens;
  std::vector<Mapping> mappings;
};

// Seals the region when destroyed, whether all ranks have attached or something went wrong.
struct Seal {
  Space& space;
  const Token& token;
  ~Seal() {
    if (token.is_region()) space.seal(token);
  }
};

// Collective over the members. Returns their tokens by rank, `ranks` entries in all, empty for non-members.
// Throws Error{out_of_memory} on every member if the token of one holds an error. `what` names the call in
// messages.
std::vector<Token> gather_tokens(const control::Members& members, std::size_t ranks, const Token& token,
                                 std::string_view what);

// Collective over the members. Shares the memory `mine`, which `token` names, and maps what those in
// `reach` share. Throws like `gather_tokens`, and on every rank what Space::attach throws on one.
Shared share_all(Space& space, const control::Members& members, Mapping mine, const Token& token,
                 const Reach& reach, std::string_view what);

// Like `share_all`, for `bytes` that each rank allocates. Returns the mappings by rank.
std::vector<Mapping> allocate_all(Space& space, const control::Members& members, std::size_t bytes,
                                  Backing backing, const Reach& reach, std::string_view what);

}  // namespace tca::shm
