// A Machine is what a machine file describes: the network, and the costs of the software on a node that uses
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/description.hpp"
#include "model/machine/host.hpp"
#include "model/machine/kernel.hpp"
#include "model/machine/machine_file.hpp"
#include "model/machine/mpi.hpp"

namespace tca::net {

struct Machine {
  std::string name;   // name of its file: "ha-pacs-tca"
  std::string title;  // for display: "HA-PACS/TCA"
  std::string note;   // what readers should know about it, such as that it was never built

  Description network;
  HostKind host;
  std::optional<WatchKind> watch;         // of its hubs; nothing if they watch nobody
  GpuKind gpu;                            // all GPUs of a machine are alike
  Kernels kernels;                        // and so are the costs of puts by their kernels
  std::map<std::string, MpiLibrary> mpi;  // by name; see default_mpi
  std::string default_mpi;                // empty if there is none
  // The units in which the ranks of a node compute, such as gpu0, from the node's first rank to its last.
  std::vector<std::string> places;
  std::vector<MachineNumber> numbers;  // all numbers of the file

  std::uint32_t max_ranks() const { return network.nodes * static_cast<std::uint32_t>(places.size()); }
};

// Where a rank computes. Ranks fill one node after another.
struct RankPlace {
  std::uint32_t node = 0;
  std::uint32_t unit = 0;  // index into NodeKind::units
};

RankPlace place_of_rank(const Machine& machine, std::uint32_t rank);

// Throws Error{invalid_argument} if the machine has no room for this many ranks.
void check_ranks(const Machine& machine, std::uint64_t ranks);

// Returns the library with this name, or the machine's default if the name is empty. Throws
// Error{invalid_argument} that lists the existing names.
const MpiLibrary& find_mpi(const Machine& machine, std::string_view name);

// Throws Error{invalid_argument} that lists the existing names.
const KernelProtocol& find_protocol(const Machine& machine, const std::string& name);

// Reads and checks a whole machine file. Every error is Error{invalid_argument}, whose message begins with
// FILE:LINE:COLUMN. `name` is as for find_machine.
Machine read_machine(const std::string& name, const Overrides& overrides = {});
Machine read_machine(const MachineFile& file, const Overrides& overrides = {});

}  // namespace tca::net
