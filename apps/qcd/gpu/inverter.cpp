// Owns the fields of the solves on the GPU, and puts the work on its stream.
#include "qcd/gpu/inverter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "qcd/gpu/steps.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

void require_one_sub_cluster(const World& world) {
  if (apps::is_one_sub_cluster(world)) return;
  throw Error(Errc::invalid_argument,
              "the kernel that runs the whole solve wants every rank in one sub-cluster; across sub-clusters "
              "the host or a graph starts it");
}

}  // namespace

struct GpuInverter::Device {
  Device(World& of, const Gauge& gauge, const InverterOptions& asked, Start who)
      : world(of),
        options(asked),
        wanted(who),
        start(who == Start::automatic
                  ? chosen_start(asked, gauge.lattice().volume(), gauge.lattice().slots() > 0,
                                 apps::is_one_sub_cluster(of))
                  : who),
        in_kernel(start == Start::kernel),
        sums(of, asked.wilson.rhs, asked.wilson.peer, stream),
        exact(of, gauge, asked.wilson, "wilson", in_kernel && asked.precision != Precision::single_only,
              stream),
        source_even(exact.reals()),
        source_odd(source_even.size()),
        odd_x(source_even.size()),
        odd_r(source_even.size()),
        passage(source_even.size()),
        barrier(1),
        outcome(1),
        most(std::max(1, asked.solve.max_iterations)),
        residuals(static_cast<std::size_t>(most) * exact.rhs()),
        history{residuals.data(), static_cast<std::size_t>(most)} {
    if (asked.precision != Precision::double_only)
      rough.emplace(of, gauge, asked.wilson, "wilson single", in_kernel, stream);
    if (in_kernel) plan();
    if (rough) {
      rough_steps.emplace(of, *rough,
                          mixed() ? gpu_cg_mixed(*rough, exact, sums, stream, history) : method_of(*rough),
                          sums, stream, history);
    } else {
      exact_steps.emplace(of, exact, method_of(exact), sums, stream, history);
    }
    if (start == Start::graph) rough ? rough_steps->make_graphs() : exact_steps->make_graphs();
    world.barrier();
  }

  template <class T>
  std::unique_ptr<GpuMethod<T>> method_of(GpuWilson<T>& wilson) const {
    return options.method == Method::cg ? gpu_cg(wilson, sums, stream, history)
                                        : gpu_bicgstab(wilson, sums, stream, history);
  }

  bool single() const { return options.precision == Precision::single_only; }
  bool mixed() const { return options.precision == Precision::mixed; }

  void plan() {
    call = {.memory = {barrier.data(), sums.partials(), sums.totals()},
            .history = history.all,
            .outcome = outcome.data()};
    const auto ranks = static_cast<unsigned>(world.ranks_on_device());
    const unsigned chunks = exact.fields().ground.chunks();
    const bool two_rows = exact.two_rows();
    cuda_ok(single() || mixed() ? (two_rows ? plan_solve<float, 12>(mixed(), chunks, ranks, call)
                                            : plan_solve<float, 18>(mixed(), chunks, ranks, call))
                                : (two_rows ? plan_solve<double, 12>(false, chunks, ranks, call)
                                            : plan_solve<double, 18>(false, chunks, ranks, call)),
            "asking how many blocks run at once");
    if (call.blocks == 0)
      throw Error(Errc::invalid_argument,
                  fmt::format("{} ranks share a GPU, which is too many for a solve in one kernel", ranks));
  }

  Solution solve_in_kernel(const SolveOptions& aim) {
    call.aim = {aim.tolerance, aim.max_iterations, aim.update_at};
    const auto begin = Clock::now();
    const bool two_rows = exact.two_rows();
    const DeviceTeam& team = sums.team()->device();
    if (mixed()) {
      cuda_ok(two_rows ? launch_solve_mixed<12>(rough->fields(), exact.fields(), team, call, stream.get())
                       : launch_solve_mixed<18>(rough->fields(), exact.fields(), team, call, stream.get()),
              "starting a solve");
    } else if (single()) {
      cuda_ok(two_rows ? launch_solve<float, 12>(rough->fields(), team, call, stream.get())
                       : launch_solve<float, 18>(rough->fields(), team, call, stream.get()),
              "starting a solve");
    } else {
      cuda_ok(two_rows ? launch_solve<double, 12>(exact.fields(), team, call, stream.get())
                       : launch_solve<double, 18>(exact.fields(), team, call, stream.get()),
              "starting a solve");
    }
    stream.synchronize("solving");
    last = {us_since(begin), outcome.data()->iterations};
    world.check();
    const Outcome& now = *outcome.data();
    if (!now.good)
      throw Error(Errc::device_failed, "the solver's kernel has given up waiting for another rank");
    Steps steps;
    steps.b2 = now.b2;
    steps.r2 = now.r2;
    steps.iterations = now.iterations;
    steps.updates = now.updates;
    return solution_of({&steps, 1}, history, last.us, aim.tolerance);
  }

