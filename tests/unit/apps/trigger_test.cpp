// Tests the trigger by what is true of its events: rings are found where they are, errors are those that the hits allow, and
// every datagram's fate is known.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "tca/error.hpp"
#include "tca/world.hpp"
#include "trigger/answerer.hpp"
#include "trigger/books/book.hpp"
#include "trigger/books/judge.hpp"
#include "trigger/books/latency.hpp"
#include "trigger/books/seen.hpp"
#include "trigger/books/summary.hpp"
#include "trigger/datagram.hpp"
#include "trigger/events.hpp"
#include "trigger/finder/find.hpp"
#include "trigger/ring.hpp"
#include "trigger/socket.hpp"

namespace tca::trigger {
namespace {

Answer found_in(const std::vector<Hit>& hits) {
  Answer answer{};
  const auto scratch = std::make_unique<Scratch>();
  find_rings(Alone{}, hits.data(), static_cast<std::uint32_t>(hits.size()), 0.01F, *scratch, answer);
  return answer;
}

// A run whose every event was answered once by the host.
Book answered(const Run& run) {
  Book book(run, {});
  const auto scratch = std::make_unique<Scratch>();
  for (std::uint64_t event = 0; event < run.events; ++event) {
    const std::vector<Hit> hits = make_event(run.physics, event).hits;
    Answer answer{};
    find_rings(Alone{}, hits.data(), static_cast<std::uint32_t>(hits.size()), 0.01F, *scratch, answer);
    answer.event = event;
    book.enter({.sequence = event, .first_event = event, .events = 1}, &answer);
  }
  return book;
}

TEST(TriggerFit, FindsTheCircleThroughExactPoints) {
  float x[12], y[12];
  for (int i = 0; i < 12; ++i) {
    x[i] = 0.4F + 0.11F * std::cos(0.5F * static_cast<float>(i));
    y[i] = 0.6F + 0.11F * std::sin(0.5F * static_cast<float>(i));
  }

  const Fit fit = fitted(Alone{}, {0.402F, 0.601F, 0.109F}, 0.01F, x, y, 12);

  EXPECT_EQ(fit.hits, 12U);
  EXPECT_NEAR(fit.ring.x, 0.4, 1e-5);
  EXPECT_NEAR(fit.ring.y, 0.6, 1e-5);
  EXPECT_NEAR(fit.ring.r, 0.11, 1e-5);
}

TEST(TriggerFind, FindsNoneWhereThereIsNone) {
  EXPECT_EQ(found_in({}).rings, 0U);
  EXPECT_EQ(found_in({{100, 100}, {200, 300}, {65535, 0}}).rings, 0U);
  EXPECT_EQ(found_in(std::vector<Hit>(most_hits, Hit{3000, 3000})).rings, 0U);
  std::vector<Hit> line;
  for (std::uint16_t i = 0; i < 40; ++i) line.push_back({static_cast<std::uint16_t>(1000 * i + 5000), 30000});
  EXPECT_EQ(found_in(line).rings, 0U);
}

TEST(TriggerFind, FindsTheRingsOfEvents) {
  const Verdict verdict = judge(answered({.events = 3000, .batch = 1, .physics = {.seed = 7}}));

  for (std::size_t rings = 0; rings <= 3; ++rings) {
    const Verdict::Events& events = verdict.by_rings[rings];
    EXPECT_GT(events.all, 600U);
    EXPECT_GE(static_cast<double>(events.right), 0.985 * static_cast<double>(events.all))
        << rings << " rings";
  }
  EXPECT_EQ(verdict.by_rings[0].false_rings, 0U);
}

TEST(TriggerFind, HasTheErrorsThatItsHitsAllow) {
  const Verdict verdict = judge(
      answered({.events = 4000, .batch = 1, .physics = {.fewest_rings = 1, .most_rings = 1, .noise = 0}}));

  for (const Pulls& pulls : {verdict.x, verdict.y, verdict.r}) {
    EXPECT_GE(pulls.number, 3990U);
    EXPECT_NEAR(pulls.mean(), 0, 5 / std::sqrt(4000.0));
    EXPECT_NEAR(pulls.width(), 1, 5 / std::sqrt(8000.0));
    EXPECT_TRUE(pulls.are_good());
  }
}

// Threads that stand for the lanes of a block of two warps, which have two lanes each.
class Threads {
 public:
  static constexpr std::uint32_t warps = 2, in_warp = 2, count = warps * in_warp, a_circle = in_warp;
  struct Warp {
    std::barrier<> barrier{in_warp};
    std::array<float, in_warp> sums;
  };
  struct Shared {
    std::barrier<> barrier{count};
    std::array<std::uint32_t, count> words;
    std::array<Warp, warps> of_warps;
  };

