// A fabric that gives every put a protocol of its own, so that puts to one partner use several.
#pragma once

#include <memory>

#include "fabric/fabric.hpp"

namespace tca::test {

std::unique_ptr<fabric::Fabric> mix_protocols(std::unique_ptr<fabric::Fabric> inner, unsigned seed);

}  // namespace tca::test
