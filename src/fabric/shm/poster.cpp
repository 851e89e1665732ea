#include "fabric/shm/poster.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/poll.hpp"
#include "base/system/limits.hpp"
#include "fabric/shm/memory.hpp"
#include "fabric/shm/post.hpp"

namespace tca::shm {

namespace {

// In a name: the memory belongs to the program of a process other than this one.
constexpr std::int64_t of_program = -3;

std::uint64_t count_of(std::uint64_t lane) { return lane & 0xffffffff; }
std::uint32_t tag_of(std::uint64_t lane) { return static_cast<std::uint32_t>(lane >> 32); }

void require_pages(void* begin, std::size_t bytes, std::string_view what) {
  const int error = populate(static_cast<std::byte*>(begin), bytes);
  if (error != 0)
    base::fail(Errc::out_of_memory, "no memory for {}: {}", what, base::limit_met(error, bytes));
}

}  // namespace

RaisedNotices::Lane* RaisedNotices::lane(int slot, std::uint32_t tag) {
  Lanes& lanes = lanes_[static_cast<std::size_t>(slot)];
  const auto used = std::ranges::find_if(
      lanes, [&](const Lane& lane) { return lane.tag == tag && (lane.count != 0 || lane.reserved != 0); });
  return used == lanes.end() ? nullptr : &*used;
}

void RaisedNotices::reserve(int slot, std::uint32_t tag) {
  Lane* free = lane(slot, tag);
  if (free == nullptr) {
    Lanes& lanes = lanes_[static_cast<std::size_t>(slot)];
    const auto& taken = slots_[static_cast<std::size_t>(slot)].taken;
    for (std::size_t i = 0; i < lanes.size() && free == nullptr; ++i)
      if (lanes[i].reserved == 0 && lanes[i].count == taken[i].load(std::memory_order_relaxed))
        free = &lanes[i];
    if (free == nullptr) fabric::fail_full(slot, rank_);
    free->tag = tag;
  }
  ++free->reserved;
}

void RaisedNotices::raise(int slot, std::uint32_t tag) {
  Lane& own = *lane(slot, tag);
  --own.reserved;
  ++own.count;
  const std::ptrdiff_t i = &own - lanes_[static_cast<std::size_t>(slot)].data();
  slots_[static_cast<std::size_t>(slot)].lanes[static_cast<std::size_t>(i)].store(
      std::uint64_t{own.tag} << 32 | own.count, std::memory_order_release);
}

// One of this rank's regions, in the library's memory or the program's.
class ShmOwnRegion final : public fabric::OwnRegion {
 public:
  ShmOwnRegion(ShmPoster& poster, std::size_t bytes, std::byte* existing) : poster_(poster) {
    Space& space = poster.space_;
    if (existing != nullptr && !space.reaches_existing()) {
      name_.handle = of_program;
      name_.begin = reinterpret_cast<std::uintptr_t>(existing);
      data_ = existing;
    } else {
      take(bytes, existing);
    }
    PostBoard& board = poster.board(poster.control_.rank());
    name_.job = board.job.load(std::memory_order_relaxed);
    name_.process = own_identity().pid;
    name_.generation = ++poster.generations_;
    try {
      name_.place = poster.publish(name_.generation);
    } catch (const Error&) {
      give_back();
      throw;
    }
  }
  ShmOwnRegion(const ShmOwnRegion&) = delete;
  ~ShmOwnRegion() override {
    poster_.withdraw(name_.place);
    give_back();
  }

  std::byte* data() const override { return data_; }
  const fabric::RegionName& name() const override { return name_; }

 private:
  void take(std::size_t bytes, std::byte* existing) {
    const bool in_inbox = !poster_.space_.attaches_alone();
    if (bytes > Inbox::small_window && existing == nullptr && bytes > available_memory()) {
      base::fail(Errc::out_of_memory, "a region of {} bytes: {}; ask for less", bytes,
                 base::limit_met(ENOMEM, bytes));
    }
    part_.emplace(poster_.space_, poster_.inbox_, bytes, existing, in_inbox);
    token_ = part_->token();
    if (token_.error != 0)
      base::fail(Errc::out_of_memory, "a region of {} bytes: {}; ask for less", bytes,
                 base::limit_met(token_.error, bytes));
    mapping_ = part_->take_mapping();
    is_own_ = existing == nullptr;
    name_.handle = token_.handle;
    name_.begin = token_.begin;
    data_ = token_.handle == Token::in_inbox ? poster_.inbox_.at(poster_.control_.rank(), token_.begin)
                                             : mapping_.data() + token_.begin;
  }

  // Others may still have the region mapped; the memory is nevertheless free at once.
  void give_back() {
    if (!token_.is_region()) return;
    if (is_own_) drop_pages(mapping_.data(), mapping_.bytes());
    poster_.space_.seal(token_);
  }

