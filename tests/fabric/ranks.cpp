#include "ranks.hpp"

#include <algorithm>
#include <ostream>

#include "core/world/run_threads.hpp"
#include "doubles/mixed_fabric.hpp"
#include "doubles/shuffle_fabric.hpp"
#include "fabric/shm/shm_fabric.hpp"

namespace tca::test {

namespace {

std::string message_of(const std::function<void()>& run) {
  try {
    run();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(std::string fabric, std::string machine, std::string fidelity)
      : fabric_(std::move(fabric)), machine_(std::move(machine)), fidelity_(std::move(fidelity)) {}

  std::string run(int ranks, const Body& body, const WorldOptions& options) override {
    WorldOptions effective = options;
    effective.fabric = fabric_;
    effective.machine = machine_;
    effective.fidelity = fidelity_;
    return message_of([&] { World::run_threads(ranks, body, effective); });
  }

 private:
  std::string fabric_, machine_, fidelity_;
};

class MixedRanks final : public Ranks {
 public:
  explicit MixedRanks(unsigned seed) : seed_(seed) {}

  std::string run(int ranks, const Body& body, const WorldOptions& options) override {
    return message_of([&] {
      const boot::ThreadConnections threads(ranks);
      const auto make = [&](int rank) {
        boot::Connections connections = threads.bring_up(rank, {.time_limit = options.time_limit});
        connections.fabrics.front() = mix_protocols(std::move(connections.fabrics.front()), seed_);
        return connections;
      };
      core::run_threads(ranks, make, body, options);
    });
  }

 private:
  unsigned seed_;
};

// Places all ranks on one host, `sub_cluster` of them to a sub-cluster.
control::Places cut(int ranks, int sub_cluster) {
  control::Places places = control::Places::together(ranks);
  std::vector<int> sub_clusters;
  for (int rank = 0; rank < ranks; ++rank) sub_clusters.push_back(rank / sub_cluster);
  places.sub_cluster = std::move(sub_clusters);
  return places;
}

// Ranks over the test double alone, or with shared memory inside sub-clusters, which the world prefers.
class ShuffleRanks final : public Ranks {
 public:
  explicit ShuffleRanks(unsigned seed, int sub_cluster = 0) : seed_(seed), sub_cluster_(sub_cluster) {}

  std::string run(int ranks, const Body& body, const WorldOptions& options) override {
    Shuffle shuffle(ranks, seed_);
    const auto whole = [&](World& world) {
      body(world);
      require(shuffle.drain(world.rank()), "what rank {} sent never arrives", world.rank());
    };
    std::string message = message_of([&] {
      const boot::ThreadConnections threads(ranks);
      const auto make = [&](int rank) {
        boot::Connections connections;
        connections.control = threads.control(rank, options.time_limit);
        if (sub_cluster_ > 0) {
          connections.places = cut(ranks, sub_cluster_);
          connections.fabrics.push_back(
              shm::make_fabric(*connections.control, shm::Space::of_threads(), connections.places));
        }
        connections.fabrics.push_back(shuffle.fabric(*connections.control));
        connections.launcher = "threads";
        return connections;
      };
      core::run_threads(ranks, make, whole, options);
    });
    return message.empty() ? shuffle.violation() : message;
  }

 private:
  unsigned seed_;
  int sub_cluster_;
};

}  // namespace

std::unique_ptr<Ranks> thread_ranks(const std::string& fabric, const std::string& machine,
                                    const std::string& fidelity) {
  return std::make_unique<ThreadRanks>(fabric, machine, fidelity);
}
std::unique_ptr<Ranks> mixed_ranks(unsigned seed) { return std::make_unique<MixedRanks>(seed); }
std::unique_ptr<Ranks> shuffle_ranks(unsigned seed) { return std::make_unique<ShuffleRanks>(seed); }

Backend thread_backend() {
  return {"shm_threads", [] { return thread_ranks(); }, {"", "direct", "pull", "staged"}, 1};
}
Backend process_backend() {
  return {"shm_processes", [] { return process_ranks(); }, {"", "shm/direct", "shm/pull", "shm/staged"}, 1};
}
Backend mixed_backend(unsigned seed) {
  return {fmt::format("shm_mixed_{}", seed), [seed] { return mixed_ranks(seed); }, {""}, 2};
}
Backend shuffle_backend(unsigned seed) {
  return {
      fmt::format("shuffle_{}", seed), [seed] { return shuffle_ranks(seed); }, {"", "late", "buffered"}, 10};
}

Backend hybrid_backend(unsigned seed, int sub_cluster) {
  return {fmt::format("shm_by_{}_shuffle_{}", sub_cluster, seed),
          [=] { return std::make_unique<ShuffleRanks>(seed, sub_cluster); },
          {"", "shuffle"},
          10};
}

// A modelled rank takes longer to hand its turn over than a store takes to cross, so these tests run fewer
// steps.
Backend sim_backend(const std::string& machine, std::vector<std::string> channels, int most_ranks,
                    const std::string& fidelity) {
  std::string name = "sim_" + machine + (fidelity.empty() ? "" : "_" + fidelity);
  std::ranges::replace(name, '-', '_');
  return {name, [machine, fidelity] { return thread_ranks("sim", machine, fidelity); }, std::move(channels),
          20, most_ranks};
}

std::ostream& operator<<(std::ostream& out, const Backend& backend) { return out << backend.name; }

}  // namespace tca::test
