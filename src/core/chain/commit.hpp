// The commit of a chain by all ranks, or only by those of a circle, which meet twice. Each put is sent only
// to the rank that it targets: first as it was declared, then with what the fabrics of both partners offer
// for it. In both meetings all ranks vote on whether anything is wrong, and only if so are everybody's
// messages gathered, so that all throw the same error. Each rank validates its own puts before the first
// meeting, so that no fabric is given an invalid one. If earlier objects are to be freed, the ranks meet
// once or twice more between the two (see reclaim.hpp).
#pragma once

#include <map>
#include <memory>
#include <set>
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

// A put to this rank, possibly from itself. The index is the put's place in its sender's list.
struct Arrival {
  int from;
  std::size_t index;
  Descriptor put;
};

// The mistakes found in a chain. Only the first lines are built, since a mistake in a loop repeats for
// every put.
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
  explicit Commit(ChainState& chain) : chain_(chain), world_(*chain.world_), circle_(&world_.everyone()) {}

  // Throws Error{refused} with the same message on every rank.
  void run();

 private:
  // A rank's share of the chain on one fabric.
  struct Share {
    std::vector<fabric::Put> outgoing, incoming;
    std::unique_ptr<fabric::Offer> offer;
    std::size_t fabric = 0;
    std::unique_ptr<fabric::Program> bind(const fabric::Offers& offers) { return offer->bind(offers); }
  };

  // What goes into a share: the puts of one fabric, on their first path or their second, between this rank
  // and one partner, or all partners without a second path.
  struct Part {
    std::size_t fabric = 0;
    int partner = -1;
    bool spare = false;
  };

  // The shares of a partner with two paths, in the order that both ends use.
  struct DetourShares {
    int partner = 0;
    std::vector<Share> first, second;
    Share landed;
    std::vector<Share> to, from;

    std::vector<Share*> all();
  };

  void choose_channels();
  void exchange();
  std::vector<control::Letter> letters() const;
  void take(const std::vector<control::Letter>& letters);
  Problems problems() const;
  fabric::Offers agree(const Problems& problems);
  base::Blob offer();
  void choose_spare(Descriptor& put, std::size_t puts_to);
  void find_detours();
  DetourShares detour_shares(int partner);
  Share signals_of(int partner, std::size_t fabric, bool to, bool from) const;
  void offer_share(Share& share, std::uint32_t number, bool guarded);
  void offer_detours(base::Writer& writer);
  void bind_detours(const std::map<int, std::map<int, std::vector<base::Blob>>>& offered);
  bool has_detour(int partner) const;
  bool belongs(const Part& part, int partner, const Descriptor& put) const;
  void expect_times();
  void bind(const fabric::Offers& offered);

  std::string what() const;
  std::size_t signal_fabric(int rank) const;
  void note_needs() const;
  base::Blob made() const;
  void compare_chains(Problems& problems);
  std::vector<control::Letter> offer_letters(const base::Blob& offer) const;
  [[noreturn]] void refuse(const Problems& problems, const base::Blob& attempted) const;
  void check_windows(int rank, std::size_t index, const Descriptor& put, Problems& problems) const;
  void check_bounds(Problems& problems) const;
  void check_expectations(Problems& problems) const;
  void check_counted(Problems& problems) const;
  void check_produced(Problems& problems) const;
  void check_overlaps(Problems& problems) const;

  // The wording of messages; see words.hpp.
  std::string name_of(int rank, std::size_t index, const base::Region& region, std::uint32_t window) const;
  std::string in_words(base::ByteRange bytes, std::uint32_t window, int rank) const;
  std::string what_comes(const Descriptor& put, std::size_t number, int from) const;

  const std::vector<Descriptor>& puts() const { return chain_.draft_->descriptors; }
  std::set<int> partners() const;

  control::Control& control() const { return circle_->control(); }
  fabric::Put put_on(const Part& part, int from, std::size_t index, const Descriptor& put);
  Share share_of(const Part& part);
  std::shared_ptr<WindowState> keep(std::uint32_t window);
  fabric::Length length_of(CountedEnd* end, const Descriptor& put);

  ChainState& chain_;
  WorldState& world_;
  Circle* circle_;            // the ranks that commit the chain
  std::uint32_t number_ = 0;  // of the chain, for the fabrics
  Problems own_;              // errors in this rank's puts that it finds on its own
  bool is_sound_ = true;      // no rank has found an error in its own puts, and all commit the same chain
  bool is_same_ = true;       // they all commit the same chain
  std::string first_name_;    // of the chain that the first rank commits
  std::vector<Arrival> arrivals_;                      // ordered by sender
  std::vector<std::shared_ptr<WindowState>> windows_;  // which this rank's part of the chain moves
  std::vector<Share> shares_;                          // by fabric
  std::vector<DetourShares> detours_;                  // ordered by partner
};

}  // namespace tca::core
