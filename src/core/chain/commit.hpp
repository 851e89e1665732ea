// The commit of a chain by all ranks, which meet twice: they tell each other what they have declared, and then
// what is wrong with that or, where nothing is, what their fabrics offer for it. Whether a put is sound its own
// rank finds out before the first meeting, so that no fabric is given one that is not. Where earlier objects are
// to be freed, the ranks meet once more between the two (see reclaim.hpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/layout/region.hpp"
#include "core/chain/chain_state.hpp"

namespace tca::core {

// The elements of a produced put between this rank and another.
struct Elements {
  int partner = 0;
  std::uint32_t count = 0, bytes = 0;

  bool operator==(const Elements&) const = default;
};

// A chain as one rank declared it, in the form in which all ranks receive it.
struct Declaration {
  std::string name;
  bool guarded = true, timed = false;
  bool is_sound = true;  // its rank knows nothing against its puts
  std::vector<Descriptor> puts;
  std::vector<int> expected, expected_counted;  // ranks, the latter once for each counted put
  std::vector<Elements> expected_produced;

  bool is_of_same_chain(const Declaration& other) const {
    return name == other.name && guarded == other.guarded && timed == other.timed;
  }
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
  // A rank's share of the chain on one fabric.
  struct Share {
    std::vector<fabric::Put> outgoing, incoming;
    std::unique_ptr<fabric::Offer> offer;
  };

  void choose_channels();
  void exchange();
  Problems problems() const;
  std::vector<base::Blob> agree(const Problems& problems);
  base::Blob offer();
  void expect_times();
  void bind(std::span<const base::Blob> offered);

  std::string what() const;
  bool is_sound() const;
  bool is_same_chain(Problems& problems) const;
  void check_windows(int rank, std::span<const Descriptor> puts, Problems& problems) const;
  void check_bounds(Problems& problems) const;
  void check_expectations(Problems& problems) const;
  void check_counted(Problems& problems) const;
  void check_produced(Problems& problems) const;
  void check_overlaps(Problems& problems) const;

  // The words of messages; see words.hpp.
  std::string name_of(int rank, std::size_t index, const base::Region& region, std::uint32_t window) const;
  std::string in_words(base::ByteRange bytes, std::uint32_t window, int rank) const;
  std::string what_comes(const Descriptor& put, std::size_t number, int from) const;

  std::shared_ptr<WindowState> keep(std::uint32_t window);
  fabric::Length length_of(CountedEnd* end, const Descriptor& put);

  ChainState& chain_;
  WorldState& world_;
  std::uint32_t number_ = 0;  // of the chain, for the fabrics
  Problems own_;              // those of this rank's puts that it finds alone
  std::vector<Declaration> ranks_;
  std::vector<std::shared_ptr<WindowState>> windows_;  // that this rank's part of the chain moves
  std::vector<Share> shares_;                          // by fabric
};

}  // namespace tca::core
