#include "commit_costs.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "core/chain/chain_state.hpp"
#include "core/world/window_state.hpp"
#include "core/world/world_state.hpp"
#include "fabric/fabric.hpp"
#include "measure/agree.hpp"
#include "route/choose.hpp"
#include "tca/world.hpp"

namespace tca::bench {

namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Bytes that hold the largest of the layouts below.
constexpr std::int64_t room = 32768;

class Commits {
 public:
  Commits(World& world, int descriptors, const std::string& channel)
      : world_(world),
        state_(core::WorldState::of(world).shared_from_this()),
        channel_(channel),
        partner_((world.rank() ^ 1) < world.size() ? world.rank() ^ 1 : world.rank()),
        window_(state_->make_window({.elements = 2 * room * descriptors})) {
    const std::array layouts{block(4096), block_stride(16, 256, 2048), stride(64, 64)};
    for (int i = 0; i < descriptors; ++i) {
      const Layout& layout = layouts[static_cast<std::size_t>(i) % layouts.size()];
      const std::size_t element = static_cast<std::size_t>(i) % layouts.size() == 2 ? 8 : 1;
      core::Descriptor d;
      d.to = partner_;
      d.to_window = d.from_window = window_->id();
      d.from_offset = room * i;
      d.to_offset = room * (descriptors + i);
      d.shape = state_->intern(base::pair_up(layout, layout, element));
      descriptors_.push_back(d);
    }
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const core::Descriptor& d : descriptors_) sum += d.shape->bytes();
    return sum;
  }

  double commit_us() {
    core::ChainState chain(state_, "commit", {.channel = channel_});
    for (const core::Descriptor& d : descriptors_) chain.add(d, window_);
    chain.expect(partner_);
    world_.barrier();
    const Clock::time_point begin = Clock::now();
    chain.commit();
    return us_since(begin);
  }

  double route_us() {
    const std::string channel = route::effective_override(channel_);
    const Clock::time_point begin = Clock::now();
    for (core::Descriptor& d : descriptors_)
      d.protocol = static_cast<std::uint16_t>(
          route::choose(state_->fabrics(), state_->costs(), {d.to, *d.shape, descriptors_.size()}, channel)
              .protocol);
    return us_since(begin);
  }

  // Compiles the puts as `route_us` has routed them. The partner's puts are the same.
  double fabric_us() {
    std::vector<fabric::Put> outgoing, incoming;
    for (const core::Descriptor& d : descriptors_) {
      fabric::Put put{world_.rank(),
                      partner_,
                      &window_->memory(),
                      static_cast<std::uint64_t>(d.to_offset),
                      &window_->memory(),
                      static_cast<std::uint64_t>(d.from_offset),
                      d.shape,
                      d.protocol};
      outgoing.push_back(put);
      std::swap(put.from, put.to);
      incoming.push_back(put);
    }
    world_.barrier();
    const Clock::time_point begin = Clock::now();
    std::uint32_t number = 0;
    state_->meet(state_->everyone(), {}, {}, 0, "commit", number);
    std::unique_ptr<fabric::Offer> offer;
    const std::vector<base::Blob> offers = state_->control().make_together("commit", [&] {
      offer =
          state_->fabrics().front()->offer({"commit", state_->members(), number, true, outgoing, incoming});
      return offer->to_others();
    });
    const std::unique_ptr<fabric::Program> program =
        offer->bind({{partner_, offers[static_cast<std::size_t>(partner_)]}});
    return us_since(begin);
  }

 private:
  World& world_;
  std::shared_ptr<core::WorldState> state_;
  std::string channel_;
  int partner_;
  std::shared_ptr<core::WindowState> window_;
  std::vector<core::Descriptor> descriptors_;
};

}  // namespace

Samples CommitCosts::beyond_us() const { return bench::beyond(whole_us, fabric_us); }

CommitCosts measure_commit(World& world, int descriptors, const std::string& channel, int rounds,
                           const std::function<void(int)>& progress) {
  Commits commits(world, descriptors, channel);
  CommitCosts costs;
  costs.bytes = commits.bytes();
  // The first call of each does not count, since it does work that later ones find done.
  commits.commit_us();
  commits.route_us();
  commits.fabric_us();
  for (int round = 0; round < rounds; ++round) {
    costs.whole_us.push_back(commits.commit_us());
    costs.route_us.push_back(commits.route_us());
    costs.fabric_us.push_back(commits.fabric_us());
    progress(round + 1);
  }
  for (Samples* samples : {&costs.whole_us, &costs.route_us, &costs.fabric_us})
    *samples = largest(world, std::move(*samples));
  return costs;
}

}  // namespace tca::bench
