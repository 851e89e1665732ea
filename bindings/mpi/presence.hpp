// Whether the ranks of a host all have the library, and the same one: each holds a name of the host for as long as it lives. MPI
// cannot be asked, as a rank without the library would take no part in the question.
#pragma once

#include <string>

namespace tca::interposer {

class Presence {
 public:
  // Takes this rank's name. Done before MPI_Init, which no rank leaves before all are in it.
  void announce();
  // Returns why the ranks of this host cannot be relied on to have the library; empty where they can.
  std::string obstacle() const;

  int rank_here() const { return rank_; }
  int ranks_here() const { return ranks_; }

 private:
  std::string name(int local_rank) const;

  int socket_ = -1, rank_ = -1, ranks_ = 0;
  std::string job_;
};

}  // namespace tca::interposer
