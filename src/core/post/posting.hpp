// A rank's state for posts: which fabric carries them to which rank, and the regions that it is attached
// to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/world/world_state.hpp"
#include "fabric/posting.hpp"
#include "tca/post.hpp"

namespace tca::core {

// A region of some rank, as this one accesses it.
struct Attached {
  int rank = 0;
  std::size_t fabric = 0;
  std::size_t bytes = 0;
  std::unique_ptr<fabric::FarRegion> region;
};

class Posting {
 public:
  // Throws Error{invalid_argument} if a fabric of the world carries no posts.
  explicit Posting(const WorldState& world);

  fabric::Poster& poster(std::size_t fabric) const { return *posters_[fabric]; }
  std::size_t fabrics() const { return posters_.size(); }
  // Returns the fabric that carries posts to a rank and notices from it.
  std::size_t fabric_to(int rank) const { return world_.fabric_to(rank); }

  // Throw Error{invalid_argument}, with `what` in front.
  void check_rank(std::string_view what, int rank) const;
  static void check_slot(std::string_view what, int slot);

  // Returns the region of a token. If this rank has attached to it before, this costs one map lookup.
  // Throws as Post::put does.
  std::shared_ptr<const Attached> attach(const RegionToken& token);

  // Make the token of a region that has these names on the world's fabrics, and return a token's rank and
  // size in bytes.
  static RegionToken token_of(int rank, std::size_t bytes, const std::vector<fabric::RegionName>& names);
  static std::pair<int, std::size_t> owner_and_bytes(const RegionToken& token);

 private:
  // What a token holds.
  struct Content;
  static Content read(const RegionToken& token);
  void forget_unused();

  const WorldState& world_;
  std::vector<fabric::Poster*> posters_;  // by fabric
  // By rank, job and generation.
  std::map<std::tuple<int, std::uint64_t, std::uint64_t>, std::shared_ptr<const Attached>> attached_;
};

}  // namespace tca::core
