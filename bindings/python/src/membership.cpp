#include "membership.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "arrays/window.hpp"

namespace opentca_python {

std::atomic<unsigned> forks{0};

namespace {

// Every place that is open.
std::set<Place*>& places() {
  static std::set<Place*> all;
  return all;
}
nb::ft_mutex places_mutex;

std::vector<Place*> open_places() {
  const nb::ft_lock_guard lock(places_mutex);
  return {places().begin(), places().end()};
}

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { ++forks; }); });
}

}  // namespace

Member::Member(std::shared_ptr<Place> place, Kind kind) : place_(std::move(place)), kind_(kind) {
  const nb::ft_lock_guard lock(place_->mutex_);
  place_->members_.insert(this);
}

Member::~Member() {
  const nb::ft_lock_guard lock(place_->mutex_);
  place_->members_.erase(this);
}

Place::Place(tca::World world, bool threads, nb::object arrays)
    : world_(std::move(world)), threads_(threads), arrays_(std::move(arrays)) {
  const std::string described = (*world_).describe();
  on_device_ = described.find("cuda", described.rfind(", fabric ")) != std::string::npos;
  watch_forks();
  const nb::ft_lock_guard lock(places_mutex);
  places().insert(this);
}

Place::~Place() {
  const nb::ft_lock_guard lock(places_mutex);
  places().erase(this);
}

void Place::enter(std::shared_ptr<Place> around, std::vector<int> ranks, std::unique_ptr<Member> membership) {
  around_ = std::move(around);
  ranks_around_ = std::move(ranks);
  membership_ = std::move(membership);
}

void Place::require_open(const char* what) const {
  if (world_.inherited()) {
    throw tca::Error(tca::Errc::invalid_argument,
                     std::string(what) +
                         ": this process was forked from the rank that it belongs to. Start ranks as "
                         "programs of their own (multiprocessing: the method \"spawn\")");
  }
  throw tca::Error(tca::Errc::invalid_argument,
                   std::string(what) + ": it is closed, or the world that it was made in is");
}

tca::World& Place::world() {
  if (!world_ || world_.inherited()) [[unlikely]]
    require_open("world");
  return *world_;
}

void Place::close(bool failed) {
  if (!world_) return;
  for (const Member::Kind kind : {Member::Kind::step, Member::Kind::window, Member::Kind::group}) {
    const std::vector<Member*> now = [&] {
      const nb::ft_lock_guard lock(mutex_);
      return std::vector<Member*>(members_.begin(), members_.end());
    }();
    for (Member* const member : now)
      if (member->kind() == kind) member->drop();
  }
  if (failed && !world_.inherited()) {
    try {
      // A world that is destroyed on the way out of an exception tells its partners that this rank has failed.
      const tca::World leaving(std::move(*world_));
      throw 0;
    } catch (int) {
    }
  }
  world_.drop();
}

WindowObject* Place::window_at(const void* address, std::size_t bytes, std::size_t element_bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  WindowObject* found = nullptr;
  const nb::ft_lock_guard lock(mutex_);
  for (auto next = windows_.upper_bound(begin); next != windows_.begin();) {
    WindowObject* const window = (--next)->second;
    if (begin + bytes > next->first + window->bytes()) continue;
    found = window;
    if (window->element().bytes == element_bytes) break;
  }
  return found;
}

WindowObject* Place::window_anywhere(const void* address) {
  for (const Place* const place : open_places())
    if (WindowObject* const window = place->window_at(address, 0, 0)) return window;
  return nullptr;
}

void Place::close_all(bool failed) {
  for (Place* const place : open_places())
    if (place->around() == nullptr) place->close(failed);
}

}  // namespace opentca_python
