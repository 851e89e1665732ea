#include "bfs/way.hpp"

#include <algorithm>

namespace tca::bfs {

namespace {

class HostWay : public Way {
 public:
  HostWay(World& world, Search& search, Exchange& exchange)
      : world_(world), search_(search), exchange_(exchange) {}

  int run(Vertex root) override { return search_.run(root, exchange_); }
  std::span<const Vertex> parents() override { return search_.parents(); }

  std::vector<apps::MessageCost> time_messages(std::span<const Vertex> roots) override {
    MessageTimes times;
    for (const Vertex root : roots) {
      world_.barrier();
      search_.run(root, exchange_, &times);
    }
    std::vector<apps::MessageCost> costs;
    for (const Message message : messages) {
      const auto sending = std::ranges::find(search_.sendings(), message, &Sending::message);
      if (sending == search_.sendings().end()) continue;
      costs.push_back(apps::cost_of(world_, name_of(message), sending->bytes(),
                                    times[static_cast<std::size_t>(message)],
                                    static_cast<double>(roots.size())));
    }
    return costs;
  }

 private:
  World& world_;
  Search& search_;
  Exchange& exchange_;
};

}  // namespace

std::unique_ptr<Way> host_way(World& world, Search& search, Exchange& exchange) {
  return std::make_unique<HostWay>(world, search, exchange);
}

}  // namespace tca::bfs
