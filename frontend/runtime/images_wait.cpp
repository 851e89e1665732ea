// How images wait for each other: meetings, posts, and answers to those that ask meanwhile.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

#include "runtime/images.hpp"

namespace tca::xacc {
namespace {

// How long the world's blocking calls may take, which a wait here is made of many of. The world has checked
// the variable.
std::chrono::duration<double> time_limit() {
  const char* seconds = std::getenv("OPENTCA_TIME_LIMIT");
  if (seconds && *seconds) return std::chrono::duration<double>(std::strtod(seconds, nullptr));
  return WorldOptions{}.time_limit;
}

std::string time_limit_text() {
  std::ostringstream text;
  text << time_limit().count() << " s (time limit: OPENTCA_TIME_LIMIT)";
  return text.str();
}

// Posts of a program have the slots from `posts` on, so that tags seldom share one.
constexpr std::int64_t post_slots = notice_slots - Images::posts;

int slot_of(std::int64_t tag) { return Images::posts + static_cast<int>(tag % post_slots); }

}  // namespace

// Rank r has reached its partners at distance 1, 2, 4, ...; after all rounds everybody has been heard of.
void Images::meet(const std::vector<int>& ranks) {
  const auto size = ranks.size();
  const auto me =
      static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), world_.rank()) - ranks.begin());
  if (me == size) return;
  post_.flush();
  for (std::size_t distance = 1; distance < size; distance *= 2) {
    signal(ranks[(me + distance) % size], meeting, 0);
    wait({ranks[(me + size - distance) % size], meeting, 0});
  }
}

void Images::meet_one(int rank) {
  if (rank == world_.rank()) return;
  signal(rank, pair, 0);
  wait({rank, pair, 0});
}

void Images::meet_some(const int* images, int count) {
  for (int i = 0; i < count; ++i)
    if (const int rank = rank_of(images[i]); rank != world_.rank()) signal(rank, pair, 0);
  for (int i = 0; i < count; ++i)
    if (const int rank = rank_of(images[i]); rank != world_.rank()) wait({rank, pair, 0});
}

void Images::signal(int rank, int slot, std::uint32_t tag) {
  post_.clear();
  post_.notify(rank, slot, tag);
  post_.run();
}

void Images::post(int rank, std::int64_t tag) {
  if (tag < 0 || tag > std::numeric_limits<std::uint32_t>::max())
    refuse("a tag of " + std::to_string(tag) + " is none: tags go from 0 to 4294967295");
  signal(rank, slot_of(tag), static_cast<std::uint32_t>(tag));
}

void Images::wait_post(const std::vector<int>& ranks, std::optional<std::int64_t> tag) {
  if (tag && ranks.size() == 1) return wait({ranks[0], slot_of(*tag), static_cast<std::uint32_t>(*tag)});
  const auto end = std::chrono::steady_clock::now() + time_limit();
  while (std::chrono::steady_clock::now() < end) {
    for (const int rank : ranks) {
      if (tag && notices_.test({rank, slot_of(*tag), static_cast<std::uint32_t>(*tag)})) return;
      for (int slot = posts; !tag && slot < notice_slots; ++slot)
        if (notices_.test_any(rank, slot)) return;
    }
    answer_all();
    world_.progress();
  }
  refuse("nobody has posted within " + time_limit_text());
}

void Images::wait(const Notice& notice) {
  if (coarrays_.empty()) return notices_.wait(notice);
  // A slice is short against what a get takes, and long against a look at all images' requests.
  const auto end = std::chrono::steady_clock::now() + time_limit();
  do {
    answer_all();
    if (notices_.wait_for(notice, std::chrono::microseconds(20))) return;
  } while (std::chrono::steady_clock::now() < end);
  refuse("rank " + std::to_string(notice.source) + " has neither answered nor come within " +
         time_limit_text() + "; an image answers whenever it waits for others");
}

void Images::answer_all() {
  if (coarrays_.empty()) return;
  for (int source = 0; source < world_.size(); ++source)
    while (notices_.test({source, request, 0})) answer(source);
}

void Images::answer(int source) {
  Request r;
  std::memcpy(&r, requests_->data() + static_cast<std::size_t>(source) * sizeof(Request), sizeof r);
  if (r.kind == Request::Kind::get)
    answer_get(source, r);
  else
    change_lock(source, r);
}

void Images::answer_get(int source, const Request& r) {
  Box box;
  Steps steps{r.first, {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(r.loops); ++d) {
    box.push_back({0, 1, r.count[d]});
    steps.pitch.push_back(r.pitch[d]);
  }
  const auto bytes = static_cast<std::size_t>(r.element_bytes);
  std::vector<std::byte> values(static_cast<std::size_t>(volume(box)) * bytes);
  copy(values.data(), dense(box), coarrays_[static_cast<std::size_t>(r.coarray)].region.data(), steps, box,
       bytes);
  Post post(world_, "answer");  // `post_` may be under way
  post.put(r.answer, 0, std::span(values), block(static_cast<std::int64_t>(values.size())));
  post.notify(source, reply, 0);
  post.run();
}

}  // namespace tca::xacc
