// Holds the answers of GPUs to those of the host, for both ways to start and for every gathering.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "tca/world.hpp"
#include "trigger/answerer.hpp"
#include "trigger/datagram.hpp"
#include "trigger/events.hpp"
#include "trigger/gpu/answerers.hpp"
#include "trigger/ring.hpp"

namespace tca::trigger {
namespace {

constexpr float resolution = 0.01F;
constexpr std::uint32_t batch = 16;

// Fills the next slot with the events from `first` on; every third one came twice and has no events.
void fill(SlotRing& ring, std::uint64_t first) {
  std::vector<std::vector<Hit>> hits;
  for (std::uint32_t event = 0; event < batch; ++event) hits.push_back(make_event({}, first + event).hits);
  const std::vector<std::byte> payload = pack(hits);
  Header& header = *ring.host().header(ring.filled());
  header = {.magic = Header::right_magic, .run = 1, .sequence = first / batch, .first_event = first};
  header.bytes = static_cast<std::uint32_t>(sizeof header + payload.size());
  header.events = batch;
  std::memcpy(static_cast<void*>(&header + 1), payload.data(), payload.size());
  ring.fill(first / batch % 3 == 2 ? 0 : batch);
}

// More slots than the ring has, a few at a time.
std::vector<Answer> answers_of(SlotRing& ring, Answerer& answerer, std::uint64_t slots) {
  std::vector<Answer> all;
  while (ring.freed() < slots) {
    for (int more = 0; more < 5 && ring.filled() < slots && ring.room() > 0; ++more)
      fill(ring, ring.filled() * batch);
    ring.publish();
    for (const std::uint64_t answered = answerer.advance(ring, ring.filled() == slots);
         ring.freed() < answered; ring.free()) {
      const Answer* const here = ring.host().answers_of(ring.freed());
      all.insert(all.end(), here, here + ring.host().header(ring.freed())->events);
    }
  }
  return all;
}

void expect_same(const std::vector<Answer>& gpu, const std::vector<Answer>& host) {
  ASSERT_EQ(gpu.size(), host.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    ASSERT_EQ(gpu[i].event, host[i].event);
    bool is_same = gpu[i].rings == host[i].rings;
    for (std::uint32_t ring = 0; is_same && ring < gpu[i].rings; ++ring)
      is_same = std::abs(gpu[i].found[ring].ring.r - host[i].found[ring].ring.r) < 1e-4;
    different += is_same ? 0 : 1;
  }
  // A sum that is rounded otherwise may turn a hit at the very edge.
  EXPECT_LT(different, gpu.size() / 100);
}

class TriggerOnGpu : public ::testing::TestWithParam<Gather> {};

TEST_P(TriggerOnGpu, AnswersAsTheHostDoes) {
  World::run_threads(2,
                     [&](World& world) {
                       constexpr std::uint64_t slots = 200;
                       SlotRing for_host(world, 64, batch), for_launches(world, 64, batch),
                           for_kernel(world, 64, batch);

                       const auto expected = answers_of(for_host, *host_answerer({}, resolution), slots);

                       const auto launching = launching_answerer(world, for_launches, GetParam(), resolution);
                       const auto launched = answers_of(for_launches, *launching, slots);
                       const auto resident = resident_answerer(world, for_kernel, GetParam(), resolution);
                       expect_same(answers_of(for_kernel, *resident, slots), expected);
                       expect_same(launched, expected);
                     },
                     {.fabric = "cuda"});
}

INSTANTIATE_TEST_SUITE_P(Gathers, TriggerOnGpu,
                         ::testing::Values(Gather{}, Gather{.events = 64, .us = 20},
                                           Gather{.events = 1U << 30, .us = 200}));

}  // namespace
}  // namespace tca::trigger
