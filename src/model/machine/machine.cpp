#include "model/machine/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.hpp"
#include "model/machine/machine_names.hpp"
#include "model/machine/machine_parts.hpp"
#include "model/machine/machine_table.hpp"
#include "model/machine/machine_tree.hpp"

namespace tca::net {

namespace {

// A million nodes take 1 GB. A larger number is a typing error.
constexpr std::int64_t most_nodes = 1 << 20;

HostKind read_host(const MachineTable& table) {
  HostKind host;
  host.post = table.time("post");
  host.poll = table.time("poll");
  host.copy_start = table.time("copy_start");
  host.to_gpu_bytes_per_s = table.rate("to_gpu");
  host.from_gpu_bytes_per_s = table.rate("from_gpu");
  host.store_to_gpu_bytes_per_s = table.rate("store_to_gpu");
  return host;
}

WatchKind read_watch(const MachineTable& table) {
  WatchKind watch;
  const auto pair = [&](std::string_view heartbeat, std::string_view silence, des::Time& every,
                        des::Time& without) {
    every = table.time(heartbeat);
    without = table.time(silence);
    if (every < 1) table.reject(heartbeat, fmt::format("`{}` is above 0", heartbeat));
    if (without <= every)
      table.reject(silence, fmt::format("`{}` is longer than `{}`, or the living are taken for dead", silence,
                                        heartbeat));
  };
  pair("heartbeat", "silence", watch.heartbeat, watch.silence);
  pair("host_heartbeat", "host_silence", watch.host_heartbeat, watch.host_silence);
  watch.handle = table.time("handle");
  const std::int64_t bytes = table.size("news");
  if (bytes < 1 || bytes > 4096)
    table.reject("news", fmt::format("`news` is {} bytes; it can be 1 to 4096", bytes));
  watch.news_bytes = static_cast<std::uint32_t>(bytes);
  return watch;
}

GpuKind read_gpu(const MachineTable& table) {
  GpuKind gpu;
  gpu.name = table.word("name");
  gpu.memory_bytes_per_s = table.rate("memory");
  gpu.memory_share = table.fraction("memory_share");
  if (gpu.memory_share > 1)
    table.reject("memory_share", "`memory_share` is a share of `memory`, so 1 at most");
  gpu.flops_per_s = table.operations("peak");
  gpu.launch = table.time("launch");
  gpu.synchronise = table.time("synchronise");
  return gpu;
}

KernelChunks read_chunks(const MachineTable& table) {
  const auto bytes = [&table](std::string_view key) {
    const std::int64_t size = table.size(key);
    if (size < 1 || size > 65536)
      table.reject(key, fmt::format("`{}` is {} bytes; it can be 1 to 65536", key, size));
    return static_cast<std::uint32_t>(size);
  };
  return {.data = bytes("chunk"),
          .wire = bytes("chunk_wire"),
          .move = table.time("move"),
          .block = table.time("block")};
}

Kernels read_kernels(const MachineTable& table) {
  Kernels kernels;
  kernels.node = table.time("node");
  kernels.load = table.time("load");
  for (const std::string& name : table.tables()) {
    const MachineTable own = table.table(name);
    KernelProtocol protocol;
    protocol.start = own.time("start");
    if (own.has("chunk")) {
      protocol.chunks = read_chunks(own);
    } else {
      protocol.bytes_per_s = own.rate("rate");
      protocol.blocks = own.time("blocks");
    }
    kernels.protocols.emplace(name, protocol);
  }
  return kernels;
}

std::vector<std::string> read_places(const MachineTable& root, const Description& network) {
  const std::vector<std::string> places = root.words("ranks");
  for (const std::string& place : places) {
    const auto& units = network.node.units;
    const auto found = std::ranges::find(units, place, &UnitKind::name);
    if (found == units.end() || found->role != Role::memory)
      root.reject(
          "ranks",
          fmt::format("`ranks` are the memories that a node's ranks compute in; `{}` is none", place));
    if (std::ranges::count(places, place) > 1)
      root.reject("ranks", fmt::format("`ranks` names `{}` more than once; a memory has one rank", place));
  }
  return places;
}

// Finds errors that no single table shows: units that no wire connects.
void check_parts(const MachineTable& root, const Description& network) {
  try {
    check(network);
  } catch (const Error& error) {
    root.reject("wires", error.what());
  }
}

// Checks that a number that follows another has the other's unit: it has the same value.
void check_followers(const std::vector<MachineNumber>& numbers) {
  for (const MachineNumber& number : numbers) {
    const std::string_view key = leader_of(number);
    if (key.empty()) continue;
    const auto reject = [&](std::string_view why) {
      fail_at(number.place, fmt::format("{} is fitted as \"{}\", {}", number.key, number.source, why));
    };
    const auto leader = std::ranges::find(numbers, key, &MachineNumber::key);
    if (leader == numbers.end()) {
      std::vector<std::string_view> keys;
      for (const MachineNumber& other : numbers) keys.push_back(other.key);
      reject("which is no number of this machine" + did_you_mean(key, keys));
    }
    if (!leader_of(*leader).empty())
      reject(fmt::format("which follows {} itself; name a number that follows none", leader_of(*leader)));
    if (leader->unit != number.unit)
      reject(
          fmt::format("whose unit is \"{}\", not \"{}\"; write both in one unit", leader->unit, number.unit));
  }
}

}  // namespace

RankPlace place_of_rank(const Machine& machine, std::uint32_t rank) {
  const auto ranks = static_cast<std::uint32_t>(machine.places.size());
  return {rank / ranks, find_unit(machine.network.node, machine.places[rank % ranks])};
}

void check_ranks(const Machine& machine, std::uint64_t ranks) {
  if (ranks >= 1 && ranks <= machine.max_ranks()) return;
  base::fail(Errc::invalid_argument, "{} ranks on {}: it has room for 1 to {} ({} node{}, {} rank{} each)",
             ranks, machine.name, machine.max_ranks(), machine.network.nodes,
             machine.network.nodes == 1 ? "" : "s", machine.places.size(),
             machine.places.size() == 1 ? "" : "s");
}

const MpiLibrary& find_mpi(const Machine& machine, std::string_view name) {
  const std::string wanted(name.empty() ? machine.default_mpi : name);
  const auto found = machine.mpi.find(wanted);
  if (found != machine.mpi.end()) return found->second;
  if (machine.mpi.empty()) base::fail(Errc::invalid_argument, "{} has no MPI library", machine.name);
  std::vector<std::string_view> names;
  for (const auto& [known, library] : machine.mpi) names.push_back(known);
  base::fail(Errc::invalid_argument, "{} has no MPI library `{}`; it has {}", machine.name, wanted,
             fmt::join(names, ", "));
}

const KernelProtocol& find_protocol(const Machine& machine, const std::string& name) {
  const auto found = machine.kernels.protocols.find(name);
  if (found != machine.kernels.protocols.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [known, protocol] : machine.kernels.protocols) names.push_back(known);
  base::fail(Errc::invalid_argument, "kernels of {} put by no protocol `{}`; {}", machine.name, name,
             names.empty() ? std::string("its file has no [kernels]")
                           : fmt::format("there are {}", fmt::join(names, ", ")));
}

Machine read_machine(const MachineFile& file, const Overrides& overrides) {
  MachineReading reading(file, overrides);
  const MachineTable root = reading.root();
  Machine machine;
  machine.name = file.name();
  machine.title = root.word("title");
  if (root.has("note")) machine.note = root.word("note");
  machine.network.name = machine.name;
  machine.network.nodes = static_cast<std::uint32_t>(root.count("nodes", 1, most_nodes));
  read_links(root, machine.network);
  read_units(root, machine.network);
  read_wires(root, machine.network);
  read_interconnects(root, machine.network);
  check_parts(root, machine.network);
  machine.places = read_places(root, machine.network);
  machine.host = read_host(root.table("host"));
  if (root.has("watch")) machine.watch = read_watch(root.table("watch"));
  machine.gpu = read_gpu(root.table("gpu"));
  if (root.has("kernels")) machine.kernels = read_kernels(root.table("kernels"));
  if (root.has("mpi")) {
    machine.mpi = read_mpi(root.table("mpi"), machine.network);
    machine.default_mpi = root.word("default_mpi");
    if (!machine.mpi.contains(machine.default_mpi))
      root.reject("default_mpi", fmt::format("[mpi] has no `{}`", machine.default_mpi));
  }
  reading.finish();
  // A library that others are `like` is read again for each of them; its numbers are listed once.
  for (const MachineNumber& number : reading.numbers())
    if (std::ranges::find(machine.numbers, number.key, &MachineNumber::key) == machine.numbers.end())
      machine.numbers.push_back(number);
  check_followers(machine.numbers);
  return machine;
}

Machine read_machine(const std::string& name, const Overrides& overrides) {
  return read_machine(MachineFile(find_machine(name)), overrides);
}

}  // namespace tca::net
