// The check that every contender of a kind must pass before it is measured.
#include <cmath>
#include <limits>

#include "gpu/call.hpp"

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

// Returns a seed that differs between ranks and sides of a cube.
std::uint32_t seed(int rank, unsigned side = 0) { return 2 * static_cast<unsigned>(rank) + side; }

Rows rows_of(const Face& face) { return {face.rows, face.run * sizeof(double), face.pitch * sizeof(double)}; }

std::byte* bytes(double* at) { return reinterpret_cast<std::byte*>(at); }

// The barriers ensure that none writes again before all have received.
void run_between_barriers(Contender& contender, World& world, cudaStream_t stream) {
  finish(stream);
  world.barrier();
  contender.run(contender.granule, stream);
  finish(stream);
  world.check();
  world.barrier();
}

}  // namespace

Touching::Touching() {
  std::uint32_t* step = nullptr;
  cuda_ok(cudaMalloc(reinterpret_cast<void**>(&step), sizeof *step), "memory for a benchmark");
  step_.reset(step, [](std::uint32_t* memory) { cudaFree(memory); });
  cuda_ok(cudaMemset(step, 0, sizeof *step), "memory for a benchmark");
  cuda_ok(cudaStreamSynchronize(nullptr), "memory for a benchmark");
}

Touching::~Touching() = default;

void Touching::write(cudaStream_t stream) {
  write_sent(touched, step(), stream);
  cuda_ok(cudaGetLastError(), "writing what is sent");
}

void Touching::read(cudaStream_t stream) {
  read_arrived(touched, step(), stream);
  cuda_ok(cudaGetLastError(), "reading what has arrived");
}

void Touching::touch(int steps, Stream stream) {
  steps_done += static_cast<std::uint32_t>(steps);
  if (start == "graph") {
    if (!bare_)
      bare_ = std::make_unique<Graph>([this](cudaStream_t capturing) {
        write(capturing);
        read(capturing);
      });
    bare_->run(steps, stream);
    return;
  }
  for (int i = 0; i < steps; ++i) {
    write(stream);
    if (start == "engine") finish(stream);
    read(stream);
  }
}

void Messages::prepare(World& world) {
  const int rank = world.rank();
  touched.rows = rows;
  if (rank == 0 || (rank == 1 && answered)) touched.send(out, seed(rank));
  if (rank == 1 || (rank == 0 && answered)) touched.receive(in, seed(1 - rank));
  if (start != "kernel") touches = answered ? 2 : 1;
}

std::uint64_t Messages::wrong(World& world, Stream stream, unsigned) {
  const Wrong wrong;
  run_between_barriers(*this, world, stream);
  const std::uint32_t last = steps_done - 1;
  check_arrived(touched, answered && world.rank() == 0 ? last + 1 : last, wrong, stream);
  return wrong.count(stream);
}

void Faces::prepare(World&) {
  touched.rows = rows_of(face);
  touched.send(bytes(cube + face.low_edge()), seed(rank, 0));
  touched.send(bytes(cube + face.high_edge()), seed(rank, 1));
  touched.receive(bytes(cube + face.low_ghost()), seed(left, 1));
  touched.receive(bytes(cube + face.high_ghost()), seed(right, 0));
  if (start != "kernel") touches = 1;
}

std::uint64_t Faces::wrong(World& world, Stream stream, unsigned) {
  const Wrong wrong;
  run_between_barriers(*this, world, stream);
  check_arrived(touched, steps_done - 1, wrong, stream);
  return wrong.count(stream);
}

void Ring::prepare(World&) {
  touched.rows = block;
  touched.send(out, seed(rank));
  touched.receive(in, seed(left));
}

std::uint64_t Ring::wrong(World& world, Stream stream, unsigned) {
  const Wrong wrong;
  run_between_barriers(*this, world, stream);
  check_arrived(touched, steps_done - 1, wrong, stream);
  return wrong.count(stream);
}

template <class T>
std::uint64_t SumsOf<T>::wrong(World& world, Stream stream, unsigned round) {
  const auto given = [&](int rank, std::size_t i) { return rank + 1 + static_cast<double>((i + round) % 7); };
  constexpr double tolerance = 8192 * static_cast<double>(std::numeric_limits<T>::epsilon());
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(given(world.rank(), i));
  copy(result(0), values.data(), count * sizeof(T), "values to sum");
  run_between_barriers(*this, world, stream);
  copy(values.data(), result(granule), count * sizeof(T), "sums");
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double expected = 0;
    for (int rank = 0; rank < world.size(); ++rank) expected += given(rank, i);
    expected *= std::pow(world.size(), granule - 1);  // every further step adds as many equal values
    if (!(std::abs(static_cast<double>(values[i]) - expected) <= tolerance * expected)) ++wrong;
  }
  return wrong;
}

template struct SumsOf<double>;
template struct SumsOf<float>;

void Blocks::prepare(World&) {
  if (what == "barrier") return;
  touches = 1;
}

void Blocks::write(cudaStream_t stream) {
  if (what == "barrier") return;
  const Filled given{in, values.in_bytes(), static_cast<unsigned>(values.element_bytes()),
                     static_cast<unsigned>(rank), values.turns()};
  if (what != "bcast" || rank == 0) write_buffer(given, step(), stream);
  if (what == "bcast" && rank == last)
    write_buffer({out, values.out_bytes(), 1, static_cast<unsigned>(rank), values.turns()}, step(), stream);
  cuda_ok(cudaGetLastError(), "writing what is sent");
}

void Blocks::read(cudaStream_t stream) {
  if (what == "barrier") return;
  Touched result;
  result.rows = Rows::block(values.out_bytes());
  result.receive(out, 0);
  if (what == "bcast") result.receive(in, 0);
  read_arrived(result, step(), stream);
  cuda_ok(cudaGetLastError(), "reading what has arrived");
}

std::uint64_t Blocks::wrong(World& world, Stream stream, unsigned) {
  std::vector<std::byte> given(values.in_bytes());
  std::vector<std::byte> taken(values.out_bytes());
  constexpr const char* blocks = "blocks of a collective";
  run_between_barriers(*this, world, stream);
  copy(given.data(), in, given.size(), blocks);
  copy(taken.data(), out, taken.size(), blocks);
  values.filled(steps_done);
  return values.right(world, given, taken) ? 0 : 1;
}

}  // namespace tca::bench::gpu
