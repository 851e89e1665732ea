// A fabric that picks a protocol for every single put, so that the puts to one partner use several.
#pragma once

#include <memory>

#include "fabric/fabric.hpp"

namespace tca::test {

std::unique_ptr<fabric::Fabric> mix_protocols(std::unique_ptr<fabric::Fabric> inner, unsigned seed);

}  // namespace tca::test
