// Ways to run a test's body as the ranks of a world: one for each fabric, and for each way to bring it up.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tca/tca.hpp"

namespace tca::test {

// Ends a rank whose test has failed; the message becomes the result of Ranks::run.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
  if (!holds) throw Mismatch(fmt::format(text, std::forward<Args>(args)...));
}

// This rank's part of a window, wherever it lives.
template <Element T>
std::vector<T> contents(const Window<T>& window) {
  std::vector<T> all(window.size());
  window.read(0, all);
  return all;
}

template <Element T>
T element(const Window<T>& window, std::int64_t at) {
  T value;
  window.read(at, {&value, 1});
  return value;
}

template <Element T>
void fill(const Window<T>& window, std::int64_t from, std::int64_t count,
          const std::type_identity_t<T>& value) {
  window.write(from, std::vector<T>(static_cast<std::size_t>(count), value));
}

class Ranks {
 public:
  using Body = std::function<void(World&)>;
  virtual ~Ranks() = default;

  // Runs `body` as that many ranks. What went wrong first, or an empty string.
  virtual std::string run(int ranks, const Body& body, const WorldOptions& options) = 0;
  std::string run(int ranks, const Body& body) {
    return run(ranks, body, {.time_limit = std::chrono::seconds(25)});
  }
};

// One row of the suite's instantiation.
struct Backend {
  std::string name;
  std::function<std::unique_ptr<Ranks>()> make;
  std::vector<std::string> routes;  // every protocol that can be forced; "" leaves the choice to the library
  int effort;                       // steps are divided by it
  int most_ranks = 1 << 20;         // that there is room for
};

// Over the fabric of that name.
std::unique_ptr<Ranks> thread_ranks(const std::string& fabric = "shm", const std::string& machine = {});
std::unique_ptr<Ranks> process_ranks(
    const std::string& fabric = "shm");  // forks, so no other thread may be running

// Threads over the shm fabric, but every put takes a protocol picked from `seed`: puts to one partner mix.
std::unique_ptr<Ranks> mixed_ranks(unsigned seed);

// Threads over the test double.
std::unique_ptr<Ranks> shuffle_ranks(unsigned seed);

Backend thread_backend();
Backend process_backend();
Backend mixed_backend(unsigned seed);
Backend shuffle_backend(unsigned seed);

// Threads whose sub-clusters share memory, with the test double between them.
Backend hybrid_backend(unsigned seed, int sub_cluster);
Backend sim_backend(const std::string& machine, std::vector<std::string> routes, int most_ranks = 1 << 20);

// For googletest's names.
std::ostream& operator<<(std::ostream& out, const Backend& backend);

}  // namespace tca::test