  // Those of a warp, which do not wait for the other one.
  class Few {
   public:
    static constexpr std::uint32_t count = in_warp;
    Few(std::uint32_t lane, Warp& warp) : lane_(lane), warp_(warp) {}
    std::uint32_t lane() const { return lane_; }
    float sum(float value) const {
      const auto all = exchanged(warp_.barrier, warp_.sums, lane_, value);
      return std::accumulate(all.begin(), all.end(), 0.0F);
    }

   private:
    std::uint32_t lane_;
    Warp& warp_;
  };

  Threads(std::uint32_t lane, Shared& shared) : lane_(lane), shared_(shared) {}

  std::uint32_t lane() const { return lane_; }
  Few few() const { return {lane_ % in_warp, shared_.of_warps[lane_ / in_warp]}; }
  void sync() const { shared_.barrier.arrive_and_wait(); }
  float sum_of_circle(float value) const { return few().sum(value); }
  std::uint32_t most(std::uint32_t value) const { return std::ranges::max(words(value)); }
  std::uint32_t before(bool value, std::uint32_t& all) const {
    const auto each = words(value ? 1 : 0);
    all = std::accumulate(each.begin(), each.end(), 0U);
    return std::accumulate(each.begin(), each.begin() + lane_, 0U);
  }
  void increase(std::uint16_t* numbers, std::uint32_t at) const { std::atomic_ref(numbers[at]).fetch_add(1); }

 private:
  template <class Value, std::size_t size>
  static std::array<Value, size> exchanged(std::barrier<>& barrier, std::array<Value, size>& place,
                                           std::uint32_t lane, Value value) {
    place[lane] = value;
    barrier.arrive_and_wait();
    const std::array<Value, size> all = place;
    barrier.arrive_and_wait();
    return all;
  }
  std::array<std::uint32_t, count> words(std::uint32_t value) const {
    return exchanged(shared_.barrier, shared_.words, lane_, value);
  }

