// Ways to run a test's body as the ranks of a world: one for each fabric, and for each way to start it.
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

// Ends a rank whose test has failed. Its message becomes the result of Ranks::run.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
  if (!holds) throw Mismatch(fmt::format(text, std::forward<Args>(args)...));
}

// Returns this rank's part of a window, in whatever memory it lives.
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

  // Runs `body` on `ranks` ranks. Returns the first error, or an empty string.
  virtual std::string run(int ranks, const Body& body, const WorldOptions& options) = 0;
  std::string run(int ranks, const Body& body) {
    return run(ranks, body, {.time_limit = std::chrono::seconds(25)});
  }
};

// One parameter of the suite's instantiation.
struct Backend {
  std::string name;
  std::function<std::unique_ptr<Ranks>()> make;
  std::vector<std::string>
      channels;              // every protocol that can be forced; "" leaves the choice to the library
  int effort;                // divides the number of steps
  int most_ranks = 1 << 20;  // the largest world that it can run
};

// Runs ranks as threads over the named fabric.
std::unique_ptr<Ranks> thread_ranks(const std::string& fabric = "shm", const std::string& machine = {},
                                    const std::string& fidelity = {});
// Forks, so no other thread may be running.
std::unique_ptr<Ranks> process_ranks(const std::string& fabric = "shm");

// Runs threads over the shm fabric, with a protocol for every put picked from `seed`, so that puts to one
// partner mix protocols.
std::unique_ptr<Ranks> mixed_ranks(unsigned seed);

// Runs threads over the test double.
std::unique_ptr<Ranks> shuffle_ranks(unsigned seed);

Backend thread_backend();
Backend process_backend();
Backend mixed_backend(unsigned seed);
Backend shuffle_backend(unsigned seed);

// Runs threads with shared memory inside sub-clusters and the test double between them.
Backend hybrid_backend(unsigned seed, int sub_cluster);
Backend sim_backend(const std::string& machine, std::vector<std::string> channels, int most_ranks = 1 << 20,
                    const std::string& fidelity = {});

std::ostream& operator<<(std::ostream& out, const Backend& backend);

}  // namespace tca::test
