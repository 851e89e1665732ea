#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "membership.hpp"

namespace opentca_python {

struct WorldObject {
  std::shared_ptr<Place> place;
};

void bind_worlds(nanobind::module_& module);

}  // namespace opentca_python
