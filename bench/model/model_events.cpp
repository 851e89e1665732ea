// Measures how fast the model runs: events of the bare queues, hops of packets on a ring and on a large
// torus, an exchange of halos, and the set-up of a torus of 32,768 nodes. Uses Google Benchmark, whose
// `items_per_second` are events or hops.
#include <benchmark/benchmark.h>

#include "model/des/heap.hpp"
#include "model/des/random.hpp"
#include "model/des/wheel.hpp"
#include "model/machine/machine.hpp"
#include "model/nic/ape.hpp"

namespace {

using namespace tca;
using namespace tca::net;

// The hold model: each event that is taken puts in another one a random span later.
template <class Queue>
void hold(benchmark::State& state) {
  Queue queue;
  des::Random random(1, 0);
  const auto span = [&] { return static_cast<des::Time>(random.below(400'000)); };
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({span(), static_cast<std::uint32_t>(i), 0});
  des::Event event{};
  for (auto _ : state) {
    queue.pop(des::never, event);
    queue.push({event.time + span(), event.object, event.sequence + 1});
  }
  state.SetItemsProcessed(state.iterations());
}

// Describes nodes of a memory and a router each, with numbers like those of PCIe.
Description routers(Topology topology) {
  using des::from_ns;
  Description machine{.name = "routers", .nodes = topology.nodes()};
  machine.links = {{.name = "cable",
                    .bytes_per_s = 4e9,
                    .payload_bytes = 256,
                    .header_bytes = 24,
                    .latency = from_ns(120),
                    .credits = 4},
                   {.name = "slot",
                    .bytes_per_s = 4e9,
                    .payload_bytes = 256,
                    .header_bytes = 24,
                    .latency = from_ns(100)}};
  const MemoryPort memory{.read_latency = from_ns(300),
                          .read_bytes_per_s = 4e9,
                          .write_bytes_per_s = 4e9,
                          .write_latency = from_ns(100)};
  machine.node.units = {{.name = "gpu", .role = Role::memory, .memory = memory},
                        {.name = "nic", .role = Role::nic, .router = {.hop = from_ns(60)}}};
  machine.node.wires = {{0, 1, 1, 1}};
  machine.interconnects = {{.name = "net", .nic = 1, .link = 0, .topology = std::move(topology)}};
  return machine;
}

// Returns a wheel with buckets of a few dozen events, so that what they need can be fetched ahead, and with
// enough buckets for a few microseconds.
des::Simulator::Options wheel_for(std::uint32_t nodes) {
  if (nodes < 1000) return {};
  return {.bucket_bits = 8, .bucket_count_bits = 14};
}

des::Task talk(Network& network, std::uint32_t node, std::uint64_t messages, std::uint32_t window) {
  des::Random random(7, node);
  des::Counter arrived(network.simulator(), {"its own packets of node", node});
  for (std::uint64_t i = 1; i <= messages; ++i) {
    const auto other = static_cast<std::uint32_t>(random.below(network.nodes()));
    des::Task transfer = network.transfer({.from = {node, 0},
                                           .to = {other, 0},
                                           .rows = {.bytes = 256, .count = window},
                                           .packet_bytes = 256,
                                           .request_bytes = 256,
                                           .window = window,
                                           .arrived = &arrived});
    co_await transfer;
    co_await arrived.reached(i);
  }
}

// Every node sends `window` packets to one random node after the other.
void hops(benchmark::State& state, const Topology& topology, std::uint64_t messages, std::uint32_t window) {
  double count = 0, most = 0;
  for (auto _ : state) {
    state.PauseTiming();
    des::Simulator simulator(wheel_for(topology.nodes()));
    Network network(simulator, routers(topology));
    for (std::uint32_t node = 0; node < network.nodes(); ++node) {
      simulator.spawn(talk(network, node, messages, window), {"talker", node});
    }
    state.ResumeTiming();
    while (simulator.run_until(simulator.now() + des::microsecond)) {
      most = std::max(most, static_cast<double>(network.traffic().packets()));
    }
    count += static_cast<double>(network.traffic().hops());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(count));
  state.counters["in_flight"] = most;
}

// One exchange of halos on a torus of 32,768 nodes: each node puts a face to each of its six neighbours.
template <class Put>
void exchange(const Put& put) {
  for (std::uint32_t node = 0; node < 32768; ++node) {
    for (std::uint32_t dimension = 0; dimension < 3; ++dimension) {
      const std::uint32_t stride = 1u << 5 * dimension, at = node / stride % 32;
      put(node, node - at * stride + (at + 1) % 32 * stride);
      put(node, node - at * stride + (at + 31) % 32 * stride);
    }
  }
}

// The cards of machines/torus-32k.toml do the puts.
void halo(benchmark::State& state, Fidelity fidelity) {
  const Machine machine = read_machine("torus-32k");
  for (auto _ : state) {
    des::Simulator simulator(wheel_for(32768));
    Network network(simulator, machine.network, fidelity);
    Ape cards(network, network.interconnect("torus"), find_unit(machine.network.node, "host"));
    const std::uint32_t gpu = find_unit(machine.network.node, "gpu0");
    des::Counter arrived(simulator, {"faces"});
    exchange([&](std::uint32_t from, std::uint32_t to) {
      cards.put({{from, gpu}, {to, gpu}, static_cast<std::uint64_t>(state.range(0)), &arrived});
    });
    simulator.run();
    state.counters["us"] = des::to_us(simulator.now());
    state.counters["events"] = static_cast<double>(simulator.events());
    state.counters["bytes_per_node"] = static_cast<double>(network.bytes()) / 32768;
  }
}

void set_up(benchmark::State& state) {
  double bytes = 0;
  for (auto _ : state) {
    des::Simulator simulator;
    Network network(simulator, routers({.kind = TopologyKind::torus, .size = {32, 32, 32}}));
    bytes = static_cast<double>(network.bytes());
  }
  state.counters["bytes_per_node"] = bytes / 32768;
}

}  // namespace

BENCHMARK(hold<des::Wheel>)->Name("queue/wheel")->Arg(256)->Arg(16384)->Arg(1 << 20);
BENCHMARK(hold<des::Heap>)->Name("queue/heap")->Arg(256)->Arg(16384)->Arg(1 << 20);
BENCHMARK_CAPTURE(hops, ring16, Topology{TopologyKind::ring, {16}, {}}, 2000, 8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hops, torus8, Topology{TopologyKind::torus, {8, 8, 8}, {}}, 100, 6)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hops, torus32, Topology{TopologyKind::torus, {32, 32, 32}, {}}, 2, 4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(set_up)->Name("set_up/torus32")->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(halo, train, Fidelity::train)->Arg(16384)->Arg(32768)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(halo, tlp, Fidelity::tlp)->Arg(16384)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
