// Tests when the memory of dropped objects is freed.
#include "core/reclaim.hpp"

#include <gtest/gtest.h>

namespace tca::test {
namespace {

using core::Memories;
using core::Reclaimer;
using core::RetiredChain;

// The control plane of rank 0 of two. The other rank announces what the test has set.
class Announcing final : public control::Control {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::optional<std::string> lost(int) override { return {}; }
  void leave(std::string_view) override {}
  base::Cores cores() const override { return base::Cores::enough; }

  struct Announcement {
    std::uint32_t id;
    bool in_order = true;
  };
  std::vector<Announcement> theirs;

 private:
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override {
    base::Writer writer;
    writer.put_string(what).put(theirs.size());
    for (const Announcement& announcement : theirs) writer.put(announcement.id).put(announcement.in_order);
    writer.put_string("theirs");
    theirs.clear();
    return {mine, writer.blob()};
  }
};

// A program that the fabric has completed only after being asked several times.
class Lingering final : public fabric::Program {
 public:
  Lingering(int asked_in_vain, std::vector<bool>& asked) : asked_in_vain_(asked_in_vain), asked_(asked) {}
  void start() override {}
  bool test() override { return true; }
  std::vector<int> missing() const override { return {}; }
  bool end(bool in_order) override {
    asked_.push_back(in_order);
    return asked_in_vain_-- <= 0;
  }

 private:
  int asked_in_vain_;
  std::vector<bool>& asked_;  // the `in_order` of each call
};

std::shared_ptr<Memories> some_memory() {
  return std::make_shared<Memories>(std::vector<std::unique_ptr<fabric::Memory>>{});
}

class Reclaim : public testing::Test {
 protected:
  // Makes a collective call, in which the other rank announces `theirs`.
  std::vector<base::Blob> call(std::vector<Announcing::Announcement> theirs = {}) {
    control_.theirs = std::move(theirs);
    return reclaimer_.gather_and_announce(base::Writer().put_string("mine").blob(), "a test");
  }

  void retire_chain(std::uint32_t id, std::shared_ptr<Memories> memory, int asked_in_vain, bool in_order) {
    std::vector<std::unique_ptr<fabric::Program>> programs;
    programs.push_back(std::make_unique<Lingering>(asked_in_vain, asked_));
    reclaimer_.retire(id, RetiredChain(std::move(programs), {std::move(memory)}, in_order));
  }

  std::vector<bool> asked_;
  Announcing control_;
  Reclaimer reclaimer_{control_};
};

TEST_F(Reclaim, WhatIsGatheredComesThroughBesideTheAnnouncements) {
  reclaimer_.retire(3, some_memory());
  const std::vector<base::Blob> all = call({{3}, {4}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(base::Reader(all[0]).get_string(), "mine");
  EXPECT_EQ(base::Reader(all[1]).get_string(), "theirs");
}

TEST_F(Reclaim, AWindowsMemoryGoesOneCallAfterAllHaveReleasedIt) {
  for (const bool others_first : {false, true}) {
    if (others_first) call({{7}});
    auto memory = some_memory();
    const std::weak_ptr<Memories> alive = memory;
    reclaimer_.retire(7, std::move(memory));
    if (!others_first) {
      call();
      EXPECT_FALSE(reclaimer_.has_released());
      reclaimer_.free_released();
      EXPECT_FALSE(alive.expired()) << "the other rank has not released it";
      call({{7}});
    } else {
      call();
    }
    EXPECT_TRUE(reclaimer_.has_released());
    EXPECT_FALSE(alive.expired()) << "the other rank may not know yet";
    reclaimer_.free_released();
    EXPECT_FALSE(reclaimer_.has_released());
    EXPECT_TRUE(alive.expired());
  }
}

TEST_F(Reclaim, AChainsProgramsEndOnceAllHaveReleasedIt) {
  auto memory = some_memory();
  const std::weak_ptr<Memories> alive = memory;
  retire_chain(1, std::move(memory), 0, true);
  call();
  EXPECT_TRUE(asked_.empty());
  call({{1}});
  EXPECT_FALSE(asked_.empty());
  EXPECT_FALSE(alive.expired());
  reclaimer_.free_released();
  EXPECT_TRUE(alive.expired());
}

TEST_F(Reclaim, TheMemoryOfAnEndingChainStaysUntilItsFabricIsThrough) {
  auto memory = some_memory();
  const std::weak_ptr<Memories> alive = memory;
  retire_chain(1, std::move(memory), 2, true);
  call({{1, false}});
  reclaimer_.free_released();
  EXPECT_FALSE(alive.expired());
  call();
  EXPECT_FALSE(alive.expired());
  call();
  EXPECT_TRUE(alive.expired());
  ASSERT_GE(asked_.size(), 3u);
  for (const bool in_order : asked_) EXPECT_FALSE(in_order) << "the other rank dropped it amid a step";
}

TEST_F(Reclaim, OnlyThisRanksChainsTellWhetherAllWentInOrder) {
  reclaimer_.retire(1, some_memory());
  call({{2, false}});
  EXPECT_TRUE(reclaimer_.all_in_order());
  retire_chain(3, some_memory(), 0, false);
  EXPECT_FALSE(reclaimer_.all_in_order());
  call({{3}});
  EXPECT_TRUE(reclaimer_.all_in_order());
}

}  // namespace
}  // namespace tca::test
