// The packets under way, by the numbers that parcels carry.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "model/rtl/tlp.hpp"

namespace tca::rtl {

struct Load {
  Tlp tlp;
  std::uint32_t filled = 0;  // bytes of data that the hub has sent so far
  std::uint32_t port = 0;    // of the hub that it arrives at

  bool is_whole() const { return filled == tlp.data.size(); }
};

class Loads {
 public:
  std::uint32_t add(Load load) {
    if (free_.empty()) {
      loads_.push_back(std::move(load));
      return static_cast<std::uint32_t>(loads_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    loads_[number] = std::move(load);
    return number;
  }
  // One sent by a host or a memory, which has all of it.
  std::uint32_t add(Tlp tlp, std::uint32_t port) {
    const auto bytes = static_cast<std::uint32_t>(tlp.data.size());
    return add({std::move(tlp), bytes, port});
  }
  Load& operator[](std::uint32_t number) { return loads_[number]; }
  void remove(std::uint32_t number) { free_.push_back(number); }

 private:
  std::deque<Load> loads_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tca::rtl
