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

struct CardPut {
  net::ApePut put;
  des::Counter* waited_for = nullptr;
  double bytes = 0;
  bool staged_out = false, staged_in = false;  // copied out of the GPU before, and into the other GPU after
};

des::Task run_put(Lab& lab, net::Ape& ape, CardPut put) {
  const net::HostKind& host = lab.machine().host;
  const des::Time out = host.copy_start + des::from_us(put.bytes / host.from_gpu_bytes_per_s * 1e6);
  const des::Time in = host.copy_start + des::from_us(put.bytes / host.to_gpu_bytes_per_s * 1e6);
  if (put.staged_out) co_await lab.simulator().sleep(out);
  co_await lab.simulator().sleep(host.post);
  ape.put(put.put);
  des::Task seen = lab.watch(*put.waited_for, 1);
  co_await seen;
  if (put.staged_in) co_await lab.simulator().sleep(in);
}

double put_once(const net::Machine& machine, const RunSettings& settings, bool until_sent) {
  Lab lab(machine, settings);
  net::Ape ape(lab.network(), lab.network().interconnect("torus"), lab.host(0).unit);
  des::Counter arrived(lab.simulator(), {"a message for node", 1});
  des::Counter sent(lab.simulator(), {"the flag of node", 0});
  CardPut put;
  put.bytes = static_cast<double>(settings.bytes);
  put.staged_out = settings.staged || settings.staged_out;
  put.staged_in = settings.staged;
  put.put.from = put.staged_out ? lab.host(0) : memory(lab, settings.from, 0);
  const std::uint32_t other = settings.loop_back ? 0 : 1;
  put.put.to = put.staged_in ? lab.host(other) : memory(lab, settings.to, other);
  put.put.bytes = static_cast<std::uint64_t>(settings.bytes);
  put.put.arrived = &arrived;
  put.put.sent = &sent;
  put.waited_for = until_sent ? &sent : &arrived;
  lab.simulator().spawn(run_put(lab, ape, put), {"rank", 0});
  return lab.run();
}

}  // namespace

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
