// What a solver has on its GPU.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pic/fields.hpp"
#include "pic/gpu/exchange.hpp"
#include "pic/gpu/kernels.hpp"
#include "pic/gpu/rows.hpp"
#include "shared/gpu_call.hpp"

namespace tca::pic {

// After so many steps particles are put into the order of their cells. One kernel takes no more.
inline constexpr std::int64_t steps_between_gpu_sorts = 25;

// Particles, a quarter more than there are at first and what may come between two sorts, and what is said of them.
struct GpuParticles {
  GpuParticles(std::size_t first, const Domain& domain, std::int64_t room)
      : capacity(first + first / 4 + static_cast<std::size_t>(room) * domain.neighbours().size() * 4 + 1024),
        rows(capacity),
        spare(capacity),
        begin(static_cast<std::size_t>(domain.elements()) + 1),
        late(capacity) {}

  std::size_t capacity;
  GpuRows rows, spare;
  apps::DeviceArray<unsigned> begin, late, lates{1}, used{1}, leaving{most_neighbours};
  apps::DeviceArray<unsigned long long> absorbed{1};
  apps::PinnedArray<unsigned> failed{1}, more{1};
};

// What the host has of a rank.
template <class Number>
struct OnHost {
  const Deck& deck;
  const Domain& domain;
  const Fields& fields;
  const Particles& particles;
  std::int64_t room;  // of a queue
  const std::vector<double>&sine, &cosine;
  const Window<Vec<Number>>& flow;  // these two in the GPU's memory
  const Window<Number>& charge;
  const std::vector<Number>& ions;
  std::array<std::int64_t, 3> unchecked;
};

// What kernels look up; see Antenna and Gauss.
template <class Number>
struct GpuTables {
  explicit GpuTables(const OnHost<Number>& host)
      : directions(std::vector<std::uint8_t>(host.domain.directions(),
                                             host.domain.directions() + host.domain.elements())),
        sine(host.sine),
        cosine(host.cosine),
        emitted(emitted_by(host)),
        profile(profile_of(host)),
        ions(host.ions) {}

  static std::vector<double> emitted_by(const OnHost<Number>& host) {
    std::vector<double> all;
    for (std::int64_t step = 0; host.deck.laser.a0 != 0 && step < host.deck.steps; ++step)
      all.push_back(host.fields.emitted(static_cast<double>(step) * host.deck.dt()));
    return all;
  }
  static std::vector<double> profile_of(const OnHost<Number>& host) {
    std::vector<double> all;
    for (std::int64_t z = 0; host.deck.laser.a0 != 0 && z < host.domain.cells(2); ++z)
      for (std::int64_t y = 0; y < host.domain.cells(1); ++y) all.push_back(host.fields.profile(y, z));
    return all;
  }

  apps::DeviceArray<std::uint8_t> directions;
  apps::DeviceArray<double> sine, cosine, emitted, profile;
  apps::DeviceArray<Number> ions;
};

template <class Number>
struct GpuState {
  GpuState(World& on_world, const OnHost<Number>& host, const apps::Channels& channels)
      : world(on_world),
        tables(host),
        e(on_world.window<Vec<double>>(host.domain.elements(), "E on the GPU")),
        b(static_cast<std::size_t>(host.domain.elements())),
        particles(host.particles.size(), host.domain, host.room),
        what{host.domain, e, host.flow, host.room},
        exchange(on_world, what, channels, stream.get()) {
    stream.copy(e.data(), host.fields.e(), e.size() * sizeof(Vec<double>), cudaMemcpyHostToDevice);
    particles.rows.write(host.particles, stream);
    particles.used.write({static_cast<unsigned>(host.particles.size())}, stream);
    describe_fields(host);
    describe_particles(host);
  }
  // Nothing runs any more when the memory goes.
  ~GpuState() { cudaStreamSynchronize(stream.get()); }
  GpuState(const GpuState&) = delete;
  GpuState& operator=(const GpuState&) = delete;

  void describe_fields(const OnHost<Number>& host) {
    const Domain& domain = host.domain;
    on.lattice = host.fields.lattice();
    on.medium = {.e = e.data(),
                 .b = b.data(),
                 .flow = host.flow.data(),
                 .half = host.deck.dt() / 2,
                 .ratio = on.lattice.ratio,
                 .step = on.lattice.step,
                 .directions = tables.directions.data()};
    on.e = e.data();
    on.b = b.data();
    on.elements = domain.elements();
    on.origin = domain.index(0, 0, 0);
    on.own = own_cells(domain);
    on.dims = domain.dims();
    on.wall_below = domain.wall_below();
    on.wall_above = domain.wall_above();
    on.antenna = {tables.emitted.data(), tables.profile.data(),
                  host.deck.laser.a0 != 0 ? Fields::antenna - domain.first(0) : -1};
    on.gauss = {
        host.charge.data(), tables.ions.data(), {host.unchecked[0], host.unchecked[1], host.unchecked[2]}};
    on.sine = tables.sine.data();
    on.cosine = tables.cosine.data();
    on.is_vacuum = host.deck.per_side == 0;
    on.step = step.data();
    on.sums = sums.data();
  }

  void describe_particles(const OnHost<Number>& host) {
    on.rows = particles.rows.rows();
    on.spare = particles.spare.rows();
    on.used = particles.used.data();
    on.capacity = static_cast<unsigned>(particles.capacity);
    on.begin = particles.begin.data();
    on.failed = particles.failed.data();
    for (std::uint8_t direction = 0; direction < 27; ++direction)
      on.ways[direction] = host.domain.way(direction);
    on.out = exchange.queues().out.data();
    on.in = exchange.queues().in.data();
    on.leaving = particles.leaving.data();
    on.room = static_cast<unsigned>(host.room);
    on.neighbours = static_cast<int>(host.domain.neighbours().size());
    on.late = particles.late.data();
    on.lates = particles.lates.data();
    on.more = particles.more.data();
    on.absorbed = particles.absorbed.data();
  }

  World& world;
  apps::OwnStream stream;
  apps::SideStream side;
  GpuTables<Number> tables;
  Window<Vec<double>> e;
  apps::DeviceArray<Vec<double>> b;
  GpuParticles particles;
  apps::DeviceArray<unsigned long long> step{1};
  apps::DeviceArray<Sums> sums{steps_between_gpu_sorts};
  Exchanged<Number> what;
  StreamExchange<Number> exchange;
  OnGpu<Number> on{};
};

}  // namespace tca::pic
