#include "mpi/census/measure.hpp"

#include "mpi/census/collect.hpp"

namespace tca::interposer::census {

Measure::Measure(Call call, const What& what)
    : call_(call), what_(what), begin_(std::chrono::steady_clock::now()) {}

Measure::~Measure() {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
  if (on) counts().add(call_, what_, took.count());  // MPI_Finalize has ended the census
}

}  // namespace tca::interposer::census
