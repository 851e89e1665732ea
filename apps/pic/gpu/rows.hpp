// Particles in a GPU's memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "pic/particles.hpp"
#include "pic/push_one.hpp"
#include "shared/gpu_call.hpp"

namespace tca::pic {

// A rank's particles on its GPU, with room for those that come between two sorts.
class GpuRows {
 public:
  explicit GpuRows(std::size_t capacity) : cell_(capacity), numbers_{make(capacity)} {}

  Rows rows() const {
    return {cell_.data(), {number(0), number(1), number(2)}, {number(3), number(4), number(5)}, number(6)};
  }
  void write(const Particles& particles, const apps::OwnStream& stream) const {
    const auto copy = [&](const auto& from, auto* to) {
      stream.copy(to, from.data(), from.size() * sizeof(from[0]), cudaMemcpyHostToDevice);
    };
    copy(particles.cell, cell_.data());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      copy(particles.at[axis], number(axis));
      copy(particles.p[axis], number(3 + axis));
    }
    copy(particles.charge, number(6));
  }
  // Without the gaps among the first `used`.
  Particles read(std::size_t used, const apps::OwnStream& stream) const {
    Particles particles;
    std::vector<std::int32_t> cell = cell_.read(stream);
    cell.resize(used);
    const auto kept = [&](const auto& values, auto& into) {
      for (std::size_t i = 0; i < used; ++i)
        if (cell[i] >= 0) into.push_back(values[i]);
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
      kept(numbers_[axis]->read(stream), particles.at[axis]);
      kept(numbers_[3 + axis]->read(stream), particles.p[axis]);
    }
    kept(numbers_[6]->read(stream), particles.charge);
    kept(cell, particles.cell);
    return particles;
  }

 private:
  using Numbers = std::array<std::unique_ptr<apps::DeviceArray<double>>, 7>;

  static Numbers make(std::size_t capacity) {
    Numbers numbers;
    for (auto& each : numbers) each = std::make_unique<apps::DeviceArray<double>>(capacity);
    return numbers;
  }
  double* number(std::size_t which) const { return numbers_[which]->data(); }

  apps::DeviceArray<std::int32_t> cell_;
  Numbers numbers_;
};

}  // namespace tca::pic
