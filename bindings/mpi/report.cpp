#include <fmt/format.h>

#include <cstdio>
#include <numeric>
#include <string>

#include "mpi/tally.hpp"

namespace tca::interposer {

namespace {

constexpr std::array names{
#define HOOK(call, fortran, ...) Hooked<Call::call>::name,
#include "mpi/hooks.def"
#undef HOOK
};

constexpr std::array<const char*, ways> headings = {"served", "early", "size",  "type",
                                                    "many",   "comm",  "denied"};

}  // namespace

void report() {
  Tally all;
  PMPI_Reduce(tally.times.data(), all.times.data(), static_cast<int>(calls * ways), MPI_INT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::string text = fmt::format("tca mpi: calls of all ranks, by the way they went\n{:<26}", "");
  for (const char* const heading : headings) text += fmt::format("{:>12}", heading);
  for (std::size_t call = 0; call < calls; ++call) {
    const Tally::Ways& row = all.times[call];
    if (std::accumulate(row.begin(), row.end(), std::int64_t{0}) == 0) continue;
    text += fmt::format("\n{:<26}", names[call]);
    for (const std::int64_t times : row) text += fmt::format("{:>12}", times);
  }
  fmt::print(stderr, "{}\n", text);
}

}  // namespace tca::interposer
