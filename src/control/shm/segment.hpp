// The segment is the file in which the ranks of a launch meet: memory of their launcher, or a named file in
// /dev/shm.
//
// A name appears together with a complete rendezvous: rank 0 sets the rendezvous up in a file without a
// name and then links it. Meanwhile it holds a lock on the file, which the kernel drops when rank 0 ends.
// So a rendezvous without that lock is left over, and a file that does not begin like a rendezvous belongs
// to somebody else.
//
// The worlds of a launch follow one another. In the launcher's memory they use one rendezvous, which rank 0
// reopens once every rank that came has left it. A name serves one world, since rank 0 removes it as soon
// as all ranks are there.
#pragma once

#include <chrono>
#include <string>

#include "control/shm/file.hpp"
#include "control/shm/rendezvous.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

// The name that `tca run` gives the memory in which its ranks meet, as passed to memfd_create.
inline constexpr const char* launcher_memory = "opentca-control";

struct Place {
  std::string path;
  bool named = false;  // in /dev/shm, rather than the launcher's own memory
};

// The segment as rank 0 opens it: the rendezvous in the launcher's memory, or under a name that lives as long
// as this object.
class OwnSegment {
 public:
  // Throws Error{incompatible} if another world or program has the place, Error{timed_out} if ranks stay in
  // the previous world.
  OwnSegment(const Place& place, int ranks, std::chrono::milliseconds time_limit);
  OwnSegment(const OwnSegment&) = delete;
  // After a failure the name stays for a moment, so that late ranks learn why.
  ~OwnSegment();

  Mapping take_mapping();

 private:
  void set_up(int ranks);
  void take_over(int ranks, std::chrono::milliseconds time_limit);
  void check_same_build(int ranks) const;
  static void await_vacated(const Rendezvous& rendezvous, std::chrono::milliseconds time_limit);
  void publish();
  void await_arrivals() const;

  Place place_;
  File file_;
  Mapping mapping_;
};

// For ranks other than 0: looks once for the rendezvous that rank 0 sets up for this rank's next world.
// Returns an empty mapping while it is not there yet. `last_look`: the rendezvous of a world that ended
// before this rank came is accepted as well. Throws Error{incompatible} for a file that will never become a
// rendezvous; at the last look also if the next world was refused, with the reason.
Mapping find_rendezvous(const Place& place, int rank, bool last_look);

// Called by the other ranks after a failure: gives rank 0 time to remove the name, and removes it if rank 0
// has died. If this rank ended earlier, mpirun might kill rank 0, and the name would stay.
void await_removal(const std::string& path);

}  // namespace tca::shm
