// The exchange by OpenTCA: a chain for each sending.
#include <utility>

#include "bfs/exchange.hpp"
#include "tca/chain.hpp"

namespace tca::bfs {

namespace {

void add_block(Chain& chain, const Sending& sending, int rank, int target) {
  for (const auto& [window, count] : sending.parts) {
    const std::int64_t place = rank * count;
    chain.put(window.on(target).at(place), window.at(sending.to_all ? place : 0), block(count));
  }
}

Chain make_chain(World& world, const Sending& sending) {
  const int own = world.rank();
  // Where sendings take turns, a rank that sends the one has read the other, and every rank both sends and
  // receives.
  Chain chain = world.chain(std::string(name_of(sending.message)), {.guarded = !sending.to_all});
  for (int other = 0; other < world.size(); ++other) {
    if (other == own) continue;
    if (sending.to_all || other == 0) add_block(chain, sending, own, other);
    if (sending.to_all || own == 0) chain.expect(other);
  }
  chain.commit();
  return chain;
}

class DirectExchange : public Exchange {
 public:
  DirectExchange(World& world, std::span<const Sending> sendings) {
    if (world.size() == 1) return;
    for (const Sending& sending : sendings) chains_.push_back(make_chain(world, sending));
  }

  void send(std::size_t which) override {
    if (!chains_.empty()) chains_[which].run();
  }

  std::string explain() const override {
    std::string text;
    for (const Chain& chain : chains_) text += chain.explain();
    return text;
  }

 private:
  std::vector<Chain> chains_;
};

}  // namespace

std::unique_ptr<Exchange> direct_exchange(World& world, std::span<const Sending> sendings) {
  return std::make_unique<DirectExchange>(world, sendings);
}

}  // namespace tca::bfs
