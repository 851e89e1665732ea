// Rank 0 runs the serial reference. The fields are compared by a checksum of each rank's cells, so that no
// rank needs room for the whole array.
#include "himeno/check.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

#include "himeno/serial.hpp"

namespace tca::himeno {

namespace {

// FNV-1a over whole words: a difference in any one cell changes it.
template <class PressureAt>
std::uint64_t checksum(const Share& share, const PressureAt& pressure_at) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::int64_t i = 1; i <= share[0].size; ++i) {
    for (std::int64_t j = 1; j <= share[1].size; ++j) {
      for (std::int64_t k = 1; k <= share[2].size; ++k) {
        const float value = pressure_at(share[0].begin + i, share[1].begin + j, share[2].begin + k);
        sum = (sum ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3U;
      }
    }
  }
  return sum;
}

// An odd multiple of each cell's bits, so that whoever adds them in whatever order gets the same.
std::uint64_t fingerprint(World& world, const Problem& problem, const Solution& solution) {
  const Share& own = solution.share();
  std::uint64_t sum = 0;
  for (std::int64_t i = own[0].begin + 1; i <= own[0].begin + own[0].size; ++i) {
    for (std::int64_t j = own[1].begin + 1; j <= own[1].begin + own[1].size; ++j) {
      for (std::int64_t k = own[2].begin + 1; k <= own[2].begin + own[2].size; ++k) {
        const auto place = static_cast<std::uint64_t>(index_in(problem.extents, {i, j, k}));
        sum += std::bit_cast<std::uint32_t>(solution.at({i, j, k})) * (2 * place + 1);
      }
    }
  }
  std::uint64_t all = 0;
  for (const std::uint64_t one : world.all_gather(sum)) all += one;
  return all;
}

// Meets the other ranks every second or so, since a single wait for the whole reference run could exceed
// their time limit.
std::unique_ptr<Serial> run_serial(World& world, const Problem& problem, std::int64_t iterations,
                                   const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  auto serial = world.rank() == 0 ? std::make_unique<Serial>(problem) : nullptr;
  bool finished = false;
  while (!finished) {
    const auto pause = Clock::now() + std::chrono::seconds(1);
    while (serial && serial->iterations() < iterations && Clock::now() < pause) {
      serial->iterate();
      if (progress) progress("serial reference", serial->iterations(), iterations);
    }
    finished = world.all_gather<std::uint8_t>(serial && serial->iterations() == iterations ? 1 : 0)[0] != 0;
  }
  return serial;
}

// Tells all what rank 0 has found.
void tell(World& world, std::vector<int>& ranks) {
  ranks.resize(world.all_gather(ranks.size())[0]);
  for (int& rank : ranks) rank = world.all_gather(rank)[0];
}

}  // namespace

Check check(World& world, const Problem& problem, const Solution& solution, const Progress& progress) {
  const auto serial = run_serial(world, problem, solution.iterations(), progress);
  const Share& own = solution.share();
  const auto sums = world.all_gather(checksum(own, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return solution.at({i, j, k});
  }));
  const auto shares = world.all_gather(own);

  Check verdict;
  for (std::size_t rank = 0; serial && rank < sums.size(); ++rank) {
    const auto pressure_at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return serial->pressure(i, j, k);
    };
    if (sums[rank] != checksum(shares[rank], pressure_at))
      verdict.different_ranks.push_back(static_cast<int>(rank));
  }
  tell(world, verdict.different_ranks);
  verdict.fingerprint = fingerprint(world, problem, solution);
  verdict.residual = world.all_gather(serial ? serial->residual() : 0.0)[0];
  const double difference = std::abs(solution.residual() - verdict.residual);
  verdict.residual_difference = difference == 0 ? 0 : difference / verdict.residual;
  return verdict;
}

}  // namespace tca::himeno
