// The file in which the ranks of a launch meet: memory of their launcher, or a name in /dev/shm.
//
// A name appears in one piece: rank 0 sets the board up in a file without a name and then links it, holding a
// lock that the kernel drops when rank 0 ends. So whatever lies there without that lock is left over, and
// whatever does not begin like a board is somebody else's.
//
// Worlds of a launch come one after the other: in the launcher's memory they use one board, which rank 0 reopens once
// every rank that came has left it; a name is of one world, since rank 0 removes it as soon as all are there.
#pragma once

#include <chrono>
#include <string>

#include "fabric/shm/board.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

// Closed with its object.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept;
  File& operator=(const File&) = delete;
  ~File();
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Place {
  std::string path;
  bool named = false;  // in /dev/shm, rather than the launcher's own memory
};

// Rank 0's way in: the board of the launcher's memory, or of a name that lives as long as this object.
class OwnSegment {
 public:
  // Throws Error{incompatible} when another world or program has the place, Error{timed_out} when ranks stay in the
  // world before this one.
  OwnSegment(const Place& place, int ranks, std::chrono::milliseconds time_limit);
  OwnSegment(const OwnSegment&) = delete;
  // After a failure the name stays for a moment, so that late ranks learn why.
  ~OwnSegment();

  Mapping take_mapping();

 private:
  void set_up(int ranks);
  void take_over(int ranks, std::chrono::milliseconds time_limit);
  void check_same_build(int ranks) const;
  static void await_vacated(const Board& board, std::chrono::milliseconds time_limit);
  void publish();
  void await_arrivals() const;

  Place place_;
  File file_;
  Mapping mapping_;
};

// The others' way in: looks once for the board that rank 0 sets up for this rank's next world; empty while it is not
// there yet. `last_look`: the board of a world that ended before this rank came will do. Throws Error{incompatible} for what
// will never become one, and at the last look why the next world was refused.
Mapping look_for_board(const Place& place, int rank, bool last_look);

// After a failure, the others' part: rank 0 is given the time to remove the name, and when it has died this rank does.
// A rank that ended before may have mpirun kill rank 0, and the name would stay.
void await_removal(const std::string& path);

}  // namespace tca::shm