  std::uint32_t lane_;
  Shared& shared_;
};

TEST(TriggerFind, IsTheSameWhereLanesShareTheWork) {
  constexpr std::uint64_t events = 3;
  std::vector<std::vector<Hit>> hits;
  for (std::uint64_t event = 0; event < events; ++event) hits.push_back(make_event({}, event).hits);
  std::vector<Answer> shared_out(events);  // of 3, 2 and no rings
  Scratch scratch;
  Threads::Shared shared;
  const auto work = [&](std::uint32_t lane) {
    for (std::size_t event = 0; event < events; ++event)
      find_rings(Threads(lane, shared), hits[event].data(), static_cast<std::uint32_t>(hits[event].size()),
                 0.01F, scratch, shared_out[event]);
  };
  {
    std::vector<std::jthread> others;
    for (std::uint32_t lane = 1; lane < Threads::count; ++lane) others.emplace_back(work, lane);
    work(0);
  }

  for (std::size_t event = 0; event < events; ++event) {
    const Answer alone = found_in(hits[event]);
    ASSERT_EQ(shared_out[event].rings, alone.rings) << "event " << event;
    EXPECT_EQ(shared_out[event].hits, alone.hits);
    for (std::uint32_t ring = 0; ring < alone.rings; ++ring)
      EXPECT_NEAR(shared_out[event].found[ring].ring.r, alone.found[ring].ring.r, 1e-5);
  }
}

TEST(TriggerJudge, SeesPullsThatAreOff) {
  Pulls shifted, wide;
  for (int i = 0; i < 100'000; ++i) {
    const double pull = Draws(1, Purpose::event, static_cast<std::uint64_t>(i)).normal();
    shifted.add(pull + 0.05);
    wide.add(1.05 * pull);
  }

  EXPECT_FALSE(shifted.are_good());
  EXPECT_FALSE(wide.are_good());
}

TEST(TriggerBook, CountsAnswersThatAreTwiceOrUnlike) {
  const trigger::Run run{.events = 4, .batch = 2};
  Book book(run, {});
  std::vector<Answer> answers(2);
  answers[1].event = 1;
  const Header header{.sequence = 0, .first_event = 0, .events = 2};

  book.enter(header, answers.data());
  EXPECT_EQ((std::array{book.answered(), book.again(), book.wrong()}),
            (std::array<std::uint64_t, 3>{2, 0, 0}));

  book.enter(header, answers.data());
  book.enter({.sequence = 1, .first_event = 2, .events = 2}, answers.data());  // which name events 0 and 1
  EXPECT_EQ((std::array{book.answered(), book.again(), book.wrong()}),
            (std::array<std::uint64_t, 3>{4, 2, 2}));
}

// A datagram with its header, as it is on the wire.
std::vector<std::byte> datagram(const Run& run, std::uint64_t sequence) {
  std::vector<std::vector<Hit>> hits;
  for (std::uint32_t event = 0; event < events_of(run, sequence); ++event)
    hits.push_back(make_event(run.physics, sequence * run.batch + event).hits);
  const std::vector<std::byte> payload = pack(hits);
  const Header header{.magic = Header::right_magic,
                      .run = run.number,
                      .sequence = sequence,
                      .first_event = sequence * run.batch,
                      .events = events_of(run, sequence),
                      .bytes = static_cast<std::uint32_t>(sizeof(Header) + payload.size())};
  std::vector<std::byte> bytes(header.bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, payload.data(), payload.size());
  return bytes;
}

TEST(TriggerDatagram, HasTheHitsThatWerePacked) {
  const trigger::Run run{.events = 7, .batch = 7};
  std::vector<std::byte> bytes = datagram(run, 0);
  const auto* const header = reinterpret_cast<const Header*>(bytes.data());

  ASSERT_TRUE(is_sound(*header, bytes.size(), 0, 7));
  for (std::uint32_t event = 0; event < 7; ++event) {
    const std::vector<Hit> packed = make_event(run.physics, event).hits;
    const Hits hits = hits_of(header, event);
    ASSERT_EQ(hits.count, packed.size());
    EXPECT_EQ(packed.empty() || std::memcmp(hits.first, packed.data(), hits.count * sizeof(Hit)) == 0, true);
  }
}

TEST(TriggerDatagram, IsRefusedWhereItIsDamaged) {
  const trigger::Run run{.events = 8, .batch = 8, .number = 5};
  const std::vector<std::byte> whole = datagram(run, 0);
  const auto is_sound_with = [&](std::size_t size, std::size_t at, int change, std::uint32_t number = 5) {
    std::vector<std::byte> bytes = whole;
    bytes[at] ^= std::byte(change);
    return is_sound(*reinterpret_cast<const Header*>(bytes.data()), size, number, 8);
  };

  EXPECT_TRUE(is_sound_with(whole.size(), 0, 0));
  EXPECT_FALSE(is_sound_with(whole.size(), 0, 0, 6));  // of another run
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(is_sound_with(size, 0, 0)) << size;
  EXPECT_FALSE(is_sound_with(whole.size(), 0, 1));                                // not a datagram of ours
  EXPECT_FALSE(is_sound_with(whole.size(), offsetof(Header, events), 1));         // one event more
  EXPECT_FALSE(is_sound_with(whole.size(), offsetof(Header, events) + 3, 0x80));  // very many
  EXPECT_FALSE(is_sound_with(whole.size(), sizeof(Header) + 1, 0x80));   // an event of very many hits
  EXPECT_FALSE(is_sound_with(whole.size(), sizeof(Header) + 15, 0x80));  // hits beyond the end
}

TEST(TriggerSeen, NamesWhatWasLost) {
  const trigger::Run run{.events = 1000, .batch = 1, .faults = {.loss = 0.1}};
  Seen seen(run, Link{1, 2});
  std::vector<std::uint64_t> dropped, sent;
  for (std::uint64_t sequence = 1; sequence < 1000; sequence += 2)
    (run.faults.loses(run.physics.seed, sequence) ? dropped : sent).push_back(sequence);
  ASSERT_GT(dropped.size(), 20U);
  const std::uint64_t lost = sent[100], overrun = sent[200], late = sent[300];

  for (const std::uint64_t sequence : sent) {
    if (sequence == lost) continue;
    EXPECT_TRUE(seen.take(sequence, sequence != overrun));
    EXPECT_FALSE(seen.take(sequence, true));  // twice
    if (sequence != overrun) seen.answer(sequence, sequence == late);
  }

  EXPECT_EQ(seen.dropped(), dropped);
  EXPECT_EQ(seen.lost(), std::vector{lost});
  EXPECT_EQ(seen.overrun(), std::vector{overrun});
  EXPECT_EQ(seen.late(), std::vector{late});
  EXPECT_TRUE(seen.unanswered().empty());
  EXPECT_FALSE(seen.is_complete());
  EXPECT_TRUE(seen.take(lost, true));
  EXPECT_TRUE(seen.is_complete());
  EXPECT_EQ(seen.reordered(), 1U);
}

TEST(TriggerSummary, WritesNumbersAsRanges) {
  EXPECT_EQ(in_words({}), "");
  EXPECT_EQ(in_words({3, 7, 8, 9, 12}), "3, 7-9, 12");
  EXPECT_EQ(in_words({1, 3, 5, 7, 8}, 2), "1, 3 and 3 more");
}

TEST(TriggerLatency, KeepsThreeDigits) {
  Histogram histogram;
  for (std::uint64_t us = 1; us <= 1000; ++us) histogram.record(1000 * us);

  EXPECT_EQ(histogram.total(), 1000U);
  for (const double percent : {10.0, 50.0, 90.0, 99.0})
    EXPECT_NEAR(static_cast<double>(histogram.at_percentile(percent)), percent * 1e4, percent * 1e4 / 1000);
  histogram.record(std::uint64_t{1} << 60);
  EXPECT_EQ(histogram.longest(), (std::uint64_t{1} << 37) - 1);
}

// As the programs of HdrHistogram print the same times.
TEST(TriggerLatency, PrintsPercentilesAsHdrHistogramDoes) {
  Histogram histogram;
  histogram.record(1500, 6);
  histogram.record(2049000, 2);

  EXPECT_EQ(histogram.percentiles(), R"(       Value     Percentile TotalCount 1/(1-Percentile)

       1.500 0.000000000000          6           1.00
       1.500 0.100000000000          6           1.11
       1.500 0.200000000000          6           1.25
       1.500 0.300000000000          6           1.43
       1.500 0.400000000000          6           1.67
       1.500 0.500000000000          6           2.00
       1.500 0.550000000000          6           2.22
       1.500 0.600000000000          6           2.50
       1.500 0.650000000000          6           2.86
       1.500 0.700000000000          6           3.33
       1.500 0.750000000000          6           4.00
    2049.023 0.775000000000          8           4.44
    2049.023 1.000000000000          8
#[Mean    =      513.253, StdDeviation   =      886.382]
#[Max     =     2049.023, Total count    =            8]
#[Buckets =           27, SubBuckets     =         2048]
)");
}

// Sends to the socket, and returns once all of it is there.
class Wire {
 public:
  explicit Wire(int port) : fd_(socket(AF_INET, SOCK_DGRAM, 0)), port_(port) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { close(fd_); }

