// Locks of images: each lies with an image, which grants it.
#include <algorithm>

#include "runtime/images.hpp"

namespace tca::xacc {

void Images::lock(const void* object, std::int64_t image, bool locks) {
  const Coarray& coarray = find(object);
  const int rank = image < 0 ? world_.rank() : rank_of(image);
  Request r{locks ? Request::Kind::lock : Request::Kind::unlock,
            number_of(object),
            1,
            0,
            static_cast<const std::byte*>(object) - coarray.region.data(),
            {},
            {},
            {}};
  post_.flush();  // what was put under the lock is there for the next one who has it
  if (rank != world_.rank()) return ask(rank, r, 1);
  change_lock(rank, r);
  wait({rank, reply, 0});
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