  // Continues from the x on the GPU, in the precision that is asked for.
  Solution attempt(const SolveOptions& aim) {
    if (mixed()) {
      clear(rough->fields().x);
    } else if (single()) {
      narrow(exact.fields().b, rough->fields().b);
      narrow(exact.fields().x, rough->fields().x);
    }
    Solution solution = in_kernel ? solve_in_kernel(aim)
                        : rough   ? rough_steps->solve(aim, last)
                                  : exact_steps->solve(aim, last);
    // The time of an iteration is to include the updates and the idle iteration for each, so those are not
    // counted as iterations.
    if (mixed()) last.iterations = solution.iterations;
    world.check();
    if (single()) widen(rough->fields().x, exact.fields().x);
    return solution;
  }

  template <class T>
  void clear(T* field) {
    cuda_ok(cudaMemsetAsync(field, 0, exact.reals() * sizeof(T), stream.get()), "clearing a field");
  }

  Word sites() const { return static_cast<Word>(exact.half()); }
  Word rhs() const { return static_cast<Word>(exact.rhs()); }

  void narrow(const double* from, float* to) {
    cuda_ok(launch_narrow(from, to, sites(), rhs(), stream.get()), "taking a field to single precision");
  }
  void widen(const float* from, double* to) {
    cuda_ok(launch_widen(from, to, sites(), rhs(), stream.get()), "taking a field to double precision");
  }

  // Copy the even or the odd sites of a field between the GPU and the host, where they are at `from` or `to`.
  void load(const double* from, double* field) {
    stream.copy(passage.data(), from, passage.size() * sizeof(double), cudaMemcpyHostToDevice);
    cuda_ok(launch_to_units(passage.data(), field, sites(), rhs(), stream.get()), "laying out a field");
  }
  void unload(const double* field, double* to) {
    cuda_ok(launch_from_units(field, passage.data(), sites(), rhs(), stream.get()), "laying out a field");
    stream.copy(to, passage.data(), passage.size() * sizeof(double), cudaMemcpyDeviceToHost);
  }

  // out = plus + factor H in, minus `minus` if that is given.
  void hop(const Stage<double>& stage) {
    exact.project(stage.in, !stage.to_odd, stage.dagger);
    exact.run(stage, sums.partials());
  }

  void prepare(const Field<double>& source) {
    load(source.data(), source_even.data());
    load(source.data() + exact.reals(), source_odd.data());
    hop({.in = source_odd.data(),
         .out = exact.fields().b,
         .plus = source_even.data(),
         .factor = options.wilson.kappa});
    clear(exact.fields().x);
  }

  // Returns |source - D x| / |source| of the whole equation. Computes the odd half of x from the even one.
  Numbers finish() {
    const double kappa = options.wilson.kappa;
    const double* const x = exact.fields().x;
    hop({.in = x, .out = odd_x.data(), .plus = source_odd.data(), .factor = kappa, .to_odd = true});
    const auto part = [&](const double* in, const double* plus, const double* minus, bool to_odd) {
      sums.clear();
      hop({.in = in,
           .out = odd_r.data(),
           .plus = plus,
           .minus = minus,
           .dot = plus,
           .factor = kappa,
           .tally = Tally::all,
           .to_odd = to_odd});
      // The odd sites may have another number of shares. Those that were not written are zero.
      sums.add_up(2 * most_hop_blocks);
      return sums.read();
    };
    const std::vector<double> even = part(odd_x.data(), source_even.data(), x, false);
    const std::vector<double> odd = part(x, source_odd.data(), odd_x.data(), true);
    world.check();
    Numbers residuals;
    for (std::size_t at = 0; at < exact.rhs() * std::size_t{sum_count}; at += sum_count) {
      const double r2 = even[at + 2] + odd[at + 2], b2 = even[at + 3] + odd[at + 3];
      residuals.push_back(std::sqrt(b2 > 0 ? r2 / b2 : r2));
    }
    return residuals;
  }