  void send(const std::vector<std::byte>& bytes) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(port_));
    ASSERT_EQ(sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(bytes.size()));
  }

 private:
  int fd_, port_;
};

TEST(TriggerSocket, ReceivesIntoTheRingAsFarAsItHasRoom) {
  World::run_threads(1, [](World& world) {
    const trigger::Run run{.events = 70, .batch = 1};
    SlotRing ring(world, 64, 1);
    Socket socket(0, bytes_of_slot(1));
    const Wire wire(socket.port());
    for (std::uint64_t sequence = 0; sequence < 70; ++sequence) wire.send(datagram(run, sequence));
    wire.send(std::vector<std::byte>(bytes_of_slot(1) + 1));  // too long

    std::vector<std::uint64_t> in_ring, elsewhere;
    std::size_t too_long = 0;
    while (in_ring.size() + elsewhere.size() + too_long < 71) {
      const unsigned count = socket.receive(ring);
      for (unsigned i = 0; i < count; ++i) {
        if (socket.bytes(i) == 0) {
          ++too_long;
          continue;
        }
        EXPECT_TRUE(is_sound(socket.datagram(i), socket.bytes(i), 0, 1));
        (socket.is_in_ring() ? in_ring : elsewhere).push_back(socket.datagram(i).sequence);
        if (socket.is_in_ring()) ring.fill(1);
      }
    }

    EXPECT_EQ(in_ring.size(), 64U);
    EXPECT_EQ(elsewhere, (std::vector<std::uint64_t>{64, 65, 66, 67, 68, 69}));
    EXPECT_EQ(ring.room(), 0U);
    EXPECT_EQ(ring.host().header(63)->sequence, 63U);
  });
}

