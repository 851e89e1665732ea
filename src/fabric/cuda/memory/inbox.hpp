// A rank's inbox: the memory that its kernels wait on and its partners' kernels write to, and the words
// with which its kernels talk to their host.
//
// Signals and packets live where the waiting side runs: in device memory of the rank that waits, mapped by
// every other. Errors, and a few words for each chain, are in pinned host memory, which kernels reach over
// PCIe.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "control/control.hpp"
#include "control/members.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "fabric/cuda/memory/pinned_memory.hpp"
#include "fabric/cuda/memory/region.hpp"
#include "tca/device/memory.hpp"
#include "tca/device/produced.hpp"
#include "tca/device/window.hpp"

namespace tca::cuda {

using device::Word;

// Makes every rank's region with its `make`, and attaches this rank to the regions of the others in its
// sub-cluster. Collective. Returns the regions by rank. If one rank fails, all throw the same error. `what`
// names the step in messages.
std::vector<Region> share_regions(const control::Members& members, const control::Places& places, int device,
                                  std::string_view what, const std::function<Region(Token&)>& make);

class Inbox {
 public:
  // Collective.
  Inbox(control::Control& control, const control::Places& places, int device, bool exported,
        cudaStream_t stream);
  Inbox(const Inbox&) = delete;

  static constexpr std::size_t capacity = std::size_t{128} << 20;

  // Returns the offset of a piece of device memory, which is cleared on the stream. Throws
  // Error{out_of_memory}.
  std::uint64_t take(std::size_t bytes);
  void give_back(std::uint64_t offset, std::size_t bytes) { device_room_.give_back(offset, bytes); }
  std::size_t largest() const { return device_room_.largest(); }

  // Returns the size of the largest piece that every rank's inbox still has, as of the last exchange.
  std::size_t largest_everywhere() const { return std::min(largest(), least_of_all_); }
  void hear_of_others(std::size_t least) { least_of_all_ = least; }

  template <class T>
  T* at(int rank, std::uint64_t offset) const {
    return reinterpret_cast<T*>(parts_[static_cast<std::size_t>(rank)].data() + offset);
  }

  template <class T>
  T* own(std::uint64_t offset) const {
    return at<T>(rank_, offset);
  }

  // Returns zeroed words of pinned host memory. Throws Error{out_of_memory}.
  Word* take_words(std::size_t count);
  void give_back_words(Word* words, std::size_t count);

  // The words of device::WaitLimits that all of this rank's chains share.
  Word& abort() const { return host_words_[0]; }
  Word* gone() const { return gone_; }
  Word& gave_up() const { return host_words_[1]; }
  Word* over() const { return refused() + 1; }
  // The first put that was refused to one of this rank's kernels, and how many there were.
  device::Refusal& refusal() const { return *reinterpret_cast<device::Refusal*>(host_words_ + 2); }
  // The first mistake with produced puts that one of this rank's kernels has made in a chain that checks
  // them. Both kinds are counted together, and only the first of them is reported.
  device::Mistake& mistake() const { return *reinterpret_cast<device::Mistake*>(&refusal() + 1); }
  Word* refused() const { return own<Word>(0); }

 private:
  static constexpr std::size_t host_bytes = std::size_t{4} << 20;

  std::vector<Region> parts_;  // by rank
  int rank_;
  int device_;
  cudaStream_t stream_;
  base::Arena device_room_{0, capacity, inbox_grain};
  std::size_t least_of_all_ = capacity;
  base::Arena host_room_{0, host_bytes, inbox_grain};
  PinnedMemory host_{host_bytes};
  Word* const host_words_ = reinterpret_cast<Word*>(host_.data());
  Word* gone_ = nullptr;
};

// Pieces of an inbox, which are returned when this object is destroyed.
class Room {
 public:
  explicit Room(Inbox& inbox) : inbox_(inbox) {}
  Room(const Room&) = delete;
  ~Room();
  std::uint64_t take(std::size_t bytes);
  Word* take_words(std::size_t count);
  // Returns words with the numbers of these ranks: those of device::WaitLimits.
  const Word* take_ranks(std::span<const int> ranks);

 private:
  Inbox& inbox_;
  std::vector<std::pair<std::uint64_t, std::size_t>> pieces_;
  std::vector<std::pair<Word*, std::size_t>> words_;
};

}  // namespace tca::cuda
