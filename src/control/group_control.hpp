// The control plane of some of another one's ranks, renumbered. Only they take part in its calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/control.hpp"

namespace tca::control {

class GroupControl final : public Control {
 public:
  // `ranks` are ranks of the parent, which outlives this object; they include this one. `number`
  // distinguishes groups of the same ranks, and is the same on each of them. `called`: their names in
  // messages; if empty, their new numbers.
  GroupControl(Control& parent, std::vector<int> ranks, std::uint64_t number, std::vector<int> called = {});

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(subset_.ranks.size()); }
  int called(int rank) const override {
    return called_.empty() ? rank : called_[static_cast<std::size_t>(rank)];
  }
  std::optional<Loss> lost(int rank) override;
  bool is_gone(int rank) const override { return parent_.is_gone(parent_rank(rank)); }

  // Ranks that wait for this one in the group are told through the parent, which it leaves if it ends.
  void leave(const std::optional<Trouble>&) override {}

  base::Cores cores() const override { return parent_.cores(); }
  bool crowded() const override { return parent_.crowded(); }
  bool wait_turn(const Wait& wait, std::chrono::nanoseconds at_most) override;
  std::chrono::duration<double> now() const override { return parent_.now(); }
  std::unique_ptr<AllGather> begin_among(const Subset& subset, const base::Blob& mine) override;

  // Distinguishes the group from all others of the parent.
  std::uint64_t key() const { return subset_.key; }

  int parent_rank(int rank) const { return subset_.ranks[static_cast<std::size_t>(rank)]; }

 private:
  void check_call(std::string_view what) override { parent_.check_call(what); }
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override;
  void note_failure(Errc code) override;

  Control& parent_;
  Subset subset_;
  std::vector<int> called_;
  int rank_ = 0;
};

}  // namespace tca::control
