// Tests the kernels of the solver on GPUs, played by threads of the host. The site arithmetic must equal that
// of the host's operator to the bit. In whole solves, every block of every rank is a thread, and halves
// travel as elements of produced puts.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "qcd/gpu/bicgstab.hpp"
#include "qcd/gpu/solution.hpp"
#include "qcd/gpu/start.hpp"
#include "qcd/gpu/tables.hpp"
#include "qcd/operators/faces.hpp"
#include "qcd/operators/wilson.hpp"
#include "qcd/solver/inverter.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

// Calls visit(place in units, place in the host's order) for all reals of a field.
template <class T, class Visit>
void for_reals(std::size_t sites, std::size_t reals, const Visit& visit) {
  const std::size_t one = sites * spinor_reals, rhs = reals / one;
  for (std::size_t s = 0; s < sites; ++s)
    for (std::size_t r = 0; r < rhs; ++r)
      for (std::size_t i = 0; i < spinor_reals; ++i)
        visit(r * one + (i / Unit<T>::reals * sites + s) * Unit<T>::reals + i % Unit<T>::reals,
              (s * rhs + r) * spinor_reals + i);
}

// These convert a field of `sites` from the host's order to units and back. Its size gives the number of
// right-hand sides.
template <class T>
void to_units(const Field<T>& field, std::size_t sites, std::vector<T>& units) {
  units.resize(field.size());
  for_reals<T>(sites, field.size(), [&](std::size_t unit, std::size_t real) { units[unit] = field[real]; });
}

template <class T>
void from_units(const std::vector<T>& units, std::size_t sites, Field<T>& field) {
  field.resize(units.size());
  for_reals<T>(sites, units.size(), [&](std::size_t unit, std::size_t real) { field[real] = units[unit]; });
}

using test::on_grid;
using test::random_field;
using test::Shape4;

// Returns a Ground that points to the tables of a rank.
template <class T>
Ground<T> ground_of(const GroundTables<T>& tables) {
  Ground<T> ground = tables.ground;
  ground.links = tables.links.data();
  ground.time_sign = tables.time_sign.data();
  ground.next = tables.next.data();
  return ground;
}

template <class T>
Chunks chunks_of(const GroundTables<T>& tables, Word odd) {
  return {tables.order[odd].data(), tables.interior[odd], tables.ground.chunks()};
}

// Connects the blocks of all ranks: a barrier for each rank's grid, and sums over all blocks in the order of
// ranks and blocks.
class Machine {
 public:
  Machine(int ranks, int blocks)
      : ranks_(ranks),
        blocks_(blocks),
        everybody_(ranks * blocks),
        sums_(static_cast<std::size_t>(ranks * blocks)) {
    for (int r = 0; r < ranks; ++r) grids_.push_back(std::make_unique<std::barrier<>>(blocks));
  }
  int blocks() const { return blocks_; }
  void grid_barrier(int rank) { grids_[static_cast<std::size_t>(rank)]->arrive_and_wait(); }
  void total(int rank, int block, double* sums) {
    auto& own = sums_[static_cast<std::size_t>(rank * blocks_ + block)];
    std::copy_n(sums, sum_count, own.begin());
    everybody_.arrive_and_wait();
    std::fill_n(sums, sum_count, 0.0);
    for (const auto& one : sums_)
      for (std::size_t i = 0; i < sum_count; ++i) sums[i] += one[i];
    everybody_.arrive_and_wait();
  }

 private:
  int ranks_, blocks_;
  std::barrier<> everybody_;
  std::vector<std::unique_ptr<std::barrier<>>> grids_;
  std::vector<std::array<double, sum_count>> sums_;
};

class HostBlock {
 public:
  static constexpr bool links_ahead = true, together = false;

  HostBlock(Machine& machine, int rank, int index)
      : machine_(machine),
        rank_(rank),
        index_(index),
        random_(static_cast<unsigned>(1 + rank * 100 + index)) {
    for (Word t = 0; t < chunk_warps * chunk_sites; ++t)
      threads_.push_back({.warp = t / chunk_sites, .lane = t % chunk_sites});
  }

  Word index() const { return static_cast<Word>(index_); }
  Word count() const { return static_cast<Word>(machine_.blocks()); }
  // Blocks are never in step: now and then one comes much later than the others.
  template <class F>
  void each(const F& f) {
    if (random_() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 400));
    for (SiteThread& thread : threads_) f(thread);
  }
  template <class F>
  void one(const F& f) const {
    f();
  }
  void sync() const {}
  template <class T>
  ChunkRoom<T>& room() {
    if constexpr (sizeof(T) == 4) {
      return single_;
    } else {
      return double_;
    }
  }
  void start_kernel() {
    for (SiteThread& thread : threads_) thread.met = false;
  }
  void arrive() const {}
  void wait() { machine_.grid_barrier(rank_); }
  void barrier() { wait(); }
  bool good() const {
    for (const SiteThread& thread : threads_)
      if (!thread.good) return false;
    return true;
  }
  const double* total() {
    std::fill_n(totals_, sum_count, 0.0);
    for (SiteThread& thread : threads_) {
      for (Word i = 0; i < sum_count; ++i) totals_[i] += std::exchange(thread.sums[i], 0.0);
    }
    machine_.total(rank_, index_, totals_);
    return totals_;
  }

 protected:
  std::vector<SiteThread> threads_;

 private:
  Machine& machine_;
  int rank_, index_;
  std::minstd_rand random_;
  ChunkRoom<float> single_;
  ChunkRoom<double> double_;
  double totals_[sum_count] = {};
};

// A block that takes several right-hand sides.
class TogetherHostBlock : public HostBlock {
 public:
  static constexpr bool together = true;

  TogetherHostBlock(Machine& machine, int rhs)
      : HostBlock(machine, 0, 0), kept_(static_cast<std::size_t>(rhs)) {}

  void keep_sums(Word rhs) {
    for (SiteThread& thread : threads_)
      for (Word i = 0; i < sum_count; ++i) kept_[rhs][i] += std::exchange(thread.sums[i], 0.0);
  }
  // Returns the sums of a right-hand side so far, which start again at zero.
  std::array<double, sum_count> total(Word rhs) { return std::exchange(kept_[rhs], {}); }

 private:
  std::vector<std::array<double, sum_count>> kept_;
};

