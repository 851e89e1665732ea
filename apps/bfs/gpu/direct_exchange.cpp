// The exchange on GPUs by OpenTCA: a chain for each sending.
#include <algorithm>
#include <vector>

#include "bfs/gpu/exchange.hpp"
#include "tca/chain.hpp"

namespace tca::bfs {

namespace {

class DirectGpuExchange : public GpuExchange {
 public:
  DirectGpuExchange(World& world, std::span<const Sending> sendings, const apps::Channels& channels) {
    if (world.size() == 1) return;
    for (const Sending& sending : sendings) chains_.push_back(make_chain(world, sending, channels));
  }

  void send(std::size_t which, Stream stream) override {
    if (!chains_.empty()) chains_[which].run(stream);
  }

  // Chains that take turns differ in their arrays only.
  std::string explain(Message message) const override {
    const auto found = std::ranges::find(chains_, name_of(message), &Chain::name);
    return found == chains_.end() ? "" : found->explain();
  }

 private:
  std::vector<Chain> chains_;
};

}  // namespace

std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, std::span<const Sending> sendings,
                                                 const apps::Channels& channels) {
  return std::make_unique<DirectGpuExchange>(world, sendings, channels);
}

}  // namespace tca::bfs
