// Tests programs that take turns on one thread.
#include "base/system/fibers.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace tca::test {
namespace {

using base::Fibers;

TEST(Fibers, RunInTheOrderThatTheyName) {
  if (!Fibers::available) GTEST_SKIP() << "sanitizers take the stack of a fiber for a bug";
  Fibers fibers(3);
  std::string order;
  fibers.run([&](std::size_t fiber) {
    for (int turn = 0; turn < 2; ++turn) {
      order += static_cast<char>('a' + fiber);
      fibers.name_next((fiber + 2) % 3);
      if (turn == 0) fibers.yield();
    }
    if (order.size() == 6) fibers.name_next(fiber);  // the last one to end
  });
  EXPECT_EQ(order, "acbacb");
}

// A fiber yields in a handler and in a destructor on the way to one, and finds its own exception afterwards.
TEST(Fibers, HaveExceptionsOfTheirOwn) {
  if (!Fibers::available) GTEST_SKIP() << "sanitizers take the stack of a fiber for a bug";
  Fibers fibers(2);
  std::vector<std::string> met(2);
  std::vector<int> unwinding(2);
  fibers.run([&](std::size_t fiber) {
    const auto other_turn = [&] {
      fibers.name_next(1 - fiber);
      fibers.yield();
    };
    struct AtEnd {
      const std::function<void()> run;
      ~AtEnd() { run(); }
    };
    try {
      const AtEnd end{[&] {
        other_turn();
        unwinding[fiber] = std::uncaught_exceptions();
      }};
      throw std::string(fiber == 0 ? "first" : "second");
    } catch (const std::string&) {
      other_turn();
      try {
        throw;
      } catch (const std::string& mine) {
        met[fiber] = mine;
      }
    }
    if (fiber == 0) fibers.name_next(1);
  });
  EXPECT_EQ(met, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(unwinding, (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace tca::test