device::WaitLimits limits_of(std::vector<Word>& flags) {
  flags.assign(64, 0);
  return {.abort = &flags[0],
          .gave_up = &flags[1],
          .waiting = &flags[16],
          .limit_ns = 5'000'000'000,
          .chain = 1,
          .gone = &flags[32],
          .over = &flags[2]};
}

// The memory of a solve in one precision. All pointers are set but those to the neighbours' packets, in which
// `connect` plays the chain.
template <class T>
struct Memory {
  Memory(const Lattice& lattice, const GroundTables<T>& tables, double kappa, Word rhs = 1)
      : half(static_cast<std::size_t>(lattice.volume()) / 2) {
    for (auto& field : fields) field.assign(half * spinor_reals * rhs, 0);
    solve.ground = ground_of(tables);
    solve.ground.rhs = rhs;
    for (const Word odd : {0U, 1U}) solve.chunks[odd] = chunks_of(tables, odd);
    solve.b = fields[0].data();
    T** const all[] = {&solve.x, &solve.r, &solve.odd, &solve.s, &solve.p, &solve.q, &solve.w};
    for (std::size_t i = 0; i < 7; ++i) *all[i] = fields[i + 1].data();
    solve.kappa2 = static_cast<T>(kappa * kappa);
    solve.halves.steps = {steps.data(), limits_of(flags)};
    for (const Face& face : lattice.faces()) {
      const auto elements = static_cast<Word>(face.even.size());
      const Word buffer =
          device::lots_of(elements) * device::elements_per_lot * DeviceProducedArrival<Half<T>>::packets_each;
      packets[face.direction].resize(2 * buffer);
      solve.halves.from[face.direction] = {{.packets = packets[face.direction].data(),
                                            .elements = elements,
                                            .buffer = buffer,
                                            .link = static_cast<Word>(face.neighbour)}};
    }
  }
  void connect(World& world, const Lattice& lattice) {
    std::array<std::uintptr_t, directions> own{};
    for (std::size_t d = 0; d < directions; ++d) own[d] = reinterpret_cast<std::uintptr_t>(packets[d].data());
    const auto all = world.all_gather(own);
    for (const Face& face : lattice.faces()) {
      const int d = face.direction;
      static_cast<device::Produced&>(solve.halves.to[d]) = solve.halves.from[d];
      solve.halves.to[d].packets = reinterpret_cast<device::Packet*>(
          all[static_cast<std::size_t>(face.neighbour)][static_cast<std::size_t>(d ^ 1)]);
    }
  }

  std::size_t half;
  std::vector<T> fields[8];
  std::vector<device::Packet> packets[directions];
  std::vector<Word> steps = std::vector<Word>(device::max_parts);
  std::vector<Word> flags;
  SolveFields<T> solve;
};

// Returns the even half of a whole source, in units.
std::vector<double> even_units(const Field<double>& source, std::size_t half) {
  std::vector<double> units;
  to_units(Field<double>(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(half * spinor_reals)),
           half, units);
  return units;
}

