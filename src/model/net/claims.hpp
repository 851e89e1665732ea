// Claims record which trains use a link, when, and how much of it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/des/large.hpp"
#include "model/net/plan.hpp"

namespace tca::net {

using TrainId = std::uint32_t;
constexpr TrainId no_train = UINT32_MAX;

struct Claim {
  TrainId train;
  std::uint32_t next;
  des::Time begin, end;
  // The time after which everything that reaches the link queues behind this train; never if there is no
  // such time.
  des::Time given;
  std::uint64_t share;      // of the link, in parts of Claims::whole
  std::uint64_t collision;  // in addition, if the link takes turns with another input
  LinkId input;             // over which the train reaches the link

  bool overlaps(const Claim& other) const { return begin < other.end && other.begin < end; }
};

// Holds the claims on each link, the latest first. A train has at most one claim on a link.
class Claims {
 public:
  static constexpr std::uint64_t whole = 1 << 20;

  explicit Claims(LinkId links) : first_(links, none) {}

  // Prefetches the memory that `on` and `remove` access first.
  void expect(LinkId link) const { des::prefetch(&first_[link], sizeof(std::uint32_t)); }
  void add(LinkId link, const Claim& claim);
  bool remove(LinkId link, TrainId train);  // returns whether any claims are left
  Claim& of(TrainId train, LinkId link) { return claims_[find(train, link)]; }
  const Claim& of(TrainId train, LinkId link) const { return claims_[find(train, link)]; }

  class Iterator {
   public:
    Iterator(const des::LargeVector<Claim>& claims, std::uint32_t at) : claims_(&claims), at_(at) {}
    const Claim& operator*() const { return (*claims_)[at_]; }
    Iterator& operator++() {
      at_ = (*claims_)[at_].next;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const des::LargeVector<Claim>* claims_;
    std::uint32_t at_;
  };
  struct Range {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  // Returns whether those trains on a link for which counts(claim) is true arrive over several others.
  template <class Counts>
  bool turns(LinkId link, const Counts& counts) const {
    const Claim* one = nullptr;
    for (const Claim& claim : on(link)) {
      if (!counts(claim)) continue;
      if (one != nullptr && claim.input != one->input) return true;
      one = &claim;
    }
    return false;
  }
  // Returns how much of the link they take together, in parts of `whole`.
  template <class Counts>
  std::uint64_t taken(LinkId link, const Counts& counts) const {
    const bool collide = turns(link, counts);
    std::uint64_t sum = 0;
    for (const Claim& claim : on(link))
      if (counts(claim)) sum += claim.share + (collide ? claim.collision : 0);
    return sum;
  }
  Range on(LinkId link) const { return {{claims_, first_[link]}, {claims_, none}}; }

  std::size_t bytes() const {
    return claims_.capacity() * sizeof(Claim) + first_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t find(TrainId train, LinkId link) const;

  des::LargeVector<std::uint32_t> first_;  // the latest claim, by link
  des::LargeVector<Claim> claims_;
  std::uint32_t free_ = none;
};

}  // namespace tca::net
