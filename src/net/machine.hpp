// A machine as its file describes it: the network, and what the network's users cost on a node.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "net/description.hpp"
#include "net/host.hpp"
#include "net/kernel.hpp"
#include "net/machine_file.hpp"
#include "net/mpi.hpp"

namespace tca::net {

struct Machine {
  std::string name;   // of its file: "ha-pacs-tca"
  std::string title;  // for people: "HA-PACS/TCA"
  std::string note;   // what should be known of it, such as that it was never built

  Description network;
  HostKind host;
  GpuKind gpu;                            // all GPUs of a machine are alike
  Kernels kernels;                        // and so is what puts by themselves cost their kernels
  std::map<std::string, MpiLibrary> mpi;  // by name; see default_mpi
  std::string default_mpi;                // empty where there is none
  std::vector<std::string>
      places;  // of a node's ranks, first to last: the units they compute in, such as gpu0
  std::vector<MachineNumber> numbers;  // all of the file's

  std::uint32_t max_ranks() const { return network.nodes * static_cast<std::uint32_t>(places.size()); }
};

// Where a rank computes. Ranks fill a node, then the next.
struct RankPlace {
  std::uint32_t node = 0;
  std::uint32_t unit = 0;  // index into NodeKind::units
};

RankPlace place_of_rank(const Machine& machine, std::uint32_t rank);

// Throws Error{invalid_argument} when the machine has no room for so many.
void check_ranks(const Machine& machine, std::uint64_t ranks);

// Of the name given or, when that is empty, the machine's default; throws Error{invalid_argument} naming those there are.
const MpiLibrary& find_mpi(const Machine& machine, std::string_view name);

// Throws Error{invalid_argument} naming those there are.
const KernelProtocol& find_protocol(const Machine& machine, const std::string& name);

// Read whole and checked: every error is Error{invalid_argument} whose message begins with FILE:LINE:COLUMN. `name` as
// for find_machine.
Machine read_machine(const std::string& name, const Overrides& overrides = {});
Machine read_machine(const MachineFile& file, const Overrides& overrides = {});

}  // namespace tca::net
