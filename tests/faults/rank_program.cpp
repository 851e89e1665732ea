// A rank of the fault tests. It behaves well, or misbehaves as its command line asks.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "control/shm/rendezvous.hpp"
#include "tca/tca.hpp"

namespace {

using namespace std::chrono_literals;

struct Options {
  int who = -1;  // the rank that misbehaves
  std::string how;
  int step = 0;   // the rank misbehaves before this step; 0: before the first
  int steps = 0;  // 0: endless
  int doubles = 64;
  long mebibytes = 1;
  int ranks = 3;  // of a world of threads, or one that is joined
  int rank = 0;   // in the world that is joined, by the key
  std::string key = {};
  int worlds = 1;  // to be joined one after the other
  std::optional<std::chrono::milliseconds> patience = {};
};

const char* rank_text() {
  for (const char* name : {"OPENTCA_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* text = std::getenv(name)) return text;
  return "0";
}

void say(int rank, const std::string& what) {
  std::printf("rank %d: %s\n", rank, what.c_str());
  std::fflush(stdout);
}

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

// Returns only when the caller is to return as well.
void misbehave(const std::string& how) {
  if (how == "sleep") sleep_for_ever();
  if (how == "nap") std::this_thread::sleep_for(2s);
  if (how == "exit") std::exit(3);
  if (how == "quick_exit") _exit(0);
  if (how == "abort") std::abort();
  if (how == "kill") kill(getpid(), SIGKILL);
  if (how == "throw") throw std::runtime_error("this rank has its own reasons");
  if (how == "throw_number") throw 42;
}

// Exchanges with both neighbours. The misbehaving rank stops before step `step`.
void ring(tca::World& world, const Options& options) {
  const int me = world.rank(), size = world.size();
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  auto window = world.window<double>(4 * options.doubles);
  auto part = [&](int i) { return i * options.doubles; };
  tca::Chain chain = world.chain("ring", {.time_limit = options.patience});
  chain.put(window.on(right).at(part(0)), window.at(part(2)), tca::block(options.doubles));
  chain.put(window.on(left).at(part(1)), window.at(part(3)), tca::block(options.doubles));
  chain.expect(left);
  if (right != left) chain.expect(right);
  chain.commit();
  for (int step = 1; options.steps == 0 || step <= options.steps; ++step) {
    if (me == options.who && step == options.step) {
      misbehave(options.how);
      return;
    }
    chain.start();
    chain.wait();
    if (step == 20) say(me, "runs in process " + std::to_string(getpid()));
  }
  say(me, "done");
}

void one_ring(const Options& options) {
  tca::World world = tca::World::init();
  say(world.rank(), "is up");
  if (world.rank() == options.who && options.how == "sleep_after_init") sleep_for_ever();
  ring(world, options);
}

void joins(const Options& options) {
  for (int i = 0; i < options.worlds; ++i) {
    tca::World world = tca::World::join(options.rank, options.ranks, options.key);
    say(options.rank, "is up in process " + std::to_string(getpid()));
    ring(world, options);
  }
}

void before_init(const Options& options) {
  if (std::to_string(options.who) == rank_text()) {
    misbehave(options.how);
    return;
  }
  one_ring(options);
}

// Nobody but this process may look into it.
void undumpable(const Options& options) {
  prctl(PR_SET_DUMPABLE, 0);
  one_ring(options);
}

void hold() {
  tca::World world = tca::World::init();
  say(world.rank(), "is up in process " + std::to_string(getpid()));
  sleep_for_ever();
}

void big_window(const Options& options) {
  tca::World world = tca::World::init();
  auto window = world.window<std::byte>(options.mebibytes << 20);
  say(world.rank(), "has " + std::to_string(window.size()) + " bytes");
}

// A child process of a rank inherits its environment, but is not a rank.
void with_children(const Options& options) {
  tca::World world = tca::World::init();
  if (fork() == 0) std::exit((tca::World(std::move(world)), 0));
  const std::string child = std::filesystem::read_symlink("/proc/self/exe").string() + " ring --steps 1";
  say(world.rank(), "child returns " + std::to_string(WEXITSTATUS(std::system(child.c_str()))));
  ring(world, options);
}

// A forked child ends by std::exit, as the program does, once with the world and once after destroying it.
void forks(const Options& options) {
  tca::World world = tca::World::init();
  ring(world, {.steps = 1});
  for (const bool has_world : {true, false}) {
    const pid_t child = fork();
    if (child == 0) std::exit(has_world ? 0 : (tca::World(std::move(world)), 0));
    int status = 0;
    waitpid(child, &status, 0);
    say(world.rank(), "child returns " + std::to_string(WEXITSTATUS(status)));
  }
  ring(world, options);
}

void threads(const Options& options) {
  tca::World::run_threads(options.ranks, [&](tca::World& world) {
    try {
      ring(world, options);
    } catch (const tca::Error& error) {
      say(world.rank(), error.what());
      throw;
    }
  });
}

struct Held {
  std::size_t descriptors = 0, mappings = 0;
};

Held held() {
  Held now;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++now.descriptors;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) now.mappings += line.find("rw-s") != std::string::npos;
  return now;
}

// A world with static lifetime. It is destroyed after everything that ends by itself when the process does,
// MPI among it.
std::optional<tca::World> kept;

void outlives(const Options& options) {
  kept = tca::World::init();
  ring(*kept, options);
}

// The world that has failed is destroyed in good order.
void catches(const Options& options) {
  tca::World world = tca::World::init();
  try {
    ring(world, options);
  } catch (const tca::Error& error) {
    say(world.rank(), std::string("goes on after ") + error.what());
  }
}

// Goes on in another world after the first one has failed.
void recovers(Options options) {
  options.patience = 500ms;
  catches(options);
  one_ring({.steps = 1});
}

// After the world, writes for longer than the others wait for anything.
void writes(const Options& options) {
  tca::World world = tca::World::init();
  ring(world, options);
  if (world.rank() != options.who) return;
  std::this_thread::sleep_for(3s);
  say(world.rank(), "has written");
}

// Exits without running the world's destructor.
void exits(const Options& options) {
  tca::World world = tca::World::init();
  ring(world, options);
  std::exit(0);
}

// Makes many worlds in one process, and counts the descriptors and mappings that they leave behind.
void many_worlds(const Options& options) {
  Options quick = options;
  quick.steps = 3;
  const auto round = [&] {
    {
      tca::World world = tca::World::init();
      // Late on purpose: the others wait for it within their rings.
      if (world.rank() == options.who) std::this_thread::sleep_for(2ms);
      ring(world, quick);
    }
    tca::World::run_threads(options.ranks, [&](tca::World& world) { ring(world, quick); });
  };
  round();
  const Held before = held();
  for (int i = 0; i < options.steps; ++i) round();
  const Held after = held();
  std::printf("descriptors %zu then %zu, shared mappings %zu then %zu\n", before.descriptors,
              after.descriptors, before.mappings, after.mappings);
  if (after.descriptors != before.descriptors || after.mappings != before.mappings) std::exit(1);
}

// Makes a second world while the first one, or its window, still exists here, or while rank `who` stays in
// it.
void second_world(const Options& options) {
  std::optional<tca::World> world = tca::World::init();
  const int me = world->rank();
  std::optional<tca::Window<int>> window = world->window<int>(1);
  if (me == options.who && options.how == "stays") sleep_for_ever();
  if (options.how != "world") world.reset();
  if (options.how != "window") window.reset();
  const tca::World second = tca::World::init();
  say(me, "done");
}

// Prints the signal that this process gets when its parent ends, during a world and after it.
void death_signal() {
  const auto now = [] {
    int number = 0;
    prctl(PR_GET_PDEATHSIG, &number);
    return std::to_string(number);
  };
  std::optional<tca::World> world = tca::World::init();
  const int me = world->rank();
  const std::string during = now();
  world.reset();
  say(me, "death signal " + during + " in the world, " + now() + " after it");
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("A rank of the fault tests");
  app.add_option("--who", options.who);
  app.add_option("--how", options.how);
  app.add_option("--step", options.step);
  app.add_option("--steps", options.steps);
  app.add_option("--doubles", options.doubles);
  app.add_option("--mib", options.mebibytes);
  app.add_option("--ranks", options.ranks);
  app.add_option("--rank", options.rank);
  app.add_option("--key", options.key);
  app.add_option("--worlds", options.worlds);
  app.fallthrough();
  app.require_subcommand(1);
  app.add_subcommand("ring")->callback([&] { one_ring(options); });
  app.add_subcommand("join")->callback([&] { joins(options); });
  app.add_subcommand("before_init")->callback([&] { before_init(options); });
  app.add_subcommand("undumpable")->callback([&] { undumpable(options); });
  app.add_subcommand("hold")->callback(hold);
  app.add_subcommand("window")->callback([&] { big_window(options); });
  app.add_subcommand("children")->callback([&] { with_children(options); });
  app.add_subcommand("forks")->callback([&] { forks(options); });
  app.add_subcommand("threads")->callback([&] { threads(options); });
  app.add_subcommand("worlds")->callback([&] { many_worlds(options); });
  app.add_subcommand("outlives")->callback([&] { outlives(options); });
  app.add_subcommand("catches")->callback([&] { catches(options); });
  app.add_subcommand("writes")->callback([&] { writes(options); });
  app.add_subcommand("recovers")->callback([&] { recovers(options); });
  app.add_subcommand("exits")->callback([&] { exits(options); });
  app.add_subcommand("second")->callback([&] { second_world(options); });
  app.add_subcommand("death_signal")->callback(death_signal);
  app.add_subcommand("abi")->callback([] { std::printf("%u\n", tca::shm::abi_version); });
  CLI11_PARSE(app, argc, argv);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const tca::Error& error) {
    std::fprintf(stderr, "rank %s: %s\n", rank_text(), error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %s: %s\n", rank_text(), error.what());
    return 1;
  } catch (...) {
    std::fprintf(stderr, "rank %s: something that is no std::exception\n", rank_text());
    return 1;
  }
}
