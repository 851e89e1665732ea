// Passes file descriptors between the ranks of a host over sockets. It needs no access to other processes, so
// it works where /proc grants none: in user namespaces, for programs that are not dumpable, and where /proc
// hides processes or is not mounted. The ranks must share a network namespace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/members.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

class Passing {
 public:
  // Collective.
  explicit Passing(control::Control& control);

  // Collective over the members. Passes `descriptor`, unless it is -1, to those in `reach`, in which each
  // rank of the host has those of the same group. Returns by rank what has arrived; a file that has not
  // arrived is not ok, and `problem` may then say why. `what` names the call in messages.
  std::vector<File> pass(const control::Members& members, int descriptor, const Reach& reach,
                         std::string_view what);

  // Describes the problem of the last sending to any of this rank's partners; empty if all went well.
  const std::string& problem() const { return problem_; }

 private:
  struct Address {
    std::uint64_t secret = 0;  // so that nobody else can pass this rank a file
    std::uint32_t length = 0;  // 0 if it has no socket
    char name[16] = {};        // in the abstract namespace, chosen by the system
  };

  void open();
  void send(int to, int descriptor);
  void receive();

  int rank_;
  File socket_;
  Address own_;
  std::vector<Address> addresses_;  // by rank
  std::vector<File> come_;          // by rank, until a call of this rank takes it
  std::string problem_;
};

}  // namespace tca::shm
