// The fabric of ranks on a modelled machine: their bytes really move, and a virtual clock says how long it
// took.
//
// A rank is a thread or a fiber that computes on one of the machine's accelerators or, if it has none,
// processors. Exactly one rank runs at a time. The protocols are those of the machine.
#pragma once

#include <memory>
#include <string>

#include "base/system/fibers.hpp"
#include "control/control.hpp"
#include "fabric/fabric.hpp"

namespace tca::sim {

class Model;

// `fidelity` is tlp, train, flow or rtl (docs/model.md). If it is empty, OPENTCA_FIDELITY decides, and if
// that is unset, it is tlp. Throws Error{invalid_argument} for an unknown fidelity, an unknown machine, a
// broken machine file, or more ranks than the machine has room for. `fibers` are the ranks' fibers; null if
// ranks are threads. `faults` are those of WorldOptions or, if it is empty, those of OPENTCA_FAULTS.
std::shared_ptr<Model> make_model(const std::string& machine, int ranks, const std::string& fidelity = {},
                                  const std::string& faults = {}, base::Fibers* fibers = nullptr);

// Returns places that are all on one host, shared by all ranks. A sub-cluster consists of the ranks that
// the machine's first protocol connects.
const control::Places& find_places(Model& model);

// Returns when the rank has its first turn.
std::unique_ptr<control::Control> make_control(std::shared_ptr<Model> model, int rank);

// Collective.
std::unique_ptr<fabric::Fabric> make_fabric(std::shared_ptr<Model> model, control::Control& control);

}  // namespace tca::sim