TEST(TriggerSocket, RefusesAPortThatIsInUse) {
  const Socket first(0, 64);

  try {
    const Socket second(first.port(), 64);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--port"), std::string::npos) << error.what();
  }
}

TEST(TriggerHost, GathersByNumber) {
  World::run_threads(1, [](World& world) {
    const trigger::Run run{.events = 12, .batch = 4};
    SlotRing ring(world, 64, 4);
    const auto answerer = host_answerer({.events = 8, .us = 1e9}, 0.01F);
    const auto come = [&](std::uint64_t sequence) {
      const std::vector<std::byte> bytes = datagram(run, sequence);
      std::memcpy(static_cast<void*>(ring.host().header(ring.filled())), bytes.data(), bytes.size());
      ring.fill(4);
    };

    come(0);
    EXPECT_EQ(answerer->advance(ring, false), 0U);  // four wait for others
    come(1);
    EXPECT_EQ(answerer->advance(ring, false), 1U);
    come(2);
    EXPECT_EQ(answerer->advance(ring, false), 2U);
    EXPECT_EQ(answerer->advance(ring, false), 2U);  // those that came later are not of this batch
    EXPECT_EQ(answerer->advance(ring, true), 3U);   // nothing more will come
    EXPECT_EQ(ring.host().answers_of(2)[3].event, 11U);
  });
}

TEST(TriggerHost, GathersByTime) {
  World::run_threads(1, [](World& world) {
    SlotRing ring(world, 64, 1);
    const auto answerer = host_answerer({.events = 1000, .us = 1}, 0.01F);
    const std::vector<std::byte> bytes = datagram({.events = 1, .batch = 1}, 0);
    std::memcpy(static_cast<void*>(ring.host().header(0)), bytes.data(), bytes.size());
    ring.fill(1);

    while (answerer->advance(ring, false) == 0) {
    }

    EXPECT_EQ(ring.host().answers_of(0)[0].event, 0U);
  });
}

}  // namespace
}  // namespace tca::trigger
