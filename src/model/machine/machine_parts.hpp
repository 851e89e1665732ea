// Reads the parts of a machine file into those of a description.
#pragma once

#include <map>
#include <string>

#include "model/machine/description.hpp"
#include "model/machine/machine_table.hpp"
#include "model/machine/mpi.hpp"

namespace tca::net {

// Read [links.NAME], [units.NAME], wires = [[UNIT, UNIT, LINK, LINK BACK], ...] and [interconnects.NAME].
// They are called in this order, since each refers to those before it.
void read_links(const MachineTable& root, Description& into);
void read_units(const MachineTable& root, Description& into);
void read_wires(const MachineTable& root, Description& into);
void read_interconnects(const MachineTable& root, Description& into);

// Reads [mpi.NAME]. A library may be `like` another one and give only the differences.
std::map<std::string, MpiLibrary> read_mpi(const MachineTable& table, const Description& network);

}  // namespace tca::net