template <class F>
std::vector<Outcome> run_blocks(Machine& machine, int rank, const F& body) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(machine.blocks()));
  std::vector<std::thread> threads;
  for (int b = 0; b < machine.blocks(); ++b) {
    threads.emplace_back([&, b] {
      HostBlock block(machine, rank, b);
      outcomes[static_cast<std::size_t>(b)] = body(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

constexpr double kappa = 0.13;

// Carries halves between the ranks' kernels: through chains, or by stores into the neighbours' memory, as
// GpuWilson does.
template <class T>
class Halves {
 public:
  Halves(World& world, const Lattice& lattice, int rhs, bool there)
      : ghosts_(static_cast<std::size_t>(lattice.slots() * half_reals * rhs)) {
    if (!there) {
      faces_.emplace(world, lattice, "halves", half_reals * rhs, true);
      crossing.ghosts = faces_->ghosts();
      std::fill_n(crossing.to, directions, faces_->outgoing());
      return;
    }
    crossing.ghosts = ghosts_.data();
    crossing.exchanges = exchanges_.data();
    crossing.limits = limits_of(flags_);
    const auto ghosts = world.all_gather(reinterpret_cast<std::uintptr_t>(ghosts_.data()));
    const auto signals = world.all_gather(reinterpret_cast<std::uintptr_t>(signals_.data()));
    for (const Face& face : lattice.faces()) {
      const auto neighbour = static_cast<std::size_t>(face.neighbour);
      crossing.to[face.direction] = reinterpret_cast<T*>(ghosts[neighbour]);
      crossing.signals[face.direction] = {reinterpret_cast<Word*>(signals[neighbour]) + (face.direction ^ 1)};
      crossing.expected[face.direction] = {&signals_[static_cast<std::size_t>(face.direction)],
                                           static_cast<Word>(face.neighbour)};
    }
  }

  // Does what chains do between kernels.
  void exchange(Sites sent) {
    if (!faces_) return;
    faces_->start(sent);
    faces_->wait(sent);
  }

  Crossing<T> crossing;

 private:
  std::optional<Faces<T>> faces_;
  std::vector<T> ghosts_;
  std::array<Word, directions> signals_{};
  std::array<Word, 2> exchanges_{};
  std::vector<Word> flags_;
};

// Sends the halves of a field by the kernels' own projection. The ground says how many right-hand sides the
// field has.
template <class T, class Block>
void send_halves(Block& block, const Ground<T>& ground, const std::vector<T>& field,
                 const Crossing<T>& crossing, bool odd, bool dagger) {
  ChunkRoom<T>& room = block.template room<T>();
  for (Word chunk = 0; chunk < ground.chunks(); ++chunk) {
    block.each([&](SiteThread& thread) { thread.here = neighbour_of(ground, chunk, odd, thread); });
    for (Word r = 0; r < ground.rhs; ++r) {
      const T* const one = field_of(field.data(), ground, r);
      for (Word lane = 0; lane < chunk_sites && chunk * chunk_sites + lane < ground.half(); ++lane)
        for (Word four = 0; four < 6; ++four)
          put_four(room.spinors, chunk_sites, lane, four,
                   four_at(one, ground.half(), chunk * chunk_sites + lane, four));
      send_chunk(block, ground, room.spinors, chunk, odd, dagger, r, WindowSink<T>{crossing, ground.rhs});
    }
  }
}

// Compares the kernels' hops, one chunk at a time, with the host's.
template <class T, int reals, class MakeBlock>
void expect_the_hosts_hops(const Shape4& shape, const Extents& global, int rhs, bool there,
                           const MakeBlock& make_block) {
  const Storage storage = static_cast<Storage>(reals);
  on_grid(shape, global, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    const GroundTables<T> tables(gauge, storage, true);
    Ground<T> ground = ground_of(tables);
    ground.rhs = static_cast<Word>(rhs);
    const auto half = static_cast<std::size_t>(ground.half());
    WilsonHop<T> hop(world, gauge, {.kappa = kappa, .storage = storage, .rhs = rhs});
    Halves<T> halves(world, lattice, rhs, there);
    const Crossing<T>& crossing = halves.crossing;
    Machine machine(1, 1);
    auto block = make_block(machine);
    for (const bool dagger : {false, true}) {
      for (const bool odd : {false, true}) {
        const Sites target = odd ? Sites::odd : Sites::even, from = odd ? Sites::even : Sites::odd;
        const Field<T> in = random_field<T>(lattice, from, rhs, spinor_reals);
        const Field<T> plus = random_field<T>(lattice, target, rhs, spinor_reals, 8);
        Field<T> expected(in.size());
        hop.apply(target, in.data(), expected.data(), {.same = plus.data(), .a = 1, .b = T(-0.3)}, dagger);
        std::vector<T> in_units, plus_units, out(in.size());
        to_units(in, half, in_units);
        to_units(plus, half, plus_units);
        block.start_kernel();
        send_halves(block, ground, in_units, crossing, !odd, dagger);
        halves.exchange(from);
        const Word exchange = begin_exchange(block, crossing, !odd);
        const Stage<T> stage{.in = in_units.data(),
                             .out = out.data(),
                             .plus = plus_units.data(),
                             .factor = T(-0.3),
                             .to_odd = odd,
                             .dagger = dagger};
        Hop<T, reals, decltype(block)>(block, ground, stage, chunks_of(tables, odd ? 1 : 0))
            .run(WindowGhosts<T>{crossing, exchange}, WindowSink<T>{crossing});
        Field<T> found;
        from_units(out, half, found);
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << i << odd << dagger;
        world.barrier();
      }
    }
  });
}

TEST(QcdKernel, HopsAreTheHostsToTheBit) {
  const auto one = [](Machine& machine) { return HostBlock(machine, 0, 0); };
  for (const bool there : {false, true}) {
    for (const Shape4& shape : {Shape4{1, 1, 1, 1}, {1, 1, 1, 2}, {2, 1, 2, 1}, {1, 4, 1, 1}}) {
      const Extents global = shape[3] == 2 ? Extents{4, 6, 4, 4} : Extents{4, 8, 4, 6};
      expect_the_hosts_hops<double, 12>(shape, global, 1, there, one);
      expect_the_hosts_hops<float, 18>(shape, global, 1, there, one);
    }
    expect_the_hosts_hops<double, 18>({2, 1, 1, 1}, {4, 4, 2, 2}, 1, there, one);
    expect_the_hosts_hops<float, 12>({2, 1, 1, 1}, {4, 4, 2, 2}, 1, there, one);
  }
}

TEST(QcdKernel, HopsTogetherAreTheHostsToTheBit) {
  const auto three = [](Machine& machine) { return TogetherHostBlock(machine, 3); };
  for (const bool there : {false, true}) {
    for (const Shape4& shape : {Shape4{1, 1, 1, 1}, {1, 1, 1, 2}, {2, 1, 2, 1}}) {
      const Extents global = shape[3] == 2 ? Extents{4, 6, 4, 4} : Extents{4, 8, 4, 6};
      expect_the_hosts_hops<double, 12>(shape, global, 3, there, three);
      expect_the_hosts_hops<float, 18>(shape, global, 3, there, three);
    }
  }
}

// One kernel runs after another, and each sends what the next one needs. Ranks and blocks are held up at
// random.
TEST(QcdKernel, HalvesStoredThereAreReadInTime) {
  constexpr int blocks = 3;
  for (const Shape4& shape : {Shape4{1, 1, 1, 2}, {2, 1, 2, 1}, {1, 4, 1, 1}}) {
    const Extents global{4, 8, 4, 8};
    Machine machine(shape[0] * shape[1] * shape[2] * shape[3], blocks);
    on_grid(shape, global, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      const GroundTables<double> tables(gauge, Storage::full, true);
      const Ground<double> ground = ground_of(tables);
      WilsonHop<double> hop(world, gauge, {.kappa = kappa});
      // The host computes its results first, since its chains would keep the ranks in step.
      constexpr Word hops = 100;
      std::vector<Field<double>> expected{random_field<double>(lattice, Sites::even, 1, spinor_reals)};
      for (Word n = 0; n < hops; ++n) {
        expected.emplace_back(expected[0].size());
        hop.apply(n % 2 == 0 ? Sites::odd : Sites::even, expected[n].data(), expected[n + 1].data(),
                  {.b = 0.2}, false);
      }
      std::vector<std::vector<double>> fields(hops + 1);
      for (auto& field : fields) field.resize(expected[0].size());
      to_units(expected[0], ground.half(), fields[0]);
      Halves<double> halves(world, lattice, 1, true);
      const Crossing<double>& crossing = halves.crossing;
      HostBlock first(machine, world.rank(), 0);
      send_halves(first, ground, fields[0], crossing, false, false);
      run_blocks(machine, world.rank(), [&](HostBlock& block) {
        for (Word n = 0; n < hops; ++n) {
          const Stage<double> stage{.in = fields[n].data(),
                                    .out = fields[n + 1].data(),
                                    .factor = 0.2,
                                    .to_odd = n % 2 == 0,
                                    .sends = true};
          block.start_kernel();
          const Word exchange = begin_exchange(block, crossing, !stage.to_odd);
          Hop<double, 18, HostBlock>(block, ground, stage, chunks_of(tables, stage.to_odd ? 1 : 0))
              .run(WindowGhosts<double>{crossing, exchange}, WindowSink<double>{crossing});
          block.barrier();  // one kernel ends before the next begins
        }
        EXPECT_TRUE(block.good());
        return Outcome{};
      });
      Field<double> found;
      for (Word n = 1; n <= hops; ++n) {
        from_units(fields[n], ground.half(), found);
        ASSERT_EQ(found, expected[n]) << n;
      }
      world.barrier();
    });
  }
}

// Sends one parity again and again, each time after an exchange of nothing.
TEST(QcdKernel, HalvesOfOneParityFollowEachOtherBehindAMeeting) {
  Machine machine(2, 1);
  on_grid({1, 1, 1, 2}, {4, 4, 4, 8}, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    const GroundTables<double> tables(gauge, Storage::full, true);
    const Ground<double> ground = ground_of(tables);
    WilsonHop<double> hop(world, gauge, {.kappa = kappa});
    constexpr std::uint64_t times = 50;
    std::vector<Field<double>> fields, expected;
    for (std::uint64_t n = 0; n < times; ++n) {
      fields.push_back(random_field<double>(lattice, Sites::even, 1, spinor_reals, n));
      expected.emplace_back(fields[n].size());
      hop.apply(Sites::odd, fields[n].data(), expected[n].data(), {.b = 0.2}, false);
    }
    Halves<double> halves(world, lattice, 1, true);
    const Crossing<double>& crossing = halves.crossing;
    HostBlock block(machine, world.rank(), 0);
    std::vector<double> in, out(fields[0].size());
    Field<double> found;
    for (std::uint64_t n = 0; n < times; ++n) {
      if (n > 0) meet(block, ground, crossing, true);
      to_units(fields[n], ground.half(), in);
      send_halves(block, ground, in, crossing, false, false);
      block.start_kernel();
      const Stage<double> stage{.in = in.data(), .out = out.data(), .factor = 0.2, .to_odd = true};
      const Word exchange = begin_exchange(block, crossing, false);
      Hop<double, 18, HostBlock>(block, ground, stage, chunks_of(tables, 1))
          .run(WindowGhosts<double>{crossing, exchange}, WindowSink<double>{crossing});
      from_units(out, ground.half(), found);
      ASSERT_EQ(found, expected[n]) << n;
    }
    EXPECT_TRUE(block.good());
    world.barrier();
  });
}

TEST(QcdKernel, InteriorChunksHaveNoGhosts) {
  on_grid({1, 1, 1, 2}, {4, 4, 4, 16}, [](World&, const Lattice& lattice, Gauge& gauge) {
    const GroundTables<double> tables(gauge, Storage::full, true);
    ASSERT_EQ(tables.order[0].size(), 8U);
    // A block is two slices in time and in z. The blocks of the first and the last time touch a face.
    EXPECT_EQ(tables.interior[0], 4U);
    EXPECT_EQ(tables.interior[1], 4U);
    EXPECT_EQ(lattice.slots(), 128);
  });
}

TEST(QcdKernel, EveryChunkHasItsTurn) {
  std::vector<std::int32_t> order(3000);
  std::iota(order.begin(), order.end(), 0);
  for (const auto& [interior, count, blocks] : {std::array<Word, 3>{384, 512, 264},
                                                {384, 512, 132},
                                                {0, 16, 16},
                                                {16, 32, 32},
                                                {1024, 1024, 132},
                                                {2100, 3000, 130},
                                                {7, 9, 1}}) {
    const Chunks chunks{order.data(), interior, count};
    std::vector<int> taken(count);
    Word most = 0;
    for (Word block = 0; block < blocks; ++block) {
      Turns turns(chunks, block, blocks, count);
      bool at_faces = false;
      Word own = 0;
      for (Word chunk = turns.next(); chunk != count; chunk = turns.next(), ++own) {
        ++taken[chunk];
        EXPECT_FALSE(at_faces && chunk < interior) << "ghosts come last";
        at_faces = chunk >= interior;
      }
      most = std::max(most, own);
    }
    EXPECT_EQ(taken, std::vector<int>(count, 1));
    EXPECT_LE(most, (count + blocks - 1) / blocks + (interior >= 4 * blocks ? 4 : 0));
  }
}

struct Solved {
  Outcome outcome;
  double residual;  // of the preconditioned equation, by the host's operator
};

// Runs all ranks as threads, with a thread for each of their blocks. Solves twice in a row, since exchanges
// go on counting.
template <class Solver>
void expect_solutions(const Shape4& shape, const Extents& global, int blocks, double tolerance,
                      const Solver& solver) {
  Machine machine(shape[0] * shape[1] * shape[2] * shape[3], blocks);
  on_grid(shape, global, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    Wilson<double> d(world, gauge, {.kappa = kappa});
    Sums sums(world, 10);
    const auto half = static_cast<std::size_t>(lattice.volume()) / 2;
    const Field<double> b = random_field<double>(lattice, Sites::even, 1, spinor_reals);
    Field<double> x;
    Field<double> expected(b.size(), 0);
    const Solution host = solve_cg(d, sums, b, expected, {.tolerance = tolerance, .max_iterations = 500});
    solver(world, lattice, gauge, machine, even_units(b, half),
           [&](const Outcome& outcome, const std::vector<double>& units) {
             from_units(units, half, x);
             EXPECT_TRUE(outcome.good);
             EXPECT_NEAR(outcome.iterations, host.iterations, 2 + 0.1 * host.iterations);
             EXPECT_LE(std::sqrt(outcome.r2 / outcome.b2), tolerance);
             EXPECT_LE(true_residuals(d, sums, b, x)[0], 1.01 * tolerance);
           });
  });
}

