// How worlds come up.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "membership.hpp"

namespace opentca_python {

namespace nb = nanobind;

/// World(...): by the launcher's word, of a communicator, or by a key.
std::shared_ptr<Place> come_up(nb::kwargs& options);

/// The rank that this process was last, and of how many; (0, 1) before it has been one.
std::pair<int, int> rank_of_process();

nb::list run_threads(int ranks, nb::object body, nb::kwargs options);

}  // namespace opentca_python
