#pragma once

#include <nanobind/nanobind.h>

namespace opentca_python {

/// The two ends of counted puts, which chains and halos return.
void bind_counted(nanobind::module_& module);

}  // namespace opentca_python
