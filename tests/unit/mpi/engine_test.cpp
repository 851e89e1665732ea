#include "mpi/engine/engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "ranks.hpp"

namespace tca::test {
namespace {

using p2p::any_source;
using p2p::any_tag;
using p2p::Arrival;
using p2p::Context;
using p2p::Engine;
using p2p::Failure;
using p2p::Mode;
using p2p::Options;
using p2p::Request;

// Small, so that rings are full and messages are offered soon.
const Options tight{.ring_bytes = 4096, .fragment_bytes = 1024, .offered_from = 8192, .idle = {}};

std::vector<int> numbers(std::size_t count, int first = 0) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

p2p::Source from(const std::vector<int>& values) { return {values.data(), values.size() * sizeof(int)}; }
p2p::Target into(std::vector<int>& values) { return {values.data(), values.size() * sizeof(int)}; }

void receive(const Rank& rank, Request& request, int source, int tag, std::vector<int>& values) {
  rank.engine.start_receive(request, rank.engine.context(0), source, tag, into(values));
  rank.engine.wait(request);
}

void send(const Rank& rank, int to, int tag, const std::vector<int>& values, Mode mode = Mode::standard) {
  rank.engine.send(rank.engine.context(0), to, tag, from(values), mode);
}

class Sizes : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Engine, Sizes, testing::Values(0, 2, 10, 11, 60, 1024, 1025, 2047, 2048, 100'000));

TEST_P(Sizes, ArriveBeforeAndAfterTheirReceive) {
  const std::size_t count = GetParam();
  run_threads(
      2,
      [&](const Rank& rank) {
        if (rank.number == 0) {
          Request early;
          const auto values = numbers(count);
          rank.engine.start_send(early, rank.engine.context(0), 1, 1, from(values));
          rank.meeting.barrier();
          rank.engine.wait(early);
          send(rank, 1, 2, numbers(count, 7));
        } else {
          std::vector<int> values(count);
          Request request;
          rank.meeting.barrier();
          receive(rank, request, 0, 1, values);
          EXPECT_EQ(values, numbers(count));
          receive(rank, request, 0, 2, values);
          EXPECT_EQ(values, numbers(count, 7));
          EXPECT_EQ(request.envelope.bytes, count * sizeof(int));
        }
      },
      tight);
}

TEST_P(Sizes, ReachTheRankItself) {
  const std::size_t count = GetParam();
  run_threads(1, [&](const Rank& rank) {
    for (const Mode mode : {Mode::standard, Mode::synchronous, Mode::buffered}) {
      Request posted, sent, received;
      const auto values = numbers(count);
      std::vector<int> first(count), second(count);
      Context& context = rank.engine.context(0);
      rank.engine.start_receive(posted, context, 0, 1, into(first));
      rank.engine.start_send(sent, context, 0, 1, from(values), mode);
      rank.engine.wait(posted);
      EXPECT_TRUE(rank.engine.test(sent));
      rank.engine.start_send(sent, context, 0, 1, from(values), mode);
      EXPECT_EQ(rank.engine.test(sent), mode == Mode::buffered || (mode == Mode::standard && count < 30'000));
      rank.engine.start_receive(received, context, any_source, any_tag, into(second));
      EXPECT_TRUE(rank.engine.test(sent));
      EXPECT_TRUE(rank.engine.test(received));
      EXPECT_EQ(first, values);
      EXPECT_EQ(second, values);
    }
  });
}

TEST(Engine, FindsTheFirstMessageThatAReceiveMatches) {
  run_threads(2, [](const Rank& rank) {
    if (rank.number == 0) {
      for (const int tag : {5, 6, 5}) send(rank, 1, tag, {tag * 10 + rank.number});
      rank.meeting.barrier();
      return;
    }
    rank.meeting.barrier();
    std::vector<int> value(1);
    Request request;
    receive(rank, request, 0, 6, value);
    EXPECT_EQ(value[0], 60);
    receive(rank, request, any_source, any_tag, value);
    EXPECT_EQ(request.envelope.tag, 5);
    EXPECT_EQ(request.envelope.source, 0);
    EXPECT_EQ(request.envelope.bytes, sizeof(int));
  });
}

TEST(Engine, KeepsCommunicatorsApart) {
  run_threads(2, [](const Rank& rank) {
    std::vector<int> value{rank.number};
    if (rank.number == 0) {
      rank.engine.send(rank.engine.context(3), 1, 0, from({3}));
      rank.engine.send(rank.engine.context(2), 1, 0, from({2}));
      return;
    }
    for (const std::uint32_t number : {2u, 3u}) {
      Request request;
      rank.engine.start_receive(request, rank.engine.context(number), any_source, any_tag, into(value));
      rank.engine.wait(request);
      EXPECT_EQ(value[0], static_cast<int>(number));
    }
  });
}

TEST(Engine, SaysThatAMessageWasTooLong) {
  for (const std::size_t count : {4u, 400u, 4000u}) {
    run_threads(
        2,
        [&](const Rank& rank) {
          if (rank.number == 0) return send(rank, 1, 0, numbers(count));
          std::vector<int> values(4, -1);
          Request request;
          rank.engine.start_receive(request, rank.engine.context(0), 0, 0, {values.data(), 3 * sizeof(int)});
          rank.engine.wait(request);
          EXPECT_EQ(request.failure, Failure::truncated);
          EXPECT_EQ(request.envelope.bytes, 3 * sizeof(int));
          EXPECT_EQ(values, (std::vector{0, 1, 2, -1}));
        },
        tight);
  }
}

TEST(Engine, CompletesASynchronousSendWhenItIsMatched) {
  for (const std::size_t count : {1u, 1000u, 10'000u}) {
    run_threads(
        2,
        [&](const Rank& rank) {
          if (rank.number == 0) {
            Request request;
            const auto values = numbers(count);
            rank.engine.start_send(request, rank.engine.context(0), 1, 0, from(values), Mode::synchronous);
            EXPECT_FALSE(rank.engine.test(request));
            rank.meeting.barrier();
            rank.engine.wait(request);
            return;
          }
          rank.meeting.barrier();
          std::vector<int> values(count);
          Request request;
          receive(rank, request, 0, 0, values);
          EXPECT_EQ(values, numbers(count));
        },
        tight);
  }
}

TEST(Engine, NeedsNothingOfAReceiverThatIsElsewhere) {
  constexpr int many = 3000;
  run_threads(
      2,
      [](const Rank& rank) {
        if (rank.number == 0) {
          for (int each = 0; each < many; ++each) send(rank, 1, each, {each});
          send(rank, 1, many, numbers(50'000), Mode::buffered);
          rank.meeting.barrier();
          return;
        }
        rank.meeting.barrier();
        std::vector<int> value(1), values(50'000);
        Request request;
        for (int each = many - 1; each >= 0; --each) {
          receive(rank, request, 0, each, value);
          EXPECT_EQ(value[0], each);
        }
        receive(rank, request, any_source, any_tag, values);
        EXPECT_EQ(values, numbers(50'000));
      },
      tight);
}

// A rank that has posted its receive and then does something else for good, such as a barrier of MPI.
TEST(Engine, ReceivesByItselfWhileTheRankIsElsewhere) {
  run_threads(2, [](const Rank& rank) {
    std::vector<int> values = numbers(100'000);
    Request request;
    if (rank.number == 0) {
      rank.meeting.barrier();
      rank.engine.send(rank.engine.context(0), 1, 0, from(values), Mode::synchronous);
      rank.meeting.barrier();
      return;
    }
    std::vector<int> come(values.size());
    rank.engine.start_receive(request, rank.engine.context(0), 0, 0, into(come));
    rank.meeting.barrier();
    rank.meeting.barrier();
    rank.engine.wait(request);
    EXPECT_EQ(come, values);
  });
}

TEST(Engine, ProbesAndTakesWhatItHasProbed) {
  for (const std::size_t count : {3u, 1000u, 5000u}) {
    run_threads(
        2,
        [&](const Rank& rank) {
          Context& context = rank.engine.context(0);
          if (rank.number == 0) {
            rank.meeting.barrier();
            send(rank, 1, 4, numbers(count), Mode::buffered);
            send(rank, 1, 4, {});
            return;
          }
          EXPECT_FALSE(rank.engine.probe(context, any_source, any_tag));
          EXPECT_EQ(rank.engine.match(context, 0, 4), nullptr);
          rank.meeting.barrier();
          std::optional<p2p::Envelope> envelope;
          rank.engine.wait_until(
              [&] { return (envelope = rank.engine.probe(context, any_source, 4)).has_value(); });
          EXPECT_EQ(envelope->bytes, count * sizeof(int));
          Arrival* const message = rank.engine.match(context, envelope->source, envelope->tag);
          ASSERT_NE(message, nullptr);
          std::vector<int> values(count), nothing;
          Request later, matched;
          receive(rank, later, 0, 4, nothing);
          EXPECT_EQ(later.failure, Failure::none);
          rank.engine.start_receive(matched, *message, into(values));
          rank.engine.wait(matched);
          EXPECT_EQ(values, numbers(count));
        },
        tight);
  }
}

TEST(Engine, CancelsReceivesThatHaveNoMessage) {
  run_threads(1, [](const Rank& rank) {
    Context& context = rank.engine.context(0);
    std::vector<int> value(1);
    Request cancelled, received;
    rank.engine.start_receive(cancelled, context, any_source, 3, into(value));
    rank.engine.cancel(cancelled);
    EXPECT_TRUE(rank.engine.test(cancelled));
    EXPECT_TRUE(cancelled.is_cancelled);
    send(rank, 0, 3, {9});
    rank.engine.start_receive(received, context, any_source, 3, into(value));
    rank.engine.cancel(received);
    EXPECT_FALSE(received.is_cancelled);
    EXPECT_EQ(value[0], 9);
  });
}

TEST(Engine, FreesSendsThatNobodyKeeps) {
  run_threads(
      2,
      [](const Rank& rank) {
        if (rank.number == 0) {
          const auto values = numbers(10'000);
          Request& request = rank.engine.make_request();
          rank.engine.start_send(request, rank.engine.context(0), 1, 0, from(values));
          rank.engine.release(request);
          rank.engine.wait_until([&] { return rank.engine.is_drained(); });
          EXPECT_EQ(&rank.engine.make_request(), &request);
          return;
        }
        std::vector<int> values(10'000);
        Request request;
        receive(rank, request, 0, 0, values);
      },
      tight);
}

TEST(Engine, JoinsProcesses) {
  const auto program = [](const Rank& rank) {
    const int other = 1 - rank.number;
    for (const std::size_t count : {1u, 3000u, 100'000u}) {
      std::vector<int> come(count);
      const auto sent = numbers(count, rank.number);
      Request receive, send;
      rank.engine.start_receive(receive, rank.engine.context(0), other, 0, into(come));
      rank.engine.start_send(send, rank.engine.context(0), other, 0, from(sent), Mode::synchronous);
      rank.engine.wait(send);
      rank.engine.wait(receive);
      if (come != numbers(count, other)) _exit(1);
    }
    // More than the ring holds, so that it goes on in memory of the sender's.
    for (int each = 0; each < 1000; ++each) send(rank, other, each, numbers(100, each));
    rank.meeting.barrier();
    for (int each = 999; each >= 0; --each) {
      std::vector<int> come(100);
      Request request;
      receive(rank, request, other, each, come);
      if (come != numbers(100, each)) _exit(1);
    }
  };

  const Ended ended = run_processes(2, program, tight);

  if (ended == Ended::apart) GTEST_SKIP() << "processes may not read each other's memory here";
  EXPECT_EQ(ended, Ended::well);
}

}  // namespace
}  // namespace tca::test
