// Tests what MPI moves while the program does not wait: during calls of World::progress, and by a progress
// thread.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "mpi_ranks.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// A flag that one rank raises and another waits for. It is a file, since any call of MPI would itself make
// messages progress.
class Flag {
 public:
  Flag(World& world, const char* name)
      : path_(testing::TempDir() + fmt::format("opentca_{}_{}", name, world.all_gather(getpid()).front())) {}
  Flag(const Flag&) = delete;
  ~Flag() {
    std::error_code none;
    std::filesystem::remove(path_, none);
  }

  void raise() const { std::ofstream{path_}; }

  template <class Meanwhile>
  void await(Meanwhile meanwhile) const {
    const auto begin = std::chrono::steady_clock::now();
    while (!std::filesystem::exists(path_)) {
      require(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10), "no {} in 10 s", path_);
      meanwhile();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

 private:
  std::string path_;
};

// Sends messages that MPI moves only while both ranks call it, and checks that rank 1 completes its step
// before rank 0 waits for its own.
void expect_moved(bool by_thread) {
  const auto body = [=](World& world) {
    constexpr std::int64_t count = 1 << 20;
    const Window<double> window = world.window<double>(2 * count);
    const Flag begun(world, "begun"), through(world, "through");
    Chain chain = world.chain("while it computes");
    const int partner = 1 - world.rank();
    chain.put(window.on(partner).at(0), window.at(count), block(count)).expect(partner).commit();
    const auto compute = [&] {
      if (!by_thread) world.progress();
    };
    if (world.rank() == 0) {
      chain.start();
      begun.raise();
      through.await(compute);
      chain.wait();
    } else {
      begun.await([] {});
      chain.start();
      chain.wait();
      through.raise();
    }
    world.barrier();
  };
  const WorldOptions options{.time_limit = std::chrono::seconds(25), .progress_thread = by_thread};
  EXPECT_EQ(mpi_backend("mpi", 0, {}).make()->run(2, body, options), "");
}

TEST(MpiProgress, ByTheProgramsCalls) { expect_moved(false); }

TEST(MpiProgress, ByAThread) { expect_moved(true); }

}  // namespace
}  // namespace tca::test
