// Reads the units of a node from a machine file.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/machine/machine_parts.hpp"

namespace tca::net {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();

std::uint32_t bytes(const MachineTable& table, std::string_view key) {
  const std::int64_t size = table.size(key);
  if (size < 1 || size > most)
    table.reject(key, fmt::format("`{}` is {} bytes; it can be 1 to {}", key, size, most));
  return static_cast<std::uint32_t>(size);
}

std::uint32_t number(const MachineTable& table, std::string_view key) {
  return static_cast<std::uint32_t>(table.count(key, 1, most));
}

MemoryPort read_memory(const MachineTable& table) {
  MemoryPort memory;
  memory.read_latency = table.time("read_latency");
  memory.read_bytes_per_s = table.rate("read");
  memory.request_gap = table.time("request_gap");
  memory.write_bytes_per_s = table.rate("write");
  memory.write_latency = table.time("write_latency");
  if (table.has("near")) {
    memory.near_bytes = static_cast<std::uint64_t>(table.size("near"));
    memory.far_read_bytes_per_s = table.rate("far_read");
  }
  memory.device = table.truth("device");
  return memory;
}

DmaKind read_dma(const MachineTable& table) {
  DmaKind dma;
  dma.channels = number(table, "channels");
  dma.start = table.time("start");
  dma.internal_fetch = table.time("internal_fetch");
  dma.decode = table.time("decode");
  dma.chain_gap = table.time("chain_gap");
  dma.row_gap = table.time("row_gap");
  dma.request_bytes = bytes(table, "request");
  dma.packet_bytes = bytes(table, "packet");
  dma.tags = number(table, "tags");
  if (table.has("tag_back")) dma.tag_back = table.time("tag_back");
  dma.request_gap = table.time("request_gap");
  dma.turn = table.time("turn");
  dma.notify = table.time("notify");
  return dma;
}

RtlKind read_rtl(const MachineTable& table) {
  RtlKind rtl;
  rtl.bits = number(table, "width");
  if (rtl.bits != 128 && rtl.bits != 256)
    table.reject("width", fmt::format("`width` is {}; the RTL has 128 and 256", rtl.bits));
  rtl.cycle = table.time("cycle");
  if (rtl.cycle == 0) table.reject("cycle", "`cycle` is 0, and must be more");
  rtl.tags = number(table, "tags");
  rtl.request_bytes = bytes(table, "request");
  rtl.answer_bytes = bytes(table, "answer");
  rtl.hard_ip = table.time("hard_ip");
  rtl.time_out = table.time("time_out");
  return rtl;
}

ApeKind read_ape(const MachineTable& table) {
  ApeKind ape;
  ape.packet_bytes = bytes(table, "packet");
  ape.start = table.time("start");
  ape.engines = static_cast<std::uint32_t>(table.count("engines", 1, 2));
  ape.engine_gap = table.time("engine_gap");
  ape.request_bytes = bytes(table, "request");
  ape.host_window = bytes(table, "host_window");
  ape.gpu_window = bytes(table, "gpu_window");
  ape.gpu_request_gap = table.time("gpu_request_gap");
  ape.translate = table.time("translate");
  ape.translate_gpu = table.time("translate_gpu");
  ape.translate_overlaps = table.truth("translate_overlaps");
  return ape;
}

UnitKind read_unit(const MachineTable& table, const std::string& name) {
  UnitKind unit;
  unit.name = name;
  const std::string role = table.word("role", {"memory", "bridge", "nic"});
  unit.role = role == "memory" ? Role::memory : role == "nic" ? Role::nic : Role::bridge;
  if (unit.role == Role::memory) {
    unit.memory = read_memory(table);
    return unit;
  }
  unit.router = {.hop = table.time("hop"), .collision = table.time("collision")};
  if (unit.role == Role::nic && table.has("dma")) unit.dma = read_dma(table.table("dma"));
  if (unit.dma && table.has("rtl")) unit.rtl = read_rtl(table.table("rtl"));
  if (unit.role == Role::nic && table.has("ape")) unit.ape = read_ape(table.table("ape"));
  return unit;
}

// Refuses a name that another unit already has: wires, interconnects and ranks refer to units by name.
void add_unit(const MachineTable& units, const std::string& table, const UnitKind& unit, NodeKind& node) {
  if (std::ranges::find(node.units, unit.name, &UnitKind::name) != node.units.end())
    units.reject(table,
                 fmt::format("there is a unit `{}` already: [units.NAME] with `copies` makes NAME0, NAME1 "
                             "and so on; take another name",
                             unit.name));
  if (node.units.size() == most_units)
    units.reject(table, fmt::format("a node has more than {} units", most_units));
  node.units.push_back(unit);
}

}  // namespace

void read_units(const MachineTable& root, Description& into) {
  const MachineTable units = root.table("units");
  for (const std::string& name : units.tables()) {
    const MachineTable unit = units.table(name);
    // Several units of a kind, such as four GPUs, are described once and named NAME0, NAME1, ...
    const std::int64_t copies = unit.has("copies") ? unit.count("copies", 1, 64) : 0;
    UnitKind kind = read_unit(unit, name);
    if (copies == 0) add_unit(units, name, kind, into.node);
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      kind.name = fmt::format("{}{}", name, copy);
      add_unit(units, name, kind, into.node);
    }
  }
}

}  // namespace tca::net
