// A window's memory: every rank's part, mapped here.
#pragma once

#include <utility>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

class ShmMemory final : public fabric::Memory {
 public:
  ShmMemory(std::vector<Mapping> views, int rank) : views_(std::move(views)), rank_(rank) {}

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override { return views_[static_cast<std::size_t>(rank)].bytes(); }
  std::byte* at(int rank) const { return views_[static_cast<std::size_t>(rank)].data(); }

 private:
  std::vector<Mapping> views_;  // by rank
  int rank_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<ShmMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::shm