template <int reals>
void solve_in_double(const Shape4& shape, const Extents& global, int blocks) {
  constexpr double tolerance = 1e-10;
  expect_solutions(shape, global, blocks, tolerance,
                   [&](World& world, const Lattice& lattice, const Gauge& gauge, Machine& machine,
                       const std::vector<double>& b, const auto& check) {
                     const GroundTables<double> tables(gauge, static_cast<Storage>(reals), true);
                     Memory<double> memory(lattice, tables, kappa);
                     memory.connect(world, lattice);
                     memory.fields[0] = b;
                     const Aim aim{.tolerance = tolerance, .max_iterations = 500};
                     std::vector<double> history(500);
                     for (int n = 0; n < 2; ++n) {
                       std::fill(memory.fields[1].begin(), memory.fields[1].end(), 0.0);
                       const auto outcomes = run_blocks(machine, world.rank(), [&](HostBlock& block) {
                         return solve_cg_in<double, reals>(block, memory.solve, aim, history.data());
                       });
                       for (const Outcome& one : outcomes) ASSERT_EQ(one.iterations, outcomes[0].iterations);
                       const auto last = static_cast<std::size_t>(outcomes[0].iterations) - 1;
                       EXPECT_EQ(history[last], outcomes[0].r2 / outcomes[0].b2);
                       check(outcomes[0], memory.fields[1]);
                       world.barrier();
                     }
                   });
}

