// Carries immediate puts as messages, each of which its target stores and then confirms.
//
// MPI promises nothing about the order in which messages of different kinds arrive. So a signal that must
// arrive after an immediate put is not sent until that put is confirmed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "control/mpi/call.hpp"

namespace tca::mpi {

class MpiMemory;

class Immediates {
 public:
  explicit Immediates(MPI_Comm comm) : comm_(comm) {}
  Immediates(const Immediates&) = delete;
  ~Immediates();

  // From here on, puts into the window `number` are stored in `memory`, until `forget`.
  void serve(std::uint32_t number, MpiMemory* memory) {
    const std::lock_guard lock(mutex_);
    served_[number] = memory;
  }
  void forget(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    served_.erase(number);
  }
  MpiMemory* window(std::uint32_t number) const { return served_.at(number); }

  void put(int rank, std::uint32_t window, std::uint64_t offset, std::span<const std::byte> value);

  // Stores what others have put here. This also lets MPI progress whatever else is under way.
  void store_arrived();

  // Returns whether everything that this rank has put is confirmed.
  bool is_quiescent() { return under_way_.empty() || look(); }
  std::vector<int> outstanding() const;

 private:
  static constexpr std::size_t most_bytes = 64;
  struct Message {
    std::uint64_t offset;
    std::uint32_t window, bytes;
    std::array<std::byte, most_bytes> value;
  };
  struct UnderWay {
    Message message;
    int rank;
    // The send, and the receive of its confirmation.
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  bool look();

  MPI_Comm comm_;
  std::mutex mutex_;  // guards `served_`: windows come and go while a proxy thread stores
  std::map<std::uint32_t, MpiMemory*> served_;
  std::list<UnderWay> under_way_;  // a list, since MPI reads the messages in place
};

}  // namespace tca::mpi
