// A Verilated hub of either width, a cycle at a time.
#pragma once

#include <algorithm>
#include <memory>

#include "tlp.hpp"

namespace tca::test {

enum Port : std::size_t { north, east, west, south, cables };

struct Ports {
  std::array<std::optional<Beat>, cables> cable;
  std::array<bool, cables> cable_credit{};
  std::optional<Beat> host;
  bool host_credit = false;

  [[nodiscard]] bool empty() const {
    const auto is_set = [](const auto& port) { return static_cast<bool>(port); };
    return std::none_of(cable.begin(), cable.end(), is_set) &&
           std::none_of(cable_credit.begin(), cable_credit.end(), is_set) && !host && !host_credit;
  }
};

struct Stream {
  std::array<std::uint64_t, 8> descriptor{};
  std::uint64_t value = 0;
};

class Hub {
 public:
  static std::unique_ptr<Hub> make(std::size_t width, std::uint32_t node);
  virtual ~Hub() = default;

  // What the hub puts out in this cycle, in which `in` comes.
  virtual Ports cycle(const Ports& in) = 0;
  // Offers a descriptor in each cycle until the hub has taken it.
  virtual void offer(const Stream& stream) = 0;
  [[nodiscard]] virtual bool offering() const = 0;
  [[nodiscard]] virtual bool idle() const = 0;
  [[nodiscard]] virtual bool waiting() const = 0;
};

}  // namespace tca::test
