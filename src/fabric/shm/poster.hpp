// Posts over shared memory. The source stores into the mapped region itself, or has the system store into
// memory that belongs to the owner's program. Neither needs the owner to do anything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "control/control.hpp"
#include "fabric/posting.hpp"
#include "fabric/shm/inbox.hpp"
#include "fabric/shm/post_board.hpp"

namespace tca::shm {

// The notices that this rank raises at another one, in a private copy: the words themselves are in the
// cache of the rank that waits for them.
class RaisedNotices {
 public:
  RaisedNotices(NoticeSlots& slots, int rank) : slots_(slots), rank_(rank) {}

  // Makes sure that there is a lane for one more notice. Throws Error{refused} if other tags occupy all of
  // them.
  void reserve(int slot, std::uint32_t tag);
  // Raises a reserved notice, or releases its lane.
  void raise(int slot, std::uint32_t tag);
  void give_up(int slot, std::uint32_t tag) { --lane(slot, tag)->reserved; }

 private:
  struct Lane {
    std::uint32_t tag = 0, count = 0;
    std::uint32_t reserved = 0;  // notices of a post that is being started
  };
  using Lanes = std::array<Lane, notice_tags>;

  Lane* lane(int slot, std::uint32_t tag);

  NoticeSlots& slots_;
  int rank_;
  std::array<Lanes, notice_slots> lanes_{};
};

class ShmPoster final : public fabric::Poster {
 public:
  // Each rank reaches those in `reach`.
  ShmPoster(control::Control& control, Space& space, Inbox& inbox);
  ~ShmPoster() override;

  std::unique_ptr<fabric::OwnRegion> expose_alone(const fabric::RegionSpec& spec) override;
  std::unique_ptr<fabric::FarRegion> attach(int rank, std::size_t bytes,
                                            const fabric::RegionName& name) override;
  std::unique_ptr<fabric::PostProgram> make_post() override;
  bool take(int source, int slot, std::uint32_t tag) override;
  std::optional<std::uint32_t> take_any(int source, int slot) override;

 private:
  friend class ShmOwnRegion;
  friend class ShmPost;

  PostBoard& board(int rank) const { return inbox_.post_board(rank); }
  Storing& storing_at(int rank) const { return board(rank).storing(control_.rank()); }
  RaisedNotices& raised_at(int rank);
  NoticeSlot& slot_of(int source, int slot);
  template <class Wanted>
  std::optional<std::uint32_t> take_if(int source, int slot, const Wanted& wanted);
  std::uint32_t publish(std::uint64_t generation);
  void withdraw(std::uint32_t place);

  control::Control& control_;
  Space& space_;
  Inbox& inbox_;
  std::uint64_t generations_ = 0;
  std::uint32_t next_place_ = 0;
  std::vector<std::uint32_t> free_places_;
  std::vector<std::unique_ptr<RaisedNotices>> raised_;  // by rank; null if this rank has raised none
  std::vector<bool> has_pages_;                         // by source: whether its notices have pages
};

}  // namespace tca::shm
