// The commit of a chain by all ranks: its descriptors are exchanged, checked and compiled.
#pragma once

#include <string>
#include <vector>

#include "base/region.hpp"
#include "core/chain_state.hpp"

namespace tca::core {

// A chain as one rank declared it, in the form in which all ranks receive it.
struct Declaration {
  std::string name;
  bool guarded = true;
  std::vector<Descriptor> puts;
  std::vector<int> expected;
};

// The mistakes found in a chain. Only the first lines are made, since a mistake in a loop repeats for every
// put.
class Problems {
 public:
  static constexpr std::size_t shown = 8;

  template <class Line>
  void add(const Line& line) {
    if (total_++ < shown) first_.push_back(line());
  }

  std::size_t total() const { return total_; }
  const std::vector<std::string>& first() const { return first_; }

 private:
  std::vector<std::string> first_;
  std::size_t total_ = 0;
};

class Commit {
 public:
  explicit Commit(ChainState& chain) : chain_(chain), world_(*chain.world_) {}

  // Throws Error{refused} with the same message on every rank.
  void run();

 private:
  void choose_channels();
  void exchange();
  void compile();
  Problems problems() const;
  void agree(const Problems& problems) const;

  bool is_same_chain(Problems& problems) const;
  void check_windows(Problems& problems) const;
  void check_bounds(Problems& problems) const;
  void check_expectations(Problems& problems) const;
  void check_overlaps(Problems& problems) const;

  // The words of messages; see words.hpp.
  std::string name_of(int rank, std::size_t index, const base::Region& region, std::uint32_t window) const;
  std::string in_words(base::ByteRange bytes, std::uint32_t window, int rank) const;
  std::string what_comes(const Descriptor& put, std::size_t number, int from) const;

  std::shared_ptr<WindowState> keep(std::uint32_t window);

  ChainState& chain_;
  WorldState& world_;
  std::vector<Declaration> ranks_;
  Problems without_channel_;  // of this rank's puts
};

}  // namespace tca::core
