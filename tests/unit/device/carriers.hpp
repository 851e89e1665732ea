// Runs the device protocols with every kind of carrier, and blocks of one thread or of several.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "device_ranks.hpp"
#include "seed.hpp"

namespace tca::test {

inline constexpr device::Word thousands = 2000;

class Carriers : public testing::TestWithParam<DeviceRun> {
 protected:
  Seed seed_;
  testing::ScopedTrace trace_{__FILE__, __LINE__, seed_.how_to_repeat()};

  std::string run(DeviceRanks& ranks, std::vector<device::Word> parts, device::Word steps = thousands) {
    DeviceRun how = GetParam();
    how.parts = std::move(parts);
    how.steps = steps / how.lanes;
    how.seed = seed_.value();
    return ranks.run(how);
  }
};

}  // namespace tca::test
