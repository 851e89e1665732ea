// The exchange by OpenTCA.
#include "pic/direct_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "tca/chain.hpp"
#include "tca/counted.hpp"
#include "tca/fold.hpp"
#include "tca/halo.hpp"
#include "tca/rounds.hpp"

namespace tca::pic {

template <class Number>
Fold committed_fold(World& world, const Exchanged<Number>& what, const std::string& channel) {
  const Domain& domain = what.domain;
  const Halo halo(world, "nodes of the flow", domain.grid(), domain.interior(),
                  domain.halo_options(flow_ghosts));
  Fold fold(world, "flow", halo, {.channel = channel});
  fold.add(what.flow.untyped(), data_type_of<Number>());
  fold.commit();
  return fold;
}

Halo committed_halo(World& world, const Domain& domain, const Window<Vec<double>>& e,
                    const std::string& channel) {
  HaloOptions options = domain.halo_options(field_ghosts);
  options.chain.channel = channel;
  Halo halo(world, "E", domain.grid(), domain.interior(), options);
  halo.add(e);
  halo.commit();
  return halo;
}

Queues::Queues(World& world, const Domain& domain, std::int64_t room, const std::string& channel)
    : out(world.window<Traveller>(room * std::ssize(domain.neighbours()), "particles that go")),
      in(world.window<Traveller>(room * std::ssize(domain.neighbours()), "particles that come")),
      chain(world.chain("particles", {.channel = channel})) {
  for (std::size_t k = 0; k < domain.neighbours().size(); ++k) {
    const int neighbour = domain.neighbours()[k];
    // The neighbour keeps a place for each of its own neighbours.
    const std::vector<int> theirs = neighbours_in(domain.grid(), neighbour);
    const auto place = std::ranges::lower_bound(theirs, world.rank()) - theirs.begin();
    puts.push_back(chain.put_counted(in.on(neighbour).at(place * room),
                                     out.at(static_cast<std::int64_t>(k) * room), block(room)));
    arrivals.push_back(chain.expect_counted(neighbour));
  }
  chain.commit();
}

namespace {

// A queue of particles to each neighbour: a counted put each, in as many rounds as the longest needs.
class Ferry {
 public:
  Ferry(World& world, const Domain& domain, std::int64_t room, const std::string& channel)
      : domain_(domain),
        room_(static_cast<std::size_t>(room)),
        queues_(world, domain, room, channel),
        rounds_(world, queues_.chain, "rounds of particles") {}

  int carry(Particles& particles, const Leavers& leavers) {
    sent_.assign(queues_.puts.size(), 0);
    return rounds_.run(
        [&] {
          bool has_more = false;
          for (std::size_t k = 0; k < queues_.puts.size(); ++k) has_more |= load(k, particles, leavers.to[k]);
          return has_more;
        },
        [&] {
          for (std::size_t k = 0; k < queues_.arrivals.size(); ++k) unload(k, particles);
        });
  }

  std::int64_t bytes() const {
    std::size_t sum = 0;
    for (const std::size_t sent : sent_) sum += sent * sizeof(Traveller);
    return static_cast<std::int64_t>(sum);
  }
  std::string explain() const { return queues_.chain.explain(); }

 private:
  // Returns whether there are more for a further round.
  bool load(std::size_t k, const Particles& particles, const std::vector<std::uint32_t>& leaving) {
    const std::size_t now = std::min(room_, leaving.size() - sent_[k]);
    Traveller* const queue = queues_.out.data() + k * room_;
    for (std::size_t i = 0; i < now; ++i) {
      const std::uint32_t index = leaving[sent_[k] + i];
      const std::int32_t cell = particles.cell[index];
      queue[i] = pack(particles, index, cell + domain_.way(domain_.directions()[cell]).shift);
    }
    queues_.puts[k].set(now);
    sent_[k] += now;
    return sent_[k] < leaving.size();
  }
  void unload(std::size_t k, Particles& particles) {
    const Traveller* const queue = queues_.in.data() + k * room_;
    for (std::int64_t i = 0; i < queues_.arrivals[k].count(); ++i) unpack(queue[i], particles);
  }

  const Domain& domain_;
  std::size_t room_;
  Queues queues_;
  std::vector<std::size_t> sent_;
  Rounds<Chain> rounds_;
};

template <class Number>
class DirectExchange : public Exchange {
 public:
  DirectExchange(World& world, const Exchanged<Number>& what, const apps::Channels& channels)
      : fold_(committed_fold(world, what, channels.of("CURRENT"))),
        halo_(committed_halo(world, what.domain, what.e, channels.of("FIELD"))),
        ferry_(world, what.domain, what.room, channels.of("PARTICLES")) {}

  void start_flow() override { fold_.start(); }
  void wait_flow() override { fold_.wait(); }
  void start_field() override { halo_.start(); }
  void wait_field() override { halo_.wait(); }
  int migrate(Particles& particles, const Leavers& leavers) override {
    return ferry_.carry(particles, leavers);
  }

  std::array<std::int64_t, 3> bytes() const override {
    return {fold_.bytes(), halo_.bytes(), ferry_.bytes()};
  }
  std::string explain(std::size_t message) const override {
    return message == 0 ? fold_.explain() : message == 1 ? halo_.explain() : ferry_.explain();
  }

 private:
  Fold fold_;
  Halo halo_;
  Ferry ferry_;
};

}  // namespace

template <class Number>
std::unique_ptr<Exchange> direct_exchange(World& world, const Exchanged<Number>& what,
                                          const apps::Channels& channels) {
  return std::make_unique<DirectExchange<Number>>(world, what, channels);
}

template Fold committed_fold(World&, const Exchanged<double>&, const std::string&);
template Fold committed_fold(World&, const Exchanged<std::int64_t>&, const std::string&);
template std::unique_ptr<Exchange> direct_exchange(World&, const Exchanged<double>&, const apps::Channels&);
template std::unique_ptr<Exchange> direct_exchange(World&, const Exchanged<std::int64_t>&,
                                                   const apps::Channels&);

}  // namespace tca::pic