TEST(QcdKernel, SolvesOnOneRank) {
  solve_in_double<12>({1, 1, 1, 1}, {4, 4, 4, 4}, 1);
  solve_in_double<18>({1, 1, 1, 1}, {4, 4, 4, 4}, 3);
}

TEST(QcdKernel, SolvesOnSeveralRanks) {
  solve_in_double<12>({1, 1, 1, 2}, {4, 4, 4, 4}, 2);
  solve_in_double<18>({1, 1, 2, 2}, {2, 4, 4, 4}, 2);
  solve_in_double<12>({4, 1, 1, 1}, {8, 4, 2, 2}, 1);
  solve_in_double<18>({1, 1, 1, 2}, {4, 4, 4, 8}, 4);
}

TEST(QcdKernel, SolvesInMixedPrecision) {
  constexpr double tolerance = 1e-10;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Shape4& shape : {Shape4{1, 1, 1, 1}, {1, 2, 1, 2}}) {
    expect_solutions(shape, {4, 4, 4, 4}, 2, tolerance,
                     [&](World& world, const Lattice& lattice, const Gauge& gauge, Machine& machine,
                         const std::vector<double>& b, const auto& check) {
                       const GroundTables<double> tables(gauge, Storage::two_rows, true);
                       const GroundTables<float> rough(gauge, Storage::two_rows, true);
                       Memory<double> exact(lattice, tables, kappa);
                       Memory<float> memory(lattice, rough, kappa);
                       exact.connect(world, lattice);
                       memory.connect(world, lattice);
                       exact.fields[0] = b;
                       // The fields are as a solve leaves them whose numbers have exceeded single precision.
                       for (const std::size_t kept : {2U, 3U, 4U, 5U, 6U, 7U})
                         std::fill(memory.fields[kept].begin(), memory.fields[kept].end(), infinity);
                       const Aim aim{.tolerance = tolerance, .max_iterations = 500, .update_at = 0.1};
                       std::vector<double> history(500);
                       const auto outcomes = run_blocks(machine, world.rank(), [&](HostBlock& block) {
                         return solve_cg_mixed_in<12>(block, memory.solve, exact.solve, aim, history.data());
                       });
                       EXPECT_GE(outcomes[0].updates, 8);
                       check(outcomes[0], exact.fields[1]);
                       world.barrier();
                     });
  }
}

// A solve on one rank as the host and graphs start it: stages, sums, decisions from the sums, and an update,
// in turn.
template <class T, class Kept>
struct StepByStep {
  StepByStep(const Lattice& lattice, const Gauge& gauge, const std::vector<T>& b, int rhs)
      : tables(gauge, Storage::two_rows, true),
        memory(lattice, tables, kappa, static_cast<Word>(rhs)),
        block(machine, rhs),
        steps(static_cast<std::size_t>(rhs)),
        history(steps.size(), std::vector<double>(most)) {
    memory.fields[0] = b;
    for (Kept& one : steps) {
      one.tolerance = tolerance;
      one.update_at = update_at;
      one.most = most;
    }
  }

  void run(const Stage<T>& stage) {
    const Crossing<T> alone;
    Hop<T, 12, TogetherHostBlock>(block, f.ground, stage, f.chunks[stage.to_odd ? 1 : 0])
        .run(WindowGhosts<T>{alone, 0}, WindowSink<T>{alone});
  }
  void apply(const T* in, T* out) {
    run({.in = in, .out = f.odd, .to_odd = true});
    run({.in = f.odd, .out = out, .plus = in, .factor = -f.kappa2});
  }
  // Calls act(right-hand side, its fields) for each right-hand side.
  template <class Do>
  void each(const Do& act) {
    for (Word r = 0; r < f.ground.rhs; ++r) act(r, fields_of(f, r));
  }
  // Calls act(place, four) for each place and each of its groups of four reals.
  template <class Do>
  void each_four(const Do& act) const {
    for (Word place = 0; place < f.ground.half(); ++place)
      for (Word four = 0; four < 6; ++four) act(place, four);
  }
  template <class Do>
  void each_number(const Do& act) const {
    for (Word i = 0; i < numbers_of(f); ++i) act(i);
  }
  void update() {
    each([&](Word r, const SolveFields<T>& one) {
      const Kept& own = steps[r];
      each_four([&](Word place, Word four) {
        step_of(one, one.ground.half(), place, four, static_cast<T>(own.alpha), static_cast<T>(own.beta),
                own.p_stays);
      });
    });
  }
  bool over() const {
    return std::all_of(steps.begin(), steps.end(), [](const Kept& one) { return one.over; });
  }

  static constexpr double tolerance = 1e-10, update_at = 0.1;
  static constexpr int most = 500;
  GroundTables<T> tables;
  Memory<T> memory;
  const SolveFields<T>& f = memory.solve;
  Machine machine{1, 1};
  TogetherHostBlock block;
  std::vector<Kept> steps;
  std::vector<std::vector<double>> history;
};

