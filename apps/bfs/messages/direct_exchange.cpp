// The exchange by OpenTCA: a chain for each sending.
#include <algorithm>
#include <utility>

#include "bfs/messages/exchange.hpp"
#include "tca/chain.hpp"

namespace tca::bfs {

namespace {

void add_block(Chain& chain, const Sending& sending, int rank, int target) {
  for (const auto& [window, count, own] : sending.parts) {
    const std::int64_t place = rank * count;
    const raw::Local from = own ? own->at(0) : window.at(sending.to_all ? place : 0);
    chain.put(window.on(target).at(place), from, block(count));
  }
}

}  // namespace

Chain make_chain(World& world, const Sending& sending, const apps::Channels& channels) {
  const int own = world.rank();
  // Where sendings take turns, a rank that sends the one has read the other, and every rank both sends and
  // receives.
  const std::string name(name_of(sending.message));
  Chain chain = world.chain(name, {.guarded = !sending.to_all, .channel = channels.of(name)});
  for (int other = 0; other < world.size(); ++other) {
    if (other == own) continue;
    if (sending.to_all || other == 0) add_block(chain, sending, own, other);
    if (sending.to_all || own == 0) chain.expect(other);
  }
  chain.commit();
  return chain;
}

namespace {

class DirectExchange : public Exchange {
 public:
  DirectExchange(World& world, std::span<const Sending> sendings, const apps::Channels& channels) {
    if (world.size() == 1) return;
    for (const Sending& sending : sendings) chains_.push_back(make_chain(world, sending, channels));
  }

  void send(std::size_t which) override {
    if (!chains_.empty()) chains_[which].run();
  }

  // Chains that take turns differ in their arrays only.
  std::string explain(Message message) const override {
    const auto found = std::ranges::find(chains_, name_of(message), &Chain::name);
    return found == chains_.end() ? std::string() : found->explain();
  }

 private:
  std::vector<Chain> chains_;
};

}  // namespace

std::unique_ptr<Exchange> direct_exchange(World& world, std::span<const Sending> sendings,
                                          const apps::Channels& channels) {
  return std::make_unique<DirectExchange>(world, sendings, channels);
}

}  // namespace tca::bfs
