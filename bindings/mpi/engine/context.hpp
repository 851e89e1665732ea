// The queues of a communicator: receives without a message, and messages without a receive.
//
// MPI's rules: messages from one source are matched in the order in which they were sent, and receives in that in which they were
// posted. Each source has lists of its own, and receives from any source have one; numbers in the order of coming say which of
// two lists goes first, so that a receive looks at what may match it and at nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/engine/request.hpp"

namespace tca::p2p {

class Context {
 public:
  Context(std::uint32_t number, int ranks)
      : number_(number),
        posted_(static_cast<std::size_t>(ranks) + 1),
        arrived_(static_cast<std::size_t>(ranks)) {}

  std::uint32_t number() const { return number_; }

  void post(Request& receive);
  void withdraw(Request& receive);
  // The receive that a message belongs to, which is then posted no longer; null where there is none.
  Request* take_posted(int source, std::int32_t tag);

  void arrive(Arrival& message);
  void remove(Arrival& message);
  // The first message that a receive would take, or null.
  Arrival* find(int source, std::int32_t tag) const;
  // The message of a source whose sender waits by that number, or null.
  Arrival* find_sent_by(int source, std::uint64_t sender) const;
  bool is_empty() const { return waiting_ == 0; }

 private:
  // Receives of any source come behind those of the last rank.
  List<Request>& posted_for(int source) {
    return source == any_source ? posted_.back() : posted_[static_cast<std::size_t>(source)];
  }
  Arrival* find_from(std::size_t source, std::int32_t tag) const;

  std::uint32_t number_;
  std::uint64_t next_ = 0;
  std::size_t waiting_ = 0;  // messages and receives in all lists
  std::size_t messages_ = 0;
  std::vector<List<Request>> posted_;
  std::vector<List<Arrival>> arrived_;
};

}  // namespace tca::p2p
