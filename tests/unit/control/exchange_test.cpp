// Tests exchanges, in which ranks bring letters to some of the others and all vote.
#include <gtest/gtest.h>

#include "control/group_control.hpp"
#include "core/world/world_state.hpp"
#include "messages.hpp"
#include "ranks.hpp"

namespace tca::test {
namespace {

using control::Control, control::Exchanged, control::Letter;

struct Place {
  const char* name;
  std::unique_ptr<Ranks> (*make)();
};

class Exchanges : public testing::TestWithParam<Place> {};

Control& plane_of(World& world) { return core::WorldState::of(world).control(); }

base::Blob letter_of(int from, int to, std::size_t bytes) {
  return base::Blob(bytes + static_cast<std::size_t>(from), static_cast<std::byte>(16 * from + to));
}

// Every rank writes to those of a smaller number of the same parity, so that some get nothing and some send nothing.
bool writes(int from, int to) { return from > to && (from - to) % 2 == 0; }

void correspond(Control& control, std::size_t bytes) {
  const int me = control.rank(), size = control.size();
  std::vector<Letter> letters;
  for (int to = 0; to < size; ++to)
    if (writes(me, to)) letters.push_back({to, letter_of(me, to, bytes)});
  const auto number = static_cast<std::uint64_t>(me);
  const Exchanged come = control.exchange(letters, {number, 100 - number, 0, bytes}, "the test");
  const control::Votes votes{static_cast<std::uint64_t>(size - 1), 100, 0, bytes, 0};
  require(come.votes == votes, "the votes are {}, {}", come.votes[0], come.votes[1]);
  auto next = come.letters.begin();
  for (int from = 0; from < size; ++from) {
    if (!writes(from, me)) continue;
    require(next != come.letters.end() && next->rank == from, "nothing has come from rank {}", from);
    require(next->bytes == letter_of(from, me, bytes), "the letter of rank {} is wrong", from);
    ++next;
  }
  require(next == come.letters.end(), "{} letters have come", come.letters.size());
}

TEST_P(Exchanges, LettersComeToThoseWhomTheyAreFor) {
  const auto body = [](World& world) {
    Control& control = plane_of(world);
    for (const std::size_t bytes : {0u, 1u, 150u, 5'000u, 40'000u}) {
      correspond(control, bytes);
      correspond(control, bytes / 2);
      const std::vector<base::Blob> all = control.all_gather(letter_of(control.rank(), 0, bytes), "the test");
      require(all.back() == letter_of(control.size() - 1, 0, bytes), "a gathered blob is wrong");
    }
  };
  EXPECT_EQ(GetParam().make()->run(5, body), "");
}

TEST_P(Exchanges, InAGroup) {
  const auto body = [](World& world) {
    if (world.rank() == 1) return;
    control::GroupControl group(plane_of(world), {3, 0, 2}, 0);
    for (const std::size_t bytes : {0u, 20'000u}) correspond(group, bytes);
  };
  EXPECT_EQ(GetParam().make()->run(4, body), "");
}

TEST_P(Exchanges, DifferentCallsAreToldInTheSameWords) {
  const auto body = [](World& world) {
    Control& control = plane_of(world);
    const Caught error = caught([&] {
      if (world.rank() == 0)
        control.all_gather({}, "one call");
      else if (world.rank() == 1)
        control.exchange({{0, letter_of(1, 0, 30)}}, {}, "one call");
      else
        control.barrier("another call");
    });
    require(error.code == Errc::refused, "{}", error.message);
    require(error.message.starts_with("rank 0 is in one call, rank 2 in another call; every rank"), "{}",
            error.message);
    correspond(control, 10);
  };
  EXPECT_EQ(GetParam().make()->run(3, body), "");
}

TEST_P(Exchanges, ARankThatIsGoneIsTold) {
  const auto body = [](World& world) {
    if (world.rank() == 0) throw std::runtime_error("rank 0 has had enough");
    const Caught error = caught([&] { correspond(plane_of(world), 10); });
    require(error.code == Errc::rank_lost, "{}", error.message);
    require(error.fields.missing == std::vector<int>{0}, "{}", error.message);
    throw std::runtime_error("rank 0 has had enough");
  };
  EXPECT_EQ(GetParam().make()->run(3, body), "rank 0 has had enough");
}

// What one rank alone meets, every rank is told, and nobody gathers anything as long as all goes well.
TEST_P(Exchanges, OnlyWhereSomethingIsWrongDoRanksGather) {
  const auto body = [](World& world) {
    Control& control = plane_of(world);
    const std::uint64_t before = control.meetings();
    control.do_together("the test", [] {});
    require(control.meetings() == before + 1, "{} meetings", control.meetings() - before);
    const Caught error = caught([&] {
      control.do_together("the test", [&] {
        if (world.rank() == 1) throw Error(Errc::out_of_memory, "no room");
      });
    });
    require(error.code == Errc::out_of_memory && error.message == "rank 1: no room", "{}", error.message);
  };
  EXPECT_EQ(GetParam().make()->run(3, body), "");
}

INSTANTIATE_TEST_SUITE_P(, Exchanges,
                         testing::Values(Place{"threads", [] { return thread_ranks(); }},
                                         Place{"processes", [] { return process_ranks(); }},
                                         Place{"sim", [] { return thread_ranks("sim"); }}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tca::test
