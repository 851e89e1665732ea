// Random ranks beside a model of MPI's rules: each message goes to one receive, and the receives of a rank, in the order in which
// they were posted, each have the first message of its source that they match and no earlier one has.
//
// A round has a plan, and ends when all of it has arrived. Receives are random: of what they miss, receives of anything take the
// rest, and what is left of them is cancelled.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "plan.hpp"
#include "ranks.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

using p2p::any_source;
using p2p::any_tag;
using p2p::Failure;
using p2p::Mode;
using p2p::Request;

const p2p::Options small_rings{
    .ring_bytes = 8192, .fragment_bytes = 1024, .offered_from = 12'000, .idle = {}};
constexpr unsigned messages_a_round = 100;

struct Receive {
  Request request;
  int source = any_source;
  std::int32_t tag = any_tag;
  std::size_t bytes = 0;
  bool is_scattered = false;
  bool is_counted = false;
  std::vector<std::byte> buffer;

  std::byte byte(std::size_t at) const {
    return buffer[is_scattered ? at / EveryThird::element * EveryThird::pitch + at % EveryThird::element
                               : at];
  }
};

struct Sent {
  Request request;
  std::vector<std::byte> buffer;
};

// A rank, or a thread of one, with a communicator of its own.
class Player {
 public:
  Player(p2p::Engine& engine, int rank, int ranks, std::uint32_t context, unsigned seed)
      : engine_(engine),
        context_(engine.context(context)),
        rank_(rank),
        ranks_(ranks),
        random_(seed * 31 + context * 7 + static_cast<unsigned>(rank)) {}

  // Returns what went wrong, or nothing. `all_have_sent` returns once all ranks have started their sends.
  std::string play(std::vector<Planned> plan, const std::function<void()>& all_have_sent) {
    plan_ = std::move(plan);
    receives_.clear();
    sent_.clear();
    for (const Planned& message : plan_) {
      while (chance(45)) do_something();
      if (message.from == rank_) send(message);
    }
    all_have_sent();
    take_the_rest();
    for (Sent& each : sent_) engine_.wait(each.request);
    return check();
  }

 private:
  bool chance(unsigned percent) { return random_in(random_, 1, 100) <= percent; }

  void send(const Planned& message) {
    const bool is_scattered = chance(30);
    std::vector<std::byte> buffer(is_scattered ? EveryThird::extent(message.bytes) : message.bytes);
    std::vector<std::byte> bytes(message.bytes);
    for (std::size_t at = 0; at < message.bytes; ++at) bytes[at] = message.byte(at);
    if (is_scattered)
      every_third.scatter(buffer.data(), 0, message.bytes, bytes.data());
    else
      buffer = std::move(bytes);
    const p2p::Source source{buffer.data(), message.bytes, is_scattered ? &every_third : nullptr};
    const Mode mode = chance(15) ? Mode::synchronous : chance(15) ? Mode::buffered : Mode::standard;
    if (mode == Mode::buffered && chance(50)) {
      engine_.send(context_, message.to, message.tag, source, mode);
      return;
    }
    Sent& sent = sent_.emplace_back();
    sent.buffer = std::move(buffer);
    engine_.start_send(sent.request, context_, message.to, message.tag, source, mode);
    // A buffered one is complete at once, and its buffer the program's.
    if (mode == Mode::buffered) std::fill(sent.buffer.begin(), sent.buffer.end(), std::byte{0});
  }

  Receive& make_receive(int source, std::int32_t tag) {
    Receive& receive = receives_.emplace_back();
    receive.source = source;
    receive.tag = tag;
    receive.bytes = chance(80) ? 40'000 : random_size(random_);
    receive.is_scattered = chance(30);
    receive.buffer.resize(receive.is_scattered ? EveryThird::extent(receive.bytes) : receive.bytes);
    return receive;
  }
  static p2p::Target target(Receive& receive) {
    return {receive.buffer.data(), receive.bytes, receive.is_scattered ? &every_third : nullptr};
  }
  void post(int source, std::int32_t tag) {
    Receive& receive = make_receive(source, tag);
    engine_.start_receive(receive.request, context_, source, tag, target(receive));
  }

  void do_something() {
    const int source =
        chance(40) ? any_source : static_cast<int>(random_in(random_, 0, static_cast<unsigned>(ranks_) - 1));
    const std::int32_t tag = chance(40) ? any_tag : static_cast<std::int32_t>(random_in(random_, 0, 3));
    switch (random_in(random_, 0, 5)) {
      case 0:
        probe(source, tag);
        break;
      case 1:
        match(source, tag);
        break;
      case 2:
        cancel();
        break;
      case 3:
        test();
        break;
      default:
        post(source, tag);
    }
  }

  void probe(int source, std::int32_t tag) {
    const auto envelope = engine_.probe(context_, source, tag);
    if (!envelope) return;
    post(envelope->source, envelope->tag);
    Receive& receive = receives_.back();
    engine_.wait(receive.request);
    if (receive.request.envelope.bytes != std::min(envelope->bytes, receive.bytes))
      problem_ = "another message than was probed";
  }
  void match(int source, std::int32_t tag) {
    p2p::Arrival* const message = engine_.match(context_, source, tag);
    if (message == nullptr) return;
    Receive& receive = make_receive(source, tag);
    engine_.start_receive(receive.request, *message, target(receive));
  }
  void cancel() {
    if (!receives_.empty()) engine_.cancel(any_receive().request);
  }
  void test() {
    if (receives_.empty()) return;
    Receive& receive = any_receive();
    if (engine_.test(receive.request)) count(receive);
  }
  Receive& any_receive() {
    return receives_[random_in(random_, 0, static_cast<unsigned>(receives_.size()) - 1)];
  }

  void count(Receive& receive) {
    if (receive.is_counted) return;
    receive.is_counted = true;
    if (!receive.request.is_cancelled) ++arrived_;
  }

  void take_the_rest() {
    const auto expected = static_cast<std::size_t>(
        std::ranges::count_if(plan_, [&](const Planned& message) { return message.to == rank_; }));
    arrived_ = 0;
    for (Receive& receive : receives_) receive.is_counted = false;
    p2p::Engine::Patience patience(engine_);
    for (;;) {
      for (Receive& receive : receives_)
        if (engine_.test(receive.request)) count(receive);
      if (arrived_ == expected) break;
      if (engine_.probe(context_, any_source, any_tag)) post(any_source, any_tag);
      patience.pause();
    }
    for (Receive& receive : receives_) engine_.cancel(receive.request);
  }

  std::string check() {
    if (engine_.probe(context_, any_source, any_tag)) return "a message more than were sent";
    for (std::size_t each = 0; each < receives_.size(); ++each) {
      Receive& receive = receives_[each];
      if (!engine_.test(receive.request)) return "receive " + std::to_string(each) + " is not done";
      if (receive.request.is_cancelled) continue;
      const std::string wrong = check(receive);
      if (!wrong.empty()) return "receive " + std::to_string(each) + ": " + wrong;
    }
    return problem_;
  }
  std::string check(const Receive& receive) {
    const p2p::Envelope& envelope = receive.request.envelope;
    if (receive.source != any_source && envelope.source != receive.source) return "another source";
    for (Planned& message : plan_) {
      const bool matches = !message.is_taken && message.to == rank_ && message.from == envelope.source &&
                           (receive.tag == any_tag || receive.tag == message.tag);
      if (!matches) continue;
      message.is_taken = true;
      if (envelope.tag != message.tag) return "overtaken, by tag";
      if (envelope.bytes != std::min(message.bytes, receive.bytes)) return "overtaken, by length";
      if ((receive.request.failure == Failure::truncated) != (message.bytes > receive.bytes))
        return "truncation";
      for (std::size_t at = 0; at < envelope.bytes; ++at)
        if (receive.byte(at) != message.byte(at)) return "byte " + std::to_string(at);
      return {};
    }
    return "a message that nobody sent";
  }

  p2p::Engine& engine_;
  p2p::Context& context_;
  int rank_, ranks_;
  std::mt19937 random_;
  std::vector<Planned> plan_;
  std::deque<Receive> receives_;
  std::deque<Sent> sent_;
  std::size_t arrived_ = 0;
  std::string problem_;
};

// `threads` players of each rank, each of which plays with those of the other ranks that have its number.
std::string play_rank(const Rank& rank, int ranks, int threads, unsigned rounds, unsigned seed,
                      std::deque<Meeting>& meetings) {
  std::vector<std::string> wrong(static_cast<std::size_t>(threads));
  const auto play = [&](int thread) {
    const auto number = static_cast<unsigned>(thread);
    Player player(rank.engine, rank.number, ranks, number, seed);
    std::string& mine = wrong[number];
    for (unsigned round = 0; round < rounds && mine.empty(); ++round) {
      const unsigned plan_seed = seed + number * 1000;
      mine = player.play(plan_round(plan_seed, round, ranks, messages_a_round),
                         [&] { meetings[number].barrier(); });
      if (!mine.empty())
        mine = "round " + std::to_string(round) + ", rank " + std::to_string(rank.number) + ": " + mine;
      // Nobody begins a round before all have ended the one before it.
      meetings[number].barrier();
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(play, thread);
  play(0);
  for (std::thread& thread : others) thread.join();
  std::string all;
  for (const std::string& each : wrong) all += each;
  return all;
}

TEST(RandomMessages, ObeyTheRulesAmongThreads) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  constexpr int ranks = 3, threads = 2;
  std::deque<Meeting> meetings;
  for (int thread = 0; thread < threads; ++thread) meetings.emplace_back(ranks);

  run_threads(
      ranks,
      [&](const Rank& rank) { EXPECT_EQ(play_rank(rank, ranks, threads, 50, seed.value(), meetings), ""); },
      small_rings);
}

TEST(RandomMessages, ObeyTheRulesAmongProcesses) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  constexpr int ranks = 3;
  const auto program = [&](const Rank& rank) {
    Player player(rank.engine, rank.number, ranks, 0, seed.value());
    for (unsigned round = 0; round < 100; ++round) {
      const auto wrong = player.play(plan_round(seed.value(), round, ranks, messages_a_round),
                                     [&] { rank.meeting.barrier(); });
      if (!wrong.empty()) {
        std::fprintf(stderr, "round %u, rank %d: %s\n", round, rank.number, wrong.c_str());
        _exit(1);
      }
      rank.meeting.barrier();
    }
  };

  const Ended ended = run_processes(ranks, program, small_rings);

  if (ended == Ended::apart) GTEST_SKIP() << "processes may not read each other's memory here";
  EXPECT_EQ(ended, Ended::well);
}

}  // namespace
}  // namespace tca::test