// Solves on one rank. `body` gets b in units, leaves x in units, and returns the Steps with which it ended.
template <class Body>
void expect_the_hosts_solution(int rhs, const Body& body, Method method = Method::cg, bool mixed = false) {
  on_grid({1, 1, 1, 1}, {4, 4, 4, 4}, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    constexpr double tolerance = StepByStep<double, CgSteps>::tolerance;
    Wilson<double> d(world, gauge, {.kappa = kappa, .rhs = rhs});
    Wilson<float> single(world, gauge, {.kappa = kappa, .rhs = rhs});
    Sums sums(world, 10 * rhs);
    const auto half = static_cast<std::size_t>(lattice.volume()) / 2;
    Field<double> b = random_field<double>(lattice, Sites::even, rhs, spinor_reals);
    // With several right-hand sides, the first is solved at once, and stays so while the others go on.
    for (std::size_t i = 0; rhs > 1 && i < b.size(); ++i)
      if (i / spinor_reals % static_cast<std::size_t>(rhs) == 0) b[i] = 0;
    Field<double> expected(b.size(), 0), x;
    const SolveOptions aim{.tolerance = tolerance, .max_iterations = 500};
    const Solution host = mixed                  ? solve_cg_mixed(d, single, sums, b, expected, aim)
                          : method == Method::cg ? solve_cg(d, sums, b, expected, aim)
                                                 : solve_bicgstab(d, sums, b, expected, aim);
    std::vector<double> units, found;
    to_units(b, half, units);
    const std::vector<Steps> last = body(lattice, gauge, units, found);
    from_units(found, half, x);
    ASSERT_EQ(last.size(), static_cast<std::size_t>(rhs));
    int iterations = 0;
    for (const Steps& one : last) {
      iterations = std::max(iterations, one.iterations);
      EXPECT_LE(std::sqrt(one.relative(one.r2)), tolerance);
      EXPECT_EQ(one.updates, last[0].updates);
    }
    EXPECT_NEAR(iterations, host.iterations, mixed ? 2 : 1);
    EXPECT_NEAR(last[0].updates, host.updates, 1);
    for (const double residual : true_residuals(d, sums, b, x)) EXPECT_LE(residual, 1.01 * tolerance);
    double off = 0;
    for (std::size_t i = 0; i < x.size(); ++i) off = std::max(off, std::abs(x[i] - expected[i]));
    EXPECT_LE(off, 1e-8);
  });
}

template <class Kept, class Begin, class Step>
void expect_solution_step_by_step(int rhs, Method method, const Begin& begin, const Step& step) {
  const auto solve = [&](const Lattice& lattice, const Gauge& gauge, const std::vector<double>& b,
                         std::vector<double>& x) {
    StepByStep<double, Kept> one(lattice, gauge, b, rhs);
    begin(one);
    // Further steps change nothing.
    for (int extra = 0; extra < 3;) {
      step(one);
      if (!one.over()) continue;
      if (++extra == 1) x = one.memory.fields[1];
      EXPECT_EQ(one.memory.fields[1], x);
    }
    return std::vector<Steps>(one.steps.begin(), one.steps.end());
  };
  expect_the_hosts_solution(rhs, solve, method);
}

void expect_cg_step_by_step(int rhs) {
  using Cg = StepByStep<double, CgSteps>;
  const auto end_step = [](Cg& cg) {
    cg.each(
        [&](Word r, const auto&) { decide(cg.steps[r], cg.block.total(r).data(), cg.history[r].data()); });
    cg.update();
  };
  expect_solution_step_by_step<CgSteps>(
      rhs, Method::cg,
      [&](Cg& cg) {
        for (Word n = 0; n < 2; ++n) cg.run(residual_stage(cg.f, n, true));
        for (Word n = 0; n < 2; ++n) cg.run(normal_stage(cg.f, n, false));
        end_step(cg);
      },
      [&](Cg& cg) {
        for (Word n = 0; n < 4; ++n) cg.run(iteration_stage(cg.f, n));
        end_step(cg);
      });
}

void expect_bicgstab_step_by_step(int rhs) {
  using Bicgstab = StepByStep<double, BicgstabSteps>;
  using Fields = SolveFields<double>;
  expect_solution_step_by_step<BicgstabSteps>(
      rhs, Method::bicgstab,
      [](Bicgstab& all) {
        for (Word n = 0; n < 2; ++n) all.run(residual_stage(all.f, n, false));
        all.each([&](Word r, const Fields& f) {
          begin(all.steps[r], all.block.total(r).data());
          all.each_number([&](Word i) { first_direction(f, i); });
        });
      },
      [](Bicgstab& all) {
        all.apply(all.f.p, all.f.q);
        all.each([&](Word r, const Fields& f) {
          std::array<double, overlap_sum_count> overlap{};
          all.each_number([&](Word i) { add_overlap(f, i, overlap.data()); });
          decide_half(all.steps[r], overlap.data());
          if (all.steps[r].moves) all.each_number([&](Word i) { half_step(f, all.steps[r], i); });
        });
        all.apply(all.f.r, all.f.w);
        all.each([&](Word r, const Fields& f) {
          std::array<double, residual_sum_count> residual{};
          all.each_number([&](Word i) { add_residual(f, i, residual.data()); });
          decide(all.steps[r], residual.data(), all.history[r].data());
          if (all.steps[r].moves) all.each_number([&](Word i) { whole_step(f, all.steps[r], i); });
        });
      });
}

TEST(QcdKernel, SolvesStepByStep) {
  expect_cg_step_by_step(1);
  expect_bicgstab_step_by_step(1);
}

TEST(QcdKernel, SolvesTogetherStepByStep) {
  expect_cg_step_by_step(3);
  expect_bicgstab_step_by_step(3);
}

// The host checks the progress an iteration late, as it does on GPUs.
void expect_mixed_step_by_step(int rhs) {
  const auto solve = [&](const Lattice& lattice, const Gauge& gauge, const std::vector<double>& b,
                         std::vector<double>& x) {
    StepByStep<double, CgSteps> exact(lattice, gauge, b, rhs);
    StepByStep<float, CgSteps> search(lattice, gauge, {}, rhs);
    std::vector<CgSteps>& steps = search.steps;
    const auto end_step = [&](const auto& first, const auto& second) {
      search.each([&](Word r, const auto&) {
        auto sums = search.block.total(r);
        const auto more = exact.block.total(r);
        for (std::size_t i = 0; i < sum_count; ++i) sums[i] += more[i];
        first(steps[r], sums.data());
      });
      const Progress progress = progress_of(steps.data(), static_cast<Word>(rhs));
      search.each([&](Word r, const auto&) { second(steps[r], progress, search.history[r].data()); });
      search.update();
    };
    const auto update = [&] {
      exact.each([&](Word r, const SolveFields<double>& d) {
        const SolveFields<float> f = fields_of(search.f, r);
        exact.each_four([&](Word place, Word four) {
          take_in(f, d, place, four, four_at(f.x, f.ground.half(), place, four));
        });
      });
      for (Word n = 0; n < 2; ++n) exact.run(residual_stage(exact.f, n, false));
      exact.each([&](Word r, const SolveFields<double>& d) {
        exact.each_four([&](Word place, Word four) { hand_over(fields_of(search.f, r), d, place, four); });
      });
      for (Word n = 0; n < 2; ++n) search.run(normal_stage(search.f, n, false));
      end_step(renew, go_on);
    };
    const auto step = [&] {
      for (Word n = 0; n < 4; ++n) search.run(iteration_stage(search.f, n));
      end_step(propose, settle);
    };
    update();
    bool was_due = false;
    for (int extra = 0; extra < 3;) {
      step();
      if (std::exchange(was_due, steps[0].due)) {
        const std::vector<float> stood = search.memory.fields[1];
        update();
        was_due = false;
        EXPECT_EQ(std::count(search.memory.fields[1].begin(), search.memory.fields[1].end(), 0.0F),
                  static_cast<std::ptrdiff_t>(stood.size()));
      }
      if (search.over() && ++extra == 1) x = exact.memory.fields[1];
    }
    EXPECT_EQ(exact.memory.fields[1], x);
    return std::vector<Steps>(steps.begin(), steps.end());
  };
  expect_the_hosts_solution(rhs, solve, Method::cg, true);
}

