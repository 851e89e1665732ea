// The check that every contender of a kind must pass before it is measured.
#include <cmath>

#include "gpu/call.hpp"
#include "gpu/face_kernels.hpp"

namespace tca::bench::gpu {

namespace {

class Wrong {
 public:
  operator unsigned long long*() const { return count_; }  // NOLINT: stands for the counter
  std::uint64_t count(cudaStream_t stream) const {
    finish(stream);
    unsigned long long wrong = 0;
    copy(&wrong, count_, sizeof wrong, "counting wrong bytes");
    return wrong;
  }

 private:
  Buffer<unsigned long long> count_{1};
};

// Returns a seed that differs between ranks, rounds and sides of a cube.
std::uint32_t seed(int rank, unsigned round, unsigned side = 0) {
  return (round * 4096 + static_cast<unsigned>(rank)) * 2 + side;
}

Rows rows_of(const Face& face) { return {face.rows, face.run * sizeof(double), face.pitch * sizeof(double)}; }

std::byte* bytes(double* at) { return reinterpret_cast<std::byte*>(at); }

// The barriers ensure that no rank sends before all have written, and that none writes again before all have
// received.
void run_between_barriers(Contender& contender, World& world, cudaStream_t stream) {
  finish(stream);
  world.barrier();
  contender.run(contender.granule, stream);
  finish(stream);
  world.check();
  world.barrier();
}

}  // namespace

std::uint64_t Messages::wrong(World& world, Stream stream, unsigned round) {
  const Wrong wrong;
  const int rank = world.rank();
  if (rank < 2) fill_rows(out, rows, seed(rank, round), stream);
  run_between_barriers(*this, world, stream);
  if (rank == 1 || (rank == 0 && answered)) check_rows(in, rows, seed(1 - rank, round), wrong, stream);
  return wrong.count(stream);
}

std::uint64_t Faces::wrong(World& world, Stream stream, unsigned round) {
  const Wrong wrong;
  const Rows rows = rows_of(face);
  fill_rows(bytes(cube + face.low_edge()), rows, seed(rank, round, 0), stream);
  fill_rows(bytes(cube + face.high_edge()), rows, seed(rank, round, 1), stream);
  run_between_barriers(*this, world, stream);
  check_rows(bytes(cube + face.high_ghost()), rows, seed(right, round, 0), wrong, stream);
  check_rows(bytes(cube + face.low_ghost()), rows, seed(left, round, 1), wrong, stream);
  return wrong.count(stream);
}

std::uint64_t Sums::wrong(World& world, Stream stream, unsigned round) {
  const auto given = [&](int rank, std::size_t i) { return rank + 1 + static_cast<double>((i + round) % 7); };
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = given(world.rank(), i);
  copy(result(0), values.data(), count * sizeof(double), "values to sum");
  run_between_barriers(*this, world, stream);
  copy(values.data(), result(granule), count * sizeof(double), "sums");
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double expected = 0;
    for (int rank = 0; rank < world.size(); ++rank) expected += given(rank, i);
    expected *= std::pow(world.size(), granule - 1);  // every further step adds as many equal values
    if (!(std::abs(values[i] - expected) <= 1e-12 * expected)) ++wrong;
  }
  return wrong;
}

std::uint64_t Blocks::wrong(World& world, Stream stream, unsigned) {
  std::vector<std::byte> given(values.in() * values.element_bytes());
  std::vector<std::byte> taken(values.out() * values.element_bytes());
  values.fill(given, taken);
  constexpr const char* blocks = "blocks of a collective";
  copy(in, given.data(), given.size(), blocks);
  copy(out, taken.data(), taken.size(), blocks);
  run_between_barriers(*this, world, stream);
  copy(given.data(), in, given.size(), blocks);
  copy(taken.data(), out, taken.size(), blocks);
  return values.right(world, given, taken) ? 0 : 1;
}

}  // namespace tca::bench::gpu
