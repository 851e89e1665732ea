#include "trigger/others.hpp"

#include <thread>

namespace tca::trigger {
namespace {

constexpr int slot = 0;
constexpr std::uint32_t tag = 1;

std::vector<int> all_but_this(const World& world) {
  std::vector<int> all;
  for (int rank = 0; rank < world.size(); ++rank)
    if (rank != world.rank()) all.push_back(rank);
  return all;
}

}  // namespace

Others::Others(World& world)
    : world_(world), notices_(world), through_(world, "through"), awaited_(all_but_this(world)) {
  for (const int rank : awaited_) through_.notify(rank, slot, tag);
}

void Others::look() {
  std::erase_if(awaited_, [&](int rank) { return notices_.test({rank, slot, tag}); });
}

void Others::finish() {
  if (world_.size() > 1) through_.run();
  for (look(); !awaited_.empty(); look()) std::this_thread::yield();
  awaited_ = all_but_this(world_);
}

}  // namespace tca::trigger
