// Ranks on a modelled machine: their bytes really move, and a virtual clock says how long it took.
//
// A rank is a thread that computes on one of the machine's accelerators or, where it has none, processors; exactly one
// runs at a time. The protocols are the machine's channels.
#pragma once

#include <memory>
#include <string>

#include "fabric/control.hpp"
#include "fabric/fabric.hpp"

namespace tca::sim {

class Model;

// `fidelity`: tlp, train or flow (docs/model.md); empty: OPENTCA_FIDELITY, otherwise tlp. Throws Error{invalid_argument}
// for an unknown one, an unknown machine, a broken machine file, or more ranks than it has room for.
std::shared_ptr<Model> make_model(const std::string& machine, int ranks, const std::string& fidelity = {});

// All on one host; a sub-cluster is the ranks that the machine's first channel joins.
fabric::Places find_places(const Model& model);

// Comes back with the rank's first turn.
std::unique_ptr<fabric::Control> make_control(std::shared_ptr<Model> model, int rank);

// Collective.
std::unique_ptr<fabric::Fabric> make_fabric(std::shared_ptr<Model> model, fabric::Control& control);

}  // namespace tca::sim
