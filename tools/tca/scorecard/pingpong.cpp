// Ping-pongs between two ranks, as in the benchmarks of HA-PACS/TCA.
#include <algorithm>

#include "base/fail.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

constexpr std::uint64_t rounds = 3;  // all rounds but the first are alike

double message_bytes(const RunSettings& settings) {
  const std::int64_t bytes = settings.n > 0 ? settings.n * settings.n * 8 : settings.bytes;
  return static_cast<double>(bytes);
}

double result(const RunSettings& settings, double us) {
  return settings.rate ? message_bytes(settings) / us * 1e-3 : us;
}

// What is sent between the ranks: runs of bytes, and whether kernels pack them before and unpack them after.
struct Payload {
  net::Rows rows;
  double packed_bytes = 0;  // moved by each of the kernels; 0: there are none
};

Payload payload_of(const RunSettings& settings, bool chains_stride) {
  if (settings.n == 0) return {.rows = {.bytes = static_cast<std::uint64_t>(settings.bytes)}};
  const auto n = static_cast<std::uint64_t>(settings.n);
  const double plane = static_cast<double>(n * n * 8);
  if (settings.plane == "jk") return {.rows = {.bytes = n * n * 8}};
  // A stride is packed on both sides, by kernels that move a sector of 32 bytes for each element.
  if (settings.plane == "ij") return {.rows = {.bytes = n * n * 8}, .packed_bytes = (32 / 8 + 1) * plane};
  if (settings.plane != "ik")
    base::fail(Errc::invalid_argument,
               "a face is of the plane jk (block), ik (block-stride) or ij (stride), not {}", settings.plane);
  if (chains_stride) return {.rows = {.bytes = n * 8, .count = n}};
  return {.rows = {.bytes = n * n * 8}, .packed_bytes = 2 * plane};
}

des::Task pack(Lab& lab, const Payload& payload) {
  if (payload.packed_bytes == 0) co_return;
  des::Task kernel = lab.run_kernel(payload.packed_bytes, 0);
  co_await kernel;
}

// One side of a ping-pong by PEACH2.
struct DirectSide {
  std::uint32_t node = 0;
  net::DmaChain chain;
  des::Counter arrived;  // signals from the other side
  des::Counter sent;     // own notifications
  bool waits_for_sent = false;
};

des::Task send(Lab& lab, DirectSide& side, const Payload& payload) {
  des::Task packed = pack(lab, payload);
  co_await packed;
  des::Task started = lab.ring(side.node, 0, side.chain);
  co_await started;
}

des::Task play(Lab& lab, DirectSide& own, const Payload& payload, bool begins) {
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (begins) {
      des::Task first = send(lab, own, payload);
      co_await first;
      if (own.waits_for_sent) {
        des::Task left = lab.watch(own.sent, round);
        co_await left;
      }
    }
    des::Task came = lab.watch(own.arrived, round);
    co_await came;
    des::Task unpacked = pack(lab, payload);
    co_await unpacked;
    if (begins) continue;
    des::Task answer = send(lab, own, payload);
    co_await answer;
    if (own.waits_for_sent) {
      des::Task left = lab.watch(own.sent, round);
      co_await left;
    }
  }
}

double direct_one_way(const net::Machine& machine, const RunSettings& settings, std::uint32_t other) {
  Lab lab(machine, settings);
  const Payload payload = payload_of(settings, true);
  des::Simulator& simulator = lab.simulator();
  DirectSide here{0,
                  {},
                  {simulator, {"an answer for rank", 0}},
                  {simulator, {"the flag of rank", 0}},
                  settings.self_notify};
  DirectSide there{other,
                   {},
                   {simulator, {"a message for rank", 1}},
                   {simulator, {"the flag of rank", 1}},
                   settings.self_notify};
  const bool on_host = settings.memory == "host";
  const net::Endpoint a = on_host ? lab.host(0) : lab.gpu(0);
  const net::Endpoint b = on_host ? lab.host(other) : lab.gpu(other);
  here.chain.descriptors = {{.from = a,
                             .to = b,
                             .rows = payload.rows,
                             .arrived = &there.arrived,
                             .sent = settings.self_notify ? &here.sent : nullptr}};
  there.chain.descriptors = {{.from = b,
                              .to = a,
                              .rows = payload.rows,
                              .arrived = &here.arrived,
                              .sent = settings.self_notify ? &there.sent : nullptr}};
  simulator.spawn(play(lab, here, payload, true), {"rank", 0});
  simulator.spawn(play(lab, there, payload, false), {"rank", 1});
  return lab.run() / (2 * static_cast<double>(rounds));
}

des::Task play_mpi(Lab& lab, const Payload& payload, std::uint32_t own, std::uint32_t other) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const bool sends : {own == 0, own != 0}) {
      if (sends) {
        des::Task packed = pack(lab, payload);
        co_await packed;
        des::Task sent = lab.mpi().send(own, other, payload.rows.total());
        co_await sent;
      } else {
        des::Task received = lab.mpi().receive(other, own, payload.rows.total());
        co_await received;
        des::Task unpacked = pack(lab, payload);
        co_await unpacked;
      }
    }
  }
}

double mpi_one_way(const net::Machine& machine, const RunSettings& settings) {
  Lab lab(machine, settings);
  const Payload payload = payload_of(settings, false);
  lab.simulator().spawn(play_mpi(lab, payload, 0, 1), {"rank", 0});
  lab.simulator().spawn(play_mpi(lab, payload, 1, 0), {"rank", 1});
  return lab.run() / (2 * static_cast<double>(rounds));
}

// The node after next in node 0's ring, two hops away.
constexpr std::uint32_t two_hops_away = 4;

des::Task put_inside(Lab& lab, const net::DmaChain& chain, des::Counter& arrived) {
  des::Task started = lab.ring(0, 0, chain);
  co_await started;
  des::Task seen = lab.watch(arrived, 1);
  co_await seen;
}

}  // namespace

double run_pingpong(const net::Machine& machine, const RunSettings& settings) {
  const double us =
      settings.scheme == "mpi" ? mpi_one_way(machine, settings) : direct_one_way(machine, settings, 1);
  return result(settings, us);
}

double run_face(const net::Machine& machine, const RunSettings& settings) {
  return run_pingpong(machine, settings);
}

// Returns the time of a hop: that of a message over two hops, less that of a message over one.
double run_hop(const net::Machine& machine, const RunSettings& settings) {
  return direct_one_way(machine, settings, two_hops_away) - direct_one_way(machine, settings, 1);
}

// Moves data from one memory of a node into another, by the node's own PEACH or by CUDA's copy.
double run_inside(const net::Machine& machine, const RunSettings& settings) {
  if (settings.scheme == "cuda") {
    const double rate =
        settings.to == "gpu" ? machine.host.to_gpu_bytes_per_s : machine.host.from_gpu_bytes_per_s;
    return des::to_us(machine.host.copy_start) + message_bytes(settings) / rate * 1e6;
  }
  Lab lab(machine, settings);
  des::Counter arrived(lab.simulator(), {"the flag of a put inside node", 0});
  net::DmaChain chain;
  chain.descriptors = {{.from = settings.from == "gpu" ? lab.gpu(0) : lab.host(0),
                        .to = settings.to == "gpu" ? lab.gpu(0) : lab.host(0),
                        .rows = {.bytes = static_cast<std::uint64_t>(settings.bytes)},
                        .arrived = &arrived}};
  lab.simulator().spawn(put_inside(lab, chain, arrived), {"rank", 0});
  return lab.run();
}

}  // namespace tca::tool
