// Frees the memory of windows, chains, teams and collectives once no rank needs it.
//
// A rank drops its last handle of an object whenever it likes, and the destructor neither blocks nor
// communicates. But a partner may be a step behind and still store into the object's memory: bytes into a
// window, signals into a chain. So every object passes through these states, on each rank separately:
//
//   retired     This rank has dropped its last handle. The object stays, since others may still hold
//               theirs.
//   announced   This rank has said so, when ranks next made a window or committed a chain together.
//               They then vote on whether any of them has something to announce, and gather it only if so.
//   released    All ranks have announced it, so none of them starts anything with it any more. Programs end
//               and go at once, as do teams and collectives. A window's memory stays, and so does
//               memory that a chain's programs move: another rank may not have returned from the same call
//               yet, and until it has ended its own programs they may still store here.
//   freed       One more collective call later, every rank has passed the release; the memory is freed.
//
// A released chain may have to stop on the way:
//
//   ending      It was dropped in the middle of a step, and MPI messages or copies on a GPU cannot be
//               cancelled. Its memory stays until the fabric is done with it, which it is asked before
//               each announcement. A chain still ending when its world is destroyed leaves its memory
//               to the process.
//
// A group is reclaimed as a whole: what its ranks have retired in it stays with its state, which is an
// object of the surrounding world. It is announced there, by the group's members, and passes through the
// same states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/codec.hpp"
#include "base/system/leak_intentionally.hpp"
#include "control/control.hpp"
#include "core/world/memories.hpp"
#include "fabric/accelerator.hpp"
#include "fabric/fabric.hpp"

namespace tca::core {

// A committed chain whose last handle is gone, and the memory that its programs move.
class RetiredChain {
 public:
  RetiredChain(std::vector<std::unique_ptr<fabric::Program>> programs,
               std::vector<std::shared_ptr<Memories>> windows)
      : windows_(std::move(windows)), programs_(std::move(programs)) {}
  RetiredChain(RetiredChain&&) = default;
  RetiredChain& operator=(RetiredChain&& other) noexcept {
    programs_ = std::move(other.programs_);  // before the memory that they move
    windows_ = std::move(other.windows_);
    return *this;
  }
  // A chain that still has programs is destroyed with its world: nobody will ask the fabrics again whether
  // its memory is free.
  ~RetiredChain() {
    if (!end()) base::leak_intentionally(std::move(windows_));
  }

  // Calls Program::end on all of them.
  bool end();

  // Hands over the memory, for the caller to keep for longer than the programs.
  std::vector<std::shared_ptr<Memories>> take_windows() { return std::move(windows_); }

 private:
  std::vector<std::shared_ptr<Memories>> windows_;
  std::vector<std::unique_ptr<fabric::Program>> programs_;
};

// A group whose last handle is gone, with everything that was retired in it.
class RetiredGroup {
 public:
  virtual ~RetiredGroup() = default;

  // Calls Program::end for all of its chains. Returns whether the fabrics are done with its memory.
  virtual bool end_chains() = 0;
};

// An object that other ranks may still write into.
using Retired = std::variant<std::shared_ptr<Memories>, RetiredChain, std::unique_ptr<fabric::Team>,
                             std::unique_ptr<fabric::Collective>>;

// Takes one rank's objects through the states above. Objects are identified by numbers that are the same on
// every rank.
class Reclaimer {
 public:
  explicit Reclaimer(control::Control& control) : control_(control) {}
  Reclaimer(const Reclaimer&) = delete;

  // Neither blocks nor communicates.
  void retire(std::uint32_t id, Retired object);

  // The same for a group, which has a unique key and `ranks` members.
  void retire_group(std::uint64_t key, int ranks, std::unique_ptr<RetiredGroup> group);

  // Ends the chains that are retired. Returns whether the fabrics are done with their memory.
  bool end_chains();

  // Returns whether this rank has retired something that it has not announced yet.
  bool has_news() const { return !unannounced_.empty() || !unannounced_groups_.empty(); }

  // Asks the fabrics again whether they are done with the chains that are ending.
  void end_ending();

  // Collective; called if some rank has news. Announces what this rank has retired. Whatever all ranks have
  // announced by then is released.
  void announce(std::string_view what);

  // Returns whether some rank has announced or retired this object, but not all ranks have announced it.
  bool remembers(std::uint32_t id) const { return leaving_.contains(id); }

  // Returns whether anything has been released since `free_released`. The answer is the same on every rank,
  // even on a rank that holds no memory of it.
  bool has_released() const { return has_released_; }

  // Frees what has been released. Call it after a further collective call.
  void free_released();

 private:
  // An object, from when this rank first hears of it until it is released.
  struct Leaving {
    std::optional<Retired> object;  // none while only other ranks have announced it
    int announced_by = 0;           // ranks
  };

  struct LeavingGroup {
    std::unique_ptr<RetiredGroup> group;  // null on ranks that are not in it, or still have it
    int announced_by = 0;
  };

  void read_announcements(base::Reader& theirs);
  void read_announced_groups(base::Reader& theirs);
  void release(Retired& object);

  control::Control& control_;
  std::map<std::uint32_t, Leaving> leaving_;
  std::vector<std::uint32_t> unannounced_;  // those of them that this rank has retired but not announced
  std::map<std::uint64_t, LeavingGroup> leaving_groups_;
  std::vector<std::pair<std::uint64_t, int>> unannounced_groups_;  // with their number of ranks
  std::vector<RetiredChain> ending_;
  std::vector<std::unique_ptr<RetiredGroup>> ending_groups_, released_groups_;
  std::vector<std::shared_ptr<Memories>> released_;
  bool has_released_ = false;
};

}  // namespace tca::core
