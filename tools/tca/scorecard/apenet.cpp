// APEnet+: latencies and rates between two cards, and the rate at which a card reads.
#include <algorithm>

#include "base/fail.hpp"
#include "model/nic/ape.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

// Returns the machine with the card that the settings ask for.
net::Machine with_card(net::Machine machine, const RunSettings& settings) {
  for (net::UnitKind& unit : machine.network.node.units) {
    if (!unit.ape) continue;
    if (settings.engines > 0) unit.ape->engines = static_cast<std::uint32_t>(settings.engines);
    if (settings.gpu_window > 0) unit.ape->gpu_window = static_cast<std::uint32_t>(settings.gpu_window);
    if (settings.translate_us > 0)
      unit.ape->translate = unit.ape->translate_gpu = des::from_us(settings.translate_us);
    unit.ape->translate_overlaps = unit.ape->translate_overlaps || settings.translate_overlaps;
  }
  return machine;
}

// Returns the machine with a card that discards what it has read, so that neither cables nor the receiver
// slow it down.
net::Machine that_only_reads(net::Machine machine) {
  constexpr double far_more = 100;
  const std::uint32_t torus = net::find_interconnect(machine.network, "torus");
  machine.network.links[machine.network.interconnects[torus].link].bytes_per_s *= far_more;
  for (net::UnitKind& unit : machine.network.node.units)
    if (unit.ape) unit.ape->translate = unit.ape->translate_gpu = 0;
  return machine;
}

net::Endpoint memory(const Lab& lab, const std::string& where, std::uint32_t node) {
  return where == "gpu" ? lab.gpu(node) : lab.host(node);
}

des::Time copy_out(const Lab& lab, double bytes) {
  const net::HostKind& host = lab.machine().host;
  return host.copy_start + des::from_us(bytes / host.from_gpu_bytes_per_s * 1e6);
}
des::Time copy_in(const Lab& lab, double bytes) {
  const net::HostKind& host = lab.machine().host;
  return host.copy_start + des::from_us(bytes / host.to_gpu_bytes_per_s * 1e6);
}

struct CardPut {
  net::ApePut put;
  des::Counter* waited_for = nullptr;
  double bytes = 0;
  bool staged = false;  // copied out of the GPU before, and into the other GPU after
};

des::Task run_put(Lab& lab, net::Ape& ape, CardPut put) {
  if (put.staged) co_await lab.simulator().sleep(copy_out(lab, put.bytes));
  co_await lab.simulator().sleep(lab.machine().host.post);
  ape.put(put.put);
  des::Task seen = lab.watch(*put.waited_for, 1);
  co_await seen;
  if (put.staged) co_await lab.simulator().sleep(copy_in(lab, put.bytes));
}

double put_once(const net::Machine& machine, const RunSettings& settings, bool until_sent) {
  Lab lab(machine, settings);
  net::Ape ape(lab.network(), lab.network().interconnect("torus"), lab.host(0).unit);
  des::Counter arrived(lab.simulator(), {"a message for node", 1});
  des::Counter sent(lab.simulator(), {"the flag of node", 0});
  CardPut put;
  put.bytes = static_cast<double>(settings.bytes);
  put.staged = settings.staged;
  put.put.from = settings.staged ? lab.host(0) : memory(lab, settings.from, 0);
  const std::uint32_t other = settings.loop_back ? 0 : 1;
  put.put.to = settings.staged ? lab.host(other) : memory(lab, settings.to, other);
  put.put.bytes = static_cast<std::uint64_t>(settings.bytes);
  put.put.arrived = &arrived;
  put.put.sent = &sent;
  put.waited_for = until_sent ? &sent : &arrived;
  lab.simulator().spawn(run_put(lab, ape, put), {"rank", 0});
  return lab.run();
}

// A lattice is cut along one dimension into rings of slices: each node has a face for the node below and one for the node above.
constexpr std::uint64_t faces = 2;

// A face's copy out of the GPU goes beside the card's work on the one before.
des::Task send_faces(Lab& lab, net::Ape& ape, net::ApePut put, bool staged) {
  for (std::uint64_t face = 0; face < faces; ++face) {
    if (staged) co_await lab.simulator().sleep(copy_out(lab, static_cast<double>(put.bytes)));
    co_await lab.simulator().sleep(lab.machine().host.post);
    ape.put(put);
  }
}

des::Task take_faces(Lab& lab, des::Counter& arrived, double bytes, bool staged) {
  for (std::uint64_t face = 1; face <= faces; ++face) {
    des::Task seen = lab.watch(arrived, face);
    co_await seen;
    if (staged) co_await lab.simulator().sleep(copy_in(lab, bytes));
  }
}

}  // namespace

// Returns the time in which two nodes exchange faces of slices that lie on GPUs.
double run_apenet_faces(const net::Machine& machine, const RunSettings& settings) {
  Lab lab(machine, settings);
  net::Ape ape(lab.network(), lab.network().interconnect("torus"), lab.host(0).unit);
  des::Counter arrived[] = {{lab.simulator(), {"a face for node", 0}},
                            {lab.simulator(), {"a face for node", 1}}};
  des::Counter sent(lab.simulator(), {"the flag of node", 0});
  const bool staged_out = settings.staged || settings.staged_out;
  for (std::uint32_t node = 0; node < 2; ++node) {
    const std::uint32_t other = 1 - node;
    net::ApePut put;
    put.from = staged_out ? lab.host(node) : lab.gpu(node);
    put.to = settings.staged ? lab.host(other) : lab.gpu(other);
    put.bytes = static_cast<std::uint64_t>(settings.bytes);
    put.arrived = &arrived[other];
    put.sent = &sent;
    lab.simulator().spawn(send_faces(lab, ape, put, staged_out), {"rank", node});
    lab.simulator().spawn(take_faces(lab, arrived[node], static_cast<double>(put.bytes), settings.staged),
                          {"rank", node});
  }
  return lab.run();
}

double run_apenet(const net::Machine& machine, const RunSettings& settings) {
  const double us = put_once(with_card(machine, settings), settings, false);
  return settings.rate ? static_cast<double>(settings.bytes) / us * 1e-3 : us;
}

// Returns the GB/s at which a card reads 4 MiB.
double run_apenet_read(const net::Machine& machine, const RunSettings& settings) {
  RunSettings reading = settings;
  reading.bytes = 4 << 20;
  reading.to = "host";
  const net::Machine reader = that_only_reads(with_card(machine, settings));
  return static_cast<double>(reading.bytes) / put_once(reader, reading, true) * 1e-3;
}

}  // namespace tca::tool
