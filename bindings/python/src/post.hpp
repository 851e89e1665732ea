#pragma once

#include <nanobind/nanobind.h>

namespace opentca_python {

void bind_posts(nanobind::module_& module);

}  // namespace opentca_python