  ShmPoster& poster_;
  fabric::RegionName name_;
  std::optional<OwnPart> part_;
  Token token_;
  Mapping mapping_;
  bool is_own_ = false;
  std::byte* data_ = nullptr;
};

ShmPoster::ShmPoster(control::Control& control, Space& space, Inbox& inbox)
    : control_(control),
      space_(space),
      inbox_(inbox),
      raised_(static_cast<std::size_t>(control.size())),
      has_pages_(static_cast<std::size_t>(control.size())) {}

ShmPoster::~ShmPoster() = default;

// Takes a place on the board, and tells the others that the region lives there. Whoever has its token finds
// both in order, since the token is made later.
std::uint32_t ShmPoster::publish(std::uint64_t generation) {
  PostBoard& board = this->board(control_.rank());
  if (free_places_.empty()) {
    if (next_place_ == PostBoard::most_regions)
      base::fail(Errc::out_of_memory, "this rank has {} regions already; make fewer and larger ones",
                 next_place_);
    free_places_.push_back(next_place_++);
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  board.live[place].store(generation, std::memory_order_release);
  return place;
}

// Waits for sources that are storing right now. A turn may have ended and the next one begun meanwhile;
// that one finds the region gone. A source that has died stores nothing more.
void ShmPoster::withdraw(std::uint32_t place) {
  PostBoard& board = this->board(control_.rank());
  // Sequentially consistent: pairs with ShmPost::enter; see post_board.hpp.
  board.live[place].store(0, std::memory_order_seq_cst);
  for (int source = 0; source < control_.size(); ++source) {
    Storing& storing = board.storing(source);
    const std::uint32_t turn = storing.turns.load(std::memory_order_seq_cst);
    if (turn % 2 == 0 || source == control_.rank()) continue;
    // Acquire: pairs with the release in ShmPost::leave; its stores are complete before the memory is used
    // for anything else.
    for (base::Poll poll(control_.cores()); storing.turns.load(std::memory_order_acquire) == turn;)
      if (poll.pause() && control_.is_gone(source)) break;
  }
  free_places_.push_back(place);
}

std::unique_ptr<fabric::OwnRegion> ShmPoster::expose_alone(const fabric::RegionSpec& spec) {
  PostBoard& board = this->board(control_.rank());
  if (board.job.load(std::memory_order_relaxed) == 0) {
    require_pages(&board, sizeof board, "the list of this rank's regions");
    board.job.store(fabric::random_job(), std::memory_order_release);
  }
  return std::make_unique<ShmOwnRegion>(*this, spec.bytes, spec.existing);
}

std::unique_ptr<fabric::FarRegion> ShmPoster::attach(int rank, std::size_t bytes,
                                                     const fabric::RegionName& name) {
  PostBoard& board = this->board(rank);
  if (board.job.load(std::memory_order_acquire) != name.job || name.place >= PostBoard::most_regions)
    fabric::fail_foreign();
  const std::atomic<std::uint64_t>& live = board.live[name.place];
  const auto require_live = [&] {
    if (live.load(std::memory_order_acquire) != name.generation) fabric::fail_gone(rank);
  };
  require_live();
  require_pages(&storing_at(rank), sizeof(Storing), "posts");
  if (name.handle == of_program)
    return std::make_unique<ShmFarRegion>(live, name.generation, rank, InProgram{name.process, name.begin});
  if (name.handle == Token::in_inbox)
    return std::make_unique<ShmFarRegion>(live, name.generation, rank,
                                          Mapping(inbox_.at(rank, name.begin), bytes, false), 0);
  Identity owner = own_identity();
  owner.pid = name.process;
  try {
    Mapping mapping =
        space_.attach({.handle = name.handle, .owner = owner, .bytes = name.begin + bytes}, File());
    // The descriptor might be another file's by now. It is closed after the region is gone, so this file is
    // the region if that is still live.
    require_live();
    return std::make_unique<ShmFarRegion>(live, name.generation, rank, std::move(mapping), name.begin);
  } catch (const Error&) {
    require_live();
    throw;
  }
}

std::unique_ptr<fabric::PostProgram> ShmPoster::make_post() { return std::make_unique<ShmPost>(*this); }

RaisedNotices& ShmPoster::raised_at(int rank) {
  std::unique_ptr<RaisedNotices>& raised = raised_[static_cast<std::size_t>(rank)];
  if (raised == nullptr) {
    NoticeSlots& slots = board(rank).notices(control_.rank(), control_.size());
    require_pages(&slots, sizeof slots, "notices");
    raised = std::make_unique<RaisedNotices>(slots, rank);
  }
  return *raised;
}

NoticeSlot& ShmPoster::slot_of(int source, int slot) {
  NoticeSlots& slots = board(control_.rank()).notices(source, control_.size());
  if (!has_pages_[static_cast<std::size_t>(source)]) {
    require_pages(&slots, sizeof slots, "notices");
    has_pages_[static_cast<std::size_t>(source)] = true;
  }
  return slots[static_cast<std::size_t>(slot)];
}

// Takes a notice from the first lane that has one with a wanted tag.
template <class Wanted>
std::optional<std::uint32_t> ShmPoster::take_if(int source, int slot, const Wanted& wanted) {
  NoticeSlot& notices = slot_of(source, slot);
  for (std::size_t i = 0; i < notices.lanes.size(); ++i) {
    const std::uint32_t taken = notices.taken[i].load(std::memory_order_relaxed);
    // Acquire: pairs with the release in `raise`.
    const std::uint64_t lane = notices.lanes[i].load(std::memory_order_acquire);
    if (count_of(lane) == taken || !wanted(tag_of(lane))) continue;
    notices.taken[i].store(taken + 1, std::memory_order_relaxed);
    return tag_of(lane);
  }
  return std::nullopt;
}

bool ShmPoster::take(int source, int slot, std::uint32_t tag) {
  return take_if(source, slot, [&](std::uint32_t other) { return other == tag; }).has_value();
}

std::optional<std::uint32_t> ShmPoster::take_any(int source, int slot) {
  return take_if(source, slot, [](std::uint32_t) { return true; });
}

}  // namespace tca::shm
