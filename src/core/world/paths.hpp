// Paths between ranks that are to fail on this machine's fabrics, so that users can rehearse it. A path is
// what a fabric, or one of its protocols, carries between two ranks, in both directions. From its time on,
// nothing new is sent over it: the steps of chains that need it end in Error{path_lost} on both ends, and a
// commit chooses other channels.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tca/fault.hpp"

namespace tca::core {

struct Path {
  int one = 0, other = 0;
  std::string fabric, protocol;  // empty protocol: all of the fabric's
  double after = 0;              // seconds after the world came up

  std::string name() const;  // "path 0-1 by shm/pull"
};

// Reads "path:0-1:shm/pull@20ms", or several separated by commas. Throws Error{invalid_argument}, which
// names `asker`.
std::vector<Path> read_paths(std::string_view text, std::string_view asker);

class Paths {
 public:
  // `begin` is when the world came up, on the same clock as the times passed here.
  Paths(std::vector<Path> paths, double begin) : paths_(std::move(paths)), begin_(begin) {}

  bool empty() const { return paths_.empty(); }

  // Returns the path between two ranks that a channel needs and that has failed by `now`; null if there is
  // none. What needs no particular protocol, such as a signal, is carried as long as its fabric works.
  const Path* lost(int rank, int partner, std::string_view fabric, std::string_view protocol,
                   double now) const;

  // Returns the names of all paths between two ranks that have failed by `now`.
  std::string lost_between(int rank, int partner, double now) const;

  // Returns when a path fails.
  double failed(const Path& path) const { return begin_ + path.after; }

  // Returns the paths of a rank that have failed by `now`, in the order in which they were given.
  std::vector<KnownFault> known(int rank, double now) const;

 private:
  std::vector<Path> paths_;
  double begin_;
};

}  // namespace tca::core