TEST(QcdKernel, SolvesInMixedPrecisionStepByStep) {
  expect_mixed_step_by_step(1);
  expect_mixed_step_by_step(3);
}

TEST(QcdKernel, StepsEndWhereTheyShould) {
  CgSteps steps;
  steps.tolerance = 0.1;
  steps.most = 3;
  std::array<double, 3> history{};
  const double residual[sum_count] = {0, 0, 4, 4, 0};  // |r|^2 and |b|^2
  decide(steps, residual, history.data());
  EXPECT_EQ((std::array{steps.alpha, steps.beta, steps.r2, steps.bound}),
            (std::array{0.0, 0.0, 4.0, 0.1 * 0.1 * 4.0}));
  EXPECT_FALSE(steps.over);
  // |q|^2, s.w, |w|^2, |s|^2, |r|^2
  const double sums[sum_count] = {2, 1, 5, 1, 4};
  decide(steps, sums, history.data());
  EXPECT_EQ((std::array{steps.alpha, steps.beta, steps.r2}), (std::array{0.5, 1.25, 3.5}));
  EXPECT_EQ(history[0], 3.5 / 4);
  const double small[sum_count] = {2, 1, 5, 1, 0.53};
  decide(steps, small, history.data());
  EXPECT_TRUE(steps.over) << "it is below the tolerance";
  EXPECT_EQ(steps.alpha, 0.5);
  decide(steps, sums, history.data());
  EXPECT_EQ((std::array{steps.alpha, steps.beta}), (std::array{0.0, 0.0}));
  EXPECT_EQ(steps.iterations, 2);
  CgSteps lost;
  lost.most = 3;
  const double nothing[sum_count] = {0, 0, NAN, 4, 0};
  decide(lost, nothing, history.data());
  EXPECT_TRUE(lost.over) << "a residual that is no number will not become one";
}

// The first right-hand side ends after one iteration with a residual that is not a number. The other one goes
// on.
TEST(QcdKernel, ASolutionWithoutANumberIsNotConverged) {
  std::array<double, 6> residuals{NAN, 0, 0, 0.25, 0.04, 0.01};
  std::array<Steps, 2> last;
  last[0].b2 = last[1].b2 = 1;
  last[0].r2 = NAN;
  last[1].r2 = 0.01;
  last[0].iterations = 1;
  last[1].iterations = 3;
  const Solution solution = solution_of(last, {residuals.data(), 3}, 30, 0.2);
  EXPECT_FALSE(solution.converged);
  ASSERT_EQ(solution.history.size(), 3U);
  for (const double residual : solution.history) EXPECT_TRUE(std::isnan(residual)) << residual;
  residuals[0] = last[0].r2 = 0.0016;
  const Solution good = solution_of(last, {residuals.data(), 3}, 30, 0.2);
  EXPECT_TRUE(good.converged);
  EXPECT_DOUBLE_EQ(good.history.at(0), 0.5);
  EXPECT_DOUBLE_EQ(good.history.at(2), 0.1);
  EXPECT_EQ(good.iteration_us, std::vector<double>(3, 10));
}

TEST(QcdKernel, AnIterationIsTimedBetweenTwoSolvesThatDiffer) {
  EXPECT_DOUBLE_EQ(iteration_us({.us = 130, .iterations = 12}, {.us = 50, .iterations = 4}), 10);
  // Two solves of equal length differ by disturbances alone.
  EXPECT_DOUBLE_EQ(iteration_us({.us = 96, .iterations = 8}, {.us = 103, .iterations = 8}), 12);
  EXPECT_DOUBLE_EQ(iteration_us({.us = 99, .iterations = 9}, {.us = 103, .iterations = 8}), 11);
  EXPECT_DOUBLE_EQ(iteration_us({.us = 7, .iterations = 0}, {.us = 5, .iterations = 0}), 7);
}

TEST(QcdKernel, AnUpdateIsDueByTheLargestResidual) {
  std::array<CgSteps, 2> both;
  std::array<double, 4> history[2] = {};
  const auto each = [&](const auto& first, const auto& second) {
    for (const std::size_t r : {0U, 1U}) first(r);
    const Progress progress = progress_of(both.data(), 2);
    for (const std::size_t r : {0U, 1U}) second(r, progress);
  };
  const auto update = [&](double s2, double r2) {
    const double sums[sum_count] = {s2, 0, r2, 4, 0};
    each([&](std::size_t r) { renew(both[r], sums); },
         [&](std::size_t r, const Progress& progress) { go_on(both[r], progress, history[r].data()); });
  };
  // |q|^2 = 1, s.w = 0, |w|^2 = 4: alpha is |s|^2, and |r|^2 falls by its square.
  const auto iterate = [&](std::array<double, 2> s2, std::array<double, 2> r2) {
    each(
        [&](std::size_t r) {
          const double sums[sum_count] = {1, 0, 4, s2[r], r2[r]};
          propose(both[r], sums);
        },
        [&](std::size_t r, const Progress& progress) { settle(both[r], progress, history[r].data()); });
  };
  for (CgSteps& one : both) {
    one.tolerance = 0.01;
    one.update_at = 0.5;
    one.most = 4;
  }
  update(9, 4);
  EXPECT_EQ((std::array{both[0].r2, both[0].beta, both[0].highest}), (std::array{4.0, 0.0, 1.0}));
  EXPECT_FALSE(both[0].due || both[0].over || both[0].p_stays);
  EXPECT_EQ(both[0].updates, 0);
  // One residual has fallen by more than asked for, the other has not.
  iterate({1, 1}, {1.5, 4});
  EXPECT_FALSE(both[0].due || both[0].p_stays);
  EXPECT_EQ((std::array{both[0].r2, both[1].r2, both[1].alpha}), (std::array{0.5, 3.0, 1.0}));
  iterate({1.5, 1.5}, {0.5 + 2.25, 3});
  EXPECT_TRUE(both[0].due && both[1].due && both[0].p_stays);
  EXPECT_EQ(both[1].alpha, 1.5) << "the step is made";
  EXPECT_EQ(both[1].iterations, 1) << "but it counts with the update";
  const std::array<CgSteps, 2> before = both;
  iterate({7, 7}, {7, 7});
  EXPECT_EQ((std::array{both[0].alpha, both[0].beta, both[0].s2, both[0].r2}),
            (std::array{0.0, 0.0, before[0].s2, before[0].r2}))
      << "until then nothing moves";
  EXPECT_TRUE(both[0].due && both[0].p_stays);
  update(3, 0.0003);
  EXPECT_EQ(both[1].beta, 3 / 1.5);
  EXPECT_EQ((std::pair{both[1].iterations, both[1].updates}), (std::pair{2, 1}));
  EXPECT_EQ((std::array{both[1].alpha, both[1].highest, history[1][1]}),
            (std::array{0.0, 0.000075, 0.000075}));
  EXPECT_TRUE(both[0].over && both[1].over && !both[0].due && !both[0].p_stays);
  iterate({7, 7}, {7, 7});
  EXPECT_TRUE(both[0].p_stays && both[0].over && both[0].iterations == 2) << "it is over";
}

