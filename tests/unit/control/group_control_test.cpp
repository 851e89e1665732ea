// Tests what some of the ranks exchange among themselves, while others do the same or none of it.
#include "control/group_control.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "control/shm/seat_gather.hpp"
#include "core/world/world_state.hpp"
#include "messages.hpp"
#include "ranks.hpp"

namespace tca::test {
namespace {

using control::Control, control::GroupControl;

struct Way {
  const char* name;
  std::unique_ptr<Ranks> (*make)();
};

class Groups : public testing::TestWithParam<Way> {};

Control& control_of(World& world) { return core::WorldState::of(world).control(); }

base::Blob bytes_of(std::size_t bytes, int mark) { return base::Blob(bytes, static_cast<std::byte>(mark)); }

// What each member brings has its own length and mark.
void exchange(Control& group, const std::vector<int>& members, std::size_t bytes, int round) {
  const auto length = [&](int rank) { return bytes + static_cast<std::size_t>(rank); };
  const int me = members[static_cast<std::size_t>(group.rank())];
  const std::vector<base::Blob> all = group.all_gather(bytes_of(length(me), me + round), "the test");
  require(all.size() == members.size(), "{} of {} blobs came", all.size(), members.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    require(all[i] == bytes_of(length(members[i]), members[i] + round), "the blob of member {} is wrong", i);
}

TEST_P(Groups, RowsAndColumnsAndTheWorldInTurn) {
  const auto body = [](World& world) {
    constexpr int columns = 3;
    const int row = world.rank() / columns, column = world.rank() % columns;
    const std::vector<int> in_row{row * columns, row * columns + 1, row * columns + 2};
    const std::vector<int> in_column{column + columns, column};  // numbered the other way round
    GroupControl of_row(control_of(world), in_row, 0), of_column(control_of(world), in_column, 0);
    require(of_row.rank() == column, "rank {} of the row", of_row.rank());
    require(of_column.rank() == 1 - row, "rank {} of the column", of_column.rank());
    int round = 0;
    for (const std::size_t bytes : {0u, 1u, 150u, 5'000u, 70'000u}) {
      exchange(of_row, in_row, bytes, ++round);
      if (row == 0) exchange(of_row, in_row, bytes, ++round);  // one row runs ahead
      exchange(of_column, in_column, bytes, 10);
      round = 10;
      std::vector<int> everybody(static_cast<std::size_t>(world.size()));
      std::iota(everybody.begin(), everybody.end(), 0);
      exchange(control_of(world), everybody, bytes, ++round);
    }
  };
  EXPECT_EQ(GetParam().make()->run(6, body), "");
}

TEST_P(Groups, InGroupsAndAlone) {
  const auto body = [](World& world) {
    if (world.rank() != 2) {
      GroupControl outer(control_of(world), {3, 1, 0}, 0);
      exchange(outer, {3, 1, 0}, 10, 0);
      if (world.rank() != 1) {
        GroupControl inner(outer, {0, 2}, 0);  // ranks 3 and 0 of the world
        exchange(inner, {3, 0}, 20'000, 1);
      } else {
        GroupControl alone(outer, {1}, 0);
        exchange(alone, {1}, 20'000, 1);
      }
    }
    world.barrier();
  };
  EXPECT_EQ(GetParam().make()->run(4, body), "");
}

TEST_P(Groups, ARankThatDoesNotComeIsNamedByItsNumberInTheGroup) {
  const auto body = [](World& world) {
    if (world.rank() != 0) {
      GroupControl group(control_of(world), {2, 1}, 0);
      if (world.rank() == 1) {
        group.time_limit = std::chrono::milliseconds(200);
        const Caught error = caught([&] { group.barrier("the test"); });
        require(error.code == Errc::timed_out, "{}", error.message);
        require(error.fields.missing == std::vector<int>{0}, "{}", error.message);
      }
    }
    world.barrier();
  };
  // On a modelled machine nothing can go on, which all ranks are told, by their numbers in the world.
  const std::string error = GetParam().make()->run(3, body);
  if (GetParam().name == std::string("sim"))
    EXPECT_TRUE(says(error, {"deadlock", "rank 1 waits in the test for rank 2"}));
  else
    EXPECT_EQ(error, "");
}

// Two ranks that call two groups in different orders wait for each other, or find out.
TEST_P(Groups, DifferentOrdersAreAnError) {
  const auto body = [](World& world) {
    const int me = world.rank();
    GroupControl first(control_of(world), {0, 1}, 0), second(control_of(world), {0, 1}, 1);
    first.time_limit = second.time_limit = std::chrono::milliseconds(300);
    const Caught error = caught([&] { (me == 0 ? first : second).barrier("the test"); });
    require(error.code == Errc::timed_out || error.code == Errc::refused, "{}", error.message);
    world.barrier();
  };
  EXPECT_EQ(GetParam().make()->run(2, body), "");
}

TEST_P(Groups, ARankThatIsGoneIsTold) {
  const auto body = [](World& world) {
    if (world.rank() == 0) throw std::runtime_error("rank 0 has had enough");
    GroupControl group(control_of(world), {1, 0}, 0);
    const Caught error = caught([&] { group.barrier("the test"); });
    require(error.code == Errc::rank_lost, "{}", error.message);
    require(error.fields.missing == std::vector<int>{1}, "{}", error.message);
    throw std::runtime_error("rank 0 has had enough");
  };
  EXPECT_EQ(GetParam().make()->run(2, body), "rank 0 has had enough");
}

INSTANTIATE_TEST_SUITE_P(, Groups,
                         testing::Values(Way{"threads", [] { return thread_ranks(); }},
                                         Way{"processes", [] { return process_ranks(); }},
                                         Way{"sim", [] { return thread_ranks("sim"); }}),
                         [](const auto& test) { return test.param.name; });

// Ranks 0 and 1 are through with the world's last meeting, rank 2 is not: their mailboxes may still be read.
TEST(SeatGather, ShortBlobsWaitForNobodyOutside) {
  const std::size_t bytes = shm::Rendezvous::bytes(3);
  std::vector<std::byte> memory(bytes + alignof(shm::Seat));
  void* aligned = memory.data();
  std::size_t room = memory.size();
  std::align(alignof(shm::Seat), bytes, aligned, room);
  const shm::Rendezvous meeting(static_cast<std::byte*>(aligned));
  shm::Rendezvous(meeting).format(3);
  constexpr std::uint32_t last = 2;
  for (const int rank : {0, 1, 2}) meeting.arrive(rank, last - 1);
  for (const int rank : {0, 1}) meeting.arrive(rank, last);
  const auto exchange = [&](std::uint64_t number, std::size_t size) {
    const control::Subset pair{{0, 1}, 7, number};
    shm::SeatGather zero(meeting, 0, last, pair, bytes_of(size, 1)),
        one(meeting, 1, last, pair, bytes_of(size, 2));
    bool done = false;
    for (int look = 0; look < 4; ++look) {
      done = zero.advance();
      done &= one.advance();
    }
    return done && zero.take()[1] == bytes_of(size, 2) && one.take()[0] == bytes_of(size, 1);
  };
  EXPECT_TRUE(exchange(0, shm::small_blob));
  EXPECT_FALSE(exchange(1, shm::small_blob + 1));
  meeting.arrive(2, last);
  EXPECT_TRUE(exchange(2, shm::small_blob + 1));
}

}  // namespace
}  // namespace tca::test
