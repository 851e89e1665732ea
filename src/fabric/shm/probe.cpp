#include "fabric/shm/probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "base/stream.hpp"

namespace tca::shm {

namespace {

constexpr std::uint32_t batches = 5;

// As much as a face of some size: a face of 32^3 doubles has half of it.
constexpr std::size_t probed_bytes = 16384;

// How much sooner streamed bytes must be there. Where caches are near they take twice as long as others, where they are far half as
// long or less.
constexpr double clearly = 1.3;

// False when the partner does not answer: it may have died, or be kept from its core.
bool await(const Signal& signal, std::uint32_t value) {
  constexpr int patience = 1 << 20;
  for (int polls = 0; polls < patience; ++polls) {
    // Acquire: pairs with the release of the partner's answer.
    if (base::reached(signal.arrive.load(std::memory_order_acquire), value)) return true;
  }
  return false;
}

struct Times {
  double signal = 0, stored = 0, streamed = 0;  // one way; 0: unknown
};

// This rank's half of a pair.
class Half {
 public:
  Half(const Inbox& inbox, int rank, int partner)
      : in_(inbox.probe(rank)),
        out_(inbox.probe(partner)),
        mine_(inbox.probe_room(rank)),
        theirs_(inbox.probe_room(partner)),
        first_(rank < partner),
        bytes_(probed_bytes) {}

  Times measure() {
    Times times;
    times.signal = quickest_ns(
        40, [] {}, [] {});
    if (times.signal == 0 || !base::can_stream) return times;
    const auto read = [this] { read_all(); };
    times.stored = quickest_ns(
        8, [this] { std::memcpy(theirs_, bytes_.data(), probed_bytes); }, read);
    times.streamed = quickest_ns(
        8,
        [this] {
          base::stream(theirs_, bytes_.data(), probed_bytes);
          base::stream_fence();
        },
        read);
    return times;
  }

 private:
  // The quickest batch, since anything may come between; 0 without an answer.
  template <class Send, class Receive>
  double quickest_ns(std::uint32_t round_trips, Send send, Receive receive) {
    double best = 0;
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      const auto begin = std::chrono::steady_clock::now();
      for (std::uint32_t i = 0; i < round_trips; ++i) {
        ++value_;
        if (!first_ && !receive_one(receive)) return 0;
        send();
        // Release: pairs with the acquire in `await`.
        out_.arrive.store(value_, std::memory_order_release);
        if (first_ && !receive_one(receive)) return 0;
      }
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      const double one_way = took.count() / (2 * round_trips);
      if (batch == 0 || one_way < best) best = one_way;
    }
    return best;
  }

  template <class Receive>
  bool receive_one(Receive receive) {
    if (!await(in_, value_)) return false;
    receive();
    return true;
  }

  void read_all() { std::memcpy(bytes_.data(), mine_, probed_bytes); }

  Signal &in_, &out_;
  std::byte *mine_, *theirs_;
  bool first_;
  std::vector<std::byte> bytes_;
  std::uint32_t value_ = 0;
};

bool same(const std::vector<int>& place, int a, int b) {
  return place[static_cast<std::size_t>(a)] == place[static_cast<std::size_t>(b)];
}

// Each sub-cluster's ranks in pairs, in order; -1 for one that is left over.
int partner_of(int rank, const std::vector<int>& sub_cluster) {
  std::vector<int> members;
  for (int other = 0; other < static_cast<int>(sub_cluster.size()); ++other)
    if (same(sub_cluster, rank, other)) members.push_back(other);
  const auto at = static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
  return (at ^ 1) < members.size() ? members[at ^ 1] : -1;
}

// Whether a person has said it.
std::optional<bool> told_to_stream() {
  const char* const set = std::getenv("OPENTCA_STREAM");
  const std::string_view answer = set != nullptr ? set : "";
  if (answer.empty()) return std::nullopt;
  if (answer != "on" && answer != "off") {
    base::fail(Errc::invalid_argument,
               "OPENTCA_STREAM={} (whether stores to other ranks go past the caches): say on or off, or "
               "leave it out",
               answer);
  }
  return answer == "on" && base::can_stream;
}

// Of those that are known; 0 of none.
double median(const std::vector<Times>& all, double Times::*what) {
  std::vector<double> known;
  for (const Times& times : all)
    if (times.*what > 0) known.push_back(times.*what);
  if (known.empty()) return 0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

}  // namespace

Crossing measure_crossing(const Inbox& inbox, fabric::Control& control, const fabric::Places& places) {
  const std::optional<bool> told = told_to_stream();
  const int rank = control.rank(), partner = partner_of(rank, places.sub_cluster);
  Times mine;
  if (partner >= 0 && control.cores() == base::Cores::enough) mine = Half(inbox, rank, partner).measure();
  std::vector<Times> all;
  for (const base::Blob& blob : control.all_gather(base::Writer().put(mine).blob(), "start-up (distances)"))
    all.push_back(base::Reader(blob).get<Times>());
  const double streamed = median(all, &Times::streamed);
  const bool found = streamed > 0 && clearly * streamed < median(all, &Times::stored);
  return {median(all, &Times::signal), told.value_or(found)};
}

}  // namespace tca::shm
