#include "mpi/census/measure.hpp"

namespace tca::interposer::census {
Measure::Measure(Call call, const What& what) : call_(call), what_(what) {}
Measure::~Measure() {}
void begin() {}
void end() {}
}  // namespace tca::interposer::census
