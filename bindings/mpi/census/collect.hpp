// What a rank has counted, and what all of them have.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "mpi/census/measure.hpp"

namespace tca::interposer::census {

struct Row {
  int rank = 0;
  std::string call, comm, type;  // empty where the call says none
  int ranks = 0;                 // of the communicator
  std::int64_t size_class =
      -1;  // the least power of two of bytes that holds the message, 0 for none, -1 where it does not say
  std::int64_t calls = 0, bytes = 0;
  double seconds = 0;
  bool is_served = false;  // OpenTCA would serve it
};

class Counts {
 public:
  void add(Call call, const What& what, double seconds);
  std::vector<Row> rows(int rank) const;

 private:
  // By handles, which name something else when what they named is gone.
  using Key = std::tuple<Call, MPI_Comm, MPI_Datatype, std::int64_t>;
  Row named(Call call, const What& what, std::int64_t size_class, std::int64_t bytes) const;
  std::mutex mutex_;  // guards the rows: any thread may call MPI
  std::map<Key, Row> rows_;
};
Counts& counts();

// The census of a job, as it is on rank 0.
struct Census {
  std::vector<Row> rows;
  std::vector<double> seconds;  // from MPI_Init to MPI_Finalize, by rank
};

std::string table(const Census& census);
std::string json_lines(const Census& census);

}  // namespace tca::interposer::census