  void solution(Field<double>& x) {
    x.resize(2 * exact.reals());
    unload(exact.fields().x, x.data());
    unload(odd_x.data(), x.data() + exact.reals());
  }

  World& world;
  InverterOptions options;
  Start wanted, start;
  bool in_kernel;
  OwnStream stream;
  GpuSums sums;
  GpuWilson<double> exact;
  std::optional<GpuWilson<float>> rough;
  DeviceArray<double> source_even, source_odd, odd_x, odd_r;
  DeviceArray<double> passage;  // for a field in the host's order
  DeviceArray<std::uint64_t> barrier;
  PinnedArray<Outcome> outcome;
  int most;
  PinnedArray<double> residuals;
  History history;
  std::optional<GpuSteps<double>> exact_steps;
  std::optional<GpuSteps<float>> rough_steps;
  SolveCall call;
  Timed last;
};

GpuInverter::GpuInverter(World& world, const Gauge& gauge, const InverterOptions& options, Start start) {
  check_on_gpus(options, start);
  if (start == Start::kernel) require_one_sub_cluster(world);
  if (options.wilson.peer != nullptr && start != Start::host && start != Start::graph)
    throw Error(Errc::invalid_argument, "a peer's messages are started by the host or by a graph");
  device_ = std::make_unique<Device>(world, gauge, options, start);
}

GpuInverter::~GpuInverter() = default;

Inversion GpuInverter::invert(const Field<double>& source, Field<double>& x) {
  Device& d = *device_;
  const auto begin = Clock::now();
  d.prepare(source);
  Inversion inversion = attempt_until_true(
      d.options.solve, [&](const SolveOptions& aim) { return d.attempt(aim); }, [&] { return d.finish(); });
  d.solution(x);
  inversion.seconds = us_since(begin) * 1e-6;
  inversion.flops = 2.0 * inversion.solution.iterations * flops() * d.options.wilson.rhs;
  return inversion;
}

Timed GpuInverter::timed(const Field<double>& source, double tolerance) {
  device_->prepare(source);
  SolveOptions aim = device_->options.solve;
  aim.tolerance = tolerance;
  device_->attempt(aim);
  return device_->last;
}

void GpuInverter::apply(const Field<double>& in, Field<double>& out, bool dagger) {
  Device& d = *device_;
  d.load(in.data(), d.exact.fields().p);
  if (d.rough) {
    d.narrow(d.exact.fields().p, d.rough->fields().p);
    d.rough_steps->apply(dagger);
    d.widen(d.rough->fields().q, d.exact.fields().q);
  } else {
    d.exact_steps->apply(dagger);
  }
  d.world.check();
  out.resize(d.exact.reals());
  d.unload(d.exact.fields().q, out.data());
}

double GpuInverter::applications_us(const Field<double>& source, int count) {
  Device& d = *device_;
  d.load(source.data(), d.exact.fields().p);
  if (d.rough) d.narrow(d.exact.fields().p, d.rough->fields().p);
  const double us = d.rough ? d.rough_steps->applications_us(count) : d.exact_steps->applications_us(count);
  d.world.check();
  return us;
}

Start GpuInverter::start() const { return device_->start; }

std::string GpuInverter::reason() const {
  const Device& d = *device_;
  if (d.wanted != Start::automatic) return "asked for";
  if (d.options.method == Method::bicgstab) return "BiCGStab goes step by step";
  if (d.options.wilson.rhs > 1) return "several right-hand sides in step go step by step";
  if (d.sums.team() == nullptr) return "no kernel reaches all sub-clusters";
  return fmt::format("of {} sites a rank, {}", d.exact.lattice().volume(),
                     d.start == Start::kernel
                         ? "so few that launches cost more than the kernel's want of registers"
                         : "so many that the kernel's want of registers costs more than launches");
}

std::int64_t GpuInverter::bytes() const {
  return device_->rough ? device_->rough->bytes() : device_->exact.bytes();
}

double GpuInverter::flops() const {
  const auto volume = static_cast<double>(device_->exact.lattice().global_volume());
  return volume * wilson_flops + volume / 2 * 2 * spinor_reals;
}

std::string GpuInverter::explain() const {
  return device_->rough ? device_->rough->explain() : device_->exact.explain();
}

}  // namespace tca::qcd
