#include "runtime/images.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

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

// Slots of notices. Posts of a program have those from `posts` on, so that tags seldom share one.
enum Slot : int { meeting, pair, request, reply, posts };
constexpr std::int64_t post_slots = notice_slots - posts;

int slot_of(std::int64_t tag) { return posts + static_cast<int>(tag % post_slots); }

void check_shapes(const Side& to, const Side& from) {
  if (to.counts() != from.counts() && !from.counts().empty())
    refuse("the sides differ: " + to.shape() + " = " + from.shape());
  if (to.section().element_bytes != from.section().element_bytes)
    refuse("elements of " + std::to_string(to.section().element_bytes) + " and " +
           std::to_string(from.section().element_bytes) + " bytes, which are not converted");
}

}  // namespace

Images::Images(World& world) : world_(world), notices_(world), post_(world, "coarrays") {}

int Images::rank_of(std::int64_t image) {
  const std::vector<int>& ranks = Runtime::get().executing_ranks();
  if (image < 0 || image >= static_cast<std::int64_t>(ranks.size()))
    refuse("there is no image " + std::to_string(image) + ": there are 0 to " +
           std::to_string(ranks.size() - 1));
  return ranks[static_cast<std::size_t>(image)];
}

void Images::make(void** memory, const char* name, std::size_t bytes) {
  if (*memory) return;
  if (!requests_) {
    requests_.emplace(world_, static_cast<std::int64_t>(sizeof(Request)) * world_.size());
    request_tokens_ = world_.all_gather(requests_->token());
  }
  Region region(world_, static_cast<std::int64_t>(bytes));
  *memory = region.data();
  std::vector<RegionToken> tokens = world_.all_gather(region.token());
  coarrays_.push_back({name, std::move(region), std::move(tokens)});
}

const Coarray& Images::find(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (const Coarray& c : coarrays_)
    if (at >= c.region.data() && at < c.region.data() + c.region.size()) return c;
  refuse("the coarray has not been made yet");
}

void Images::put(const xacc_section& to, std::int64_t image, const xacc_section& from) {
  const Side left(to), right(from);
  check_shapes(left, right);
  const int rank = rank_of(image), me = world_.rank();
  const Box box = whole(left);
  if (volume(box) == 0) return;
  const std::vector<std::byte> values = gather(right, me);
  const std::size_t bytes = to.element_bytes;
  if (rank == me) return spread(memory_of(left), left, values.data(), right.counts().empty(), me);
  std::vector<std::byte> all(static_cast<std::size_t>(volume(box)) * bytes);
  Steps from_steps = dense(box);
  if (right.counts().empty()) std::fill(from_steps.pitch.begin(), from_steps.pitch.end(), 0);
  copy(all.data(), dense(box), values.data(), from_steps, box, bytes);
  post_.clear();
  for (const Piece& piece : pieces(left.steps(box, me), dense(box), box))
    post_.put_untyped(find(to.memory).tokens[static_cast<std::size_t>(rank)], piece.to, piece.to_layout,
                      all.data() + piece.from * static_cast<std::int64_t>(bytes), volume(box) - piece.from,
                      piece.from_layout, bytes);
  post_.run();
}

// Brings what another image has, row by row.
void Images::fetch(const Side& from, std::int64_t image, std::byte* into) {
  const Box box = whole(from);
  const std::size_t bytes = from.section().element_bytes, all = static_cast<std::size_t>(volume(box)) * bytes;
  const int rank = rank_of(image), me = world_.rank();
  if (all == 0) return;
  if (rank == me) {
    const std::vector<std::byte> values = gather(from, me);
    std::memcpy(into, values.data(), values.size());
    return;
  }
  const Coarray& coarray = find(from.section().memory);
  const Steps steps = from.steps(box, me);
  Request r{Request::Kind::get,
            0,
            static_cast<std::int64_t>(bytes),
            static_cast<std::int64_t>(box.size()),
            steps.first,
            {},
            {},
            {}};
  while (&coarrays_[static_cast<std::size_t>(r.coarray)] != &coarray) ++r.coarray;
  for (std::size_t d = 0; d < box.size(); ++d) r.count[d] = box[d].count, r.pitch[d] = steps.pitch[d];
  ask(rank, r, all);
  std::memcpy(into, answer_->data(), all);
}

void Images::ask(int rank, Request r, std::size_t bytes) {
  if (!answer_ || answer_->size() < bytes) answer_.emplace(world_, static_cast<std::int64_t>(bytes));
  r.answer = answer_->token();
  post_.clear();
  post_.put(request_tokens_[static_cast<std::size_t>(rank)], world_.rank(), std::span(&r, 1), block(1));
  post_.notify(rank, request, 0);
  post_.run();
  wait({rank, reply, 0});
}

void Images::get(const xacc_section& to, const xacc_section& from, std::int64_t image) {
  const Side left(to), right(from);
  check_shapes(left, right);
  std::vector<std::byte> values(static_cast<std::size_t>(volume(whole(right))) * from.element_bytes);
  fetch(right, image, values.data());
  spread(memory_of(left), left, values.data(), right.counts().empty(), world_.rank());
}

const void* Images::element(const xacc_section& from, std::int64_t image) {
  if (from.element_bytes > elements_[0].size())
    refuse("an element of more than " + std::to_string(elements_[0].size()) +
           " bytes within an expression: assign it to a variable by itself");
  std::byte* into = elements_[next_element_++ % elements_.size()].data();
  fetch(Side(from), image, into);
  return into;
}

void Images::lock(const void* object, std::int64_t image, bool locks) {
  const Coarray& coarray = find(object);
  const int rank = image < 0 ? world_.rank() : rank_of(image);
  Request r{locks ? Request::Kind::lock : Request::Kind::unlock,           0,  1,  0,
            static_cast<const std::byte*>(object) - coarray.region.data(), {}, {}, {}};
  while (&coarrays_[static_cast<std::size_t>(r.coarray)] != &coarray) ++r.coarray;
  post_.flush();  // what was put under the lock is there for the next one who has it
  if (rank != world_.rank()) return ask(rank, r, 1);
  change_lock(rank, r);
  wait({rank, reply, 0});
}

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

// Locks are granted in the order in which they were asked for.
void Images::change_lock(int source, const Request& r) {
  auto lock = std::find_if(locks_.begin(), locks_.end(),
                           [&](const Lock& l) { return l.coarray == r.coarray && l.offset == r.first; });
  if (lock == locks_.end()) lock = locks_.insert(lock, Lock{r.coarray, r.first, {}});
  const auto tell = [&](int rank) {
    Post post(world_, "lock");
    post.notify(rank, reply, 0);
    post.run();
  };
  if (r.kind == Request::Kind::lock) {
    lock->holders.push_back(source);
    if (lock->holders.size() == 1) tell(source);
    return;
  }
  const bool holds = !lock->holders.empty() && lock->holders.front() == source;
  if (!holds) refuse("rank " + std::to_string(source) + " unlocks what it has not locked");
  lock->holders.pop_front();
  tell(source);
  if (!lock->holders.empty()) tell(lock->holders.front());
}

}  // namespace tca::xacc
