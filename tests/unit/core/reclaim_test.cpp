// Tests when the memory of dropped objects is freed.
#include "core/world/reclaim.hpp"

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
  std::optional<control::Loss> lost(int) override { return {}; }
  void leave(const std::optional<control::Trouble>&) override {}
  base::Cores cores() const override { return base::Cores::enough; }
  std::unique_ptr<control::AllGather> begin_among(const control::Subset&, const base::Blob&) override {
    return nullptr;
  }

  std::vector<std::uint32_t> theirs;

 private:
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override {
    base::Writer writer;
    writer.put_string(what).put(theirs.size());
    for (const std::uint32_t id : theirs) writer.put(id);
    writer.put(std::size_t{0});  // groups
    theirs.clear();
    return {mine, writer.blob()};
  }
};

// A program that the fabric has completed only after being asked several times.
class Lingering final : public fabric::Program {
 public:
  Lingering(int asked_in_vain, int& asked) : asked_in_vain_(asked_in_vain), asked_(asked) {}
  void start() override {}
  bool test() override { return true; }
  std::vector<int> missing() const override { return {}; }
  bool end() override {
    ++asked_;
    return asked_in_vain_-- <= 0;
  }

 private:
  int asked_in_vain_;
  int& asked_;  // how many times it has been
};

std::shared_ptr<Memories> some_memory() {
  return std::make_shared<Memories>(std::vector<std::unique_ptr<fabric::Memory>>{});
}

class Reclaim : public testing::Test {
 protected:
  // Makes a collective call, in which the other rank announces `theirs`.
  void call(std::vector<std::uint32_t> theirs = {}) {
    control_.theirs = std::move(theirs);
    reclaimer_.end_ending();
    reclaimer_.announce("a test");
  }

  void retire_chain(std::uint32_t id, std::shared_ptr<Memories> memory, int asked_in_vain) {
    std::vector<std::unique_ptr<fabric::Program>> programs;
    programs.push_back(std::make_unique<Lingering>(asked_in_vain, asked_));
    reclaimer_.retire(id, RetiredChain(std::move(programs), {std::move(memory)}));
  }

  int asked_ = 0;
  Announcing control_;
  Reclaimer reclaimer_{control_};
};

TEST_F(Reclaim, AWindowsMemoryGoesOneCallAfterAllHaveReleasedIt) {
  for (const bool others_first : {false, true}) {
    if (others_first) call({7});
    auto memory = some_memory();
    const std::weak_ptr<Memories> alive = memory;
    reclaimer_.retire(7, std::move(memory));
    if (!others_first) {
      call();
      EXPECT_FALSE(reclaimer_.has_released());
      reclaimer_.free_released();
      EXPECT_FALSE(alive.expired()) << "the other rank has not released it";
      call({7});
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
  retire_chain(1, std::move(memory), 0);
  call();
  EXPECT_EQ(asked_, 0);
  call({1});
  EXPECT_GT(asked_, 0);
  EXPECT_FALSE(alive.expired());
  reclaimer_.free_released();
  EXPECT_TRUE(alive.expired());
}

TEST_F(Reclaim, TheMemoryOfAnEndingChainStaysUntilItsFabricIsThrough) {
  auto memory = some_memory();
  const std::weak_ptr<Memories> alive = memory;
  retire_chain(1, std::move(memory), 2);
  call({1});
  reclaimer_.free_released();
  EXPECT_FALSE(alive.expired());
  call();
  EXPECT_FALSE(alive.expired());
  call();
  EXPECT_TRUE(alive.expired());
  EXPECT_GE(asked_, 3);
}

}  // namespace
}  // namespace tca::test