TEST(QcdStart, IsChosenByTheSizeOfAHop) {
  // 8^4 on one GPU; 16^4 on one, two and four; 32^4 on two. Also in mixed precision.
  const InverterOptions cg, mixed{.precision = Precision::mixed}, bicgstab{.method = Method::bicgstab};
  EXPECT_EQ(chosen_start(cg, 4'096, false, true), Start::kernel);
  EXPECT_EQ(chosen_start(cg, 65'536, false, true), Start::graph);
  EXPECT_EQ(chosen_start(cg, 32'768, true, true), Start::graph);
  EXPECT_EQ(chosen_start(cg, 16'384, true, true), Start::kernel);
  EXPECT_EQ(chosen_start(cg, 524'288, true, true), Start::graph);
  EXPECT_EQ(chosen_start(mixed, 4'096, false, true), Start::kernel);
  EXPECT_EQ(chosen_start(mixed, 65'536, false, true), Start::graph);
  EXPECT_EQ(chosen_start(mixed, 32'768, true, true), Start::kernel);
  EXPECT_EQ(chosen_start(mixed, 524'288, true, true), Start::graph);
  EXPECT_EQ(chosen_start(bicgstab, 4'096, true, true), Start::graph);
  EXPECT_EQ(chosen_start(cg, 4'096, true, false), Start::graph);
  EXPECT_EQ(chosen_start(mixed, 4'096, true, false), Start::graph);
  EXPECT_EQ(chosen_start({.wilson = {.rhs = 2}}, 4'096, false, true), Start::graph);
  for (const Start one : {Start::automatic, Start::host, Start::graph, Start::kernel})
    EXPECT_EQ(start_named(name_of(one)), one);
  EXPECT_THROW(start_named("engine"), Error);
}

TEST(QcdStart, RefusesWhatIsNotDoneOnGpus) {
  InverterOptions options;
  check_on_gpus(options, Start::automatic);
  options.precision = Precision::mixed;
  for (const Start start : {Start::host, Start::graph, Start::kernel}) check_on_gpus(options, start);
  options.method = Method::bicgstab;
  options.precision = Precision::double_only;
  EXPECT_THROW(check_on_gpus(options, Start::kernel), Error);
  check_on_gpus({.wilson = {.rhs = 64}}, Start::graph);
  EXPECT_THROW(check_on_gpus({.wilson = {.rhs = 65}}, Start::graph), Error);
  EXPECT_THROW(check_on_gpus({.wilson = {.rhs = 2}}, Start::kernel), Error);
  EXPECT_THROW(check_on_gpus({.wilson = {.even_odd = false}}, Start::kernel), Error);
  EXPECT_THROW(check_on_gpus({.staggered = StaggeredOptions{}}, Start::graph), Error);
}

// A neighbour never sends. All threads give up within the time limit and report for which rank they waited.
TEST(QcdKernel, GivesUpOnANeighbourThatDoesNotCome) {
  on_grid({1, 1, 1, 1}, {4, 4, 4, 4}, [&](World&, const Lattice&, Gauge& gauge) {
    const GroundTables<double> tables(gauge, Storage::two_rows, true);
    Ground<double> ground = ground_of(tables);
    ground.faces[0][3] = {.begin = 0, .to = 0, .count = 32, .direction = 3};
    ChunkRoom<double> chunk_room;
    const auto expect_it_gives_up = [&](const auto& ghosts, const std::vector<Word>& flags) {
      SiteThread thread{.warp = 3, .here = ~7};
      ghosts.ask(chunk_room, ground, {.to_odd = true}, thread.here, 0, thread);
      ghosts.bring(chunk_room, ground, {.to_odd = true}, thread);
      EXPECT_FALSE(thread.good);
      EXPECT_EQ(flags[1], 1U);
      EXPECT_EQ(flags[16 + 5], 1U) << "it does not say for whom it waited";
    };
    std::vector<Word> flags;
    device::WaitLimits limits = limits_of(flags);
    limits.limit_ns = 50'000'000;
    constexpr Word buffer = 32 * DeviceProducedArrival<Half<double>>::packets_each;
    std::vector<device::Packet> packets(std::size_t{2} * buffer);
    ProducedHalves<double> produced{.steps = {.limits = limits}};
    produced.from[3] = {{.packets = packets.data(), .elements = 32, .buffer = buffer, .link = 5}};
    expect_it_gives_up(ProducedGhosts<double>{produced, 1}, flags);
    limits_of(flags);
    const std::vector<double> halves(std::size_t{64} * half_reals);
    Word raised = 0, exchanges[2] = {};
    Crossing<double> crossing{.ghosts = halves.data(), .exchanges = exchanges, .limits = limits};
    crossing.expected[3] = {&raised, 5};
    expect_it_gives_up(WindowGhosts<double>{crossing, 1}, flags);
  });
}

}  // namespace
}  // namespace tca::qcd
