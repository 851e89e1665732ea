// Frees the memory of windows, chains, teams and collectives once no rank needs it.
//
// A rank drops its last handle of an object whenever it likes, and its destructor neither blocks nor
// communicates. But a partner may be a step behind and still store into the object's memory: bytes into a
// window, signals into a chain. So every object passes through these states, on each rank for itself:
//
//   retired     This rank has dropped its last handle. The object stays as it is, since others may hold
//               theirs.
//   announced   This rank has said so, when ranks next made a window or committed a chain together. They vote
//               then whether any of them has something to announce, and only if so they gather it.
//   released    All ranks have announced it, so none of them starts anything with it any more. Programs end
//               and go at once, as do teams and collectives. A window's memory stays, and so does that which
//               a chain's programs move: another rank may not have come back from the same call yet, and
//               until it has ended its own programs they may still store here.
//   freed       After one more collective call every rank has been through the release, and the memory goes.
//
// A released chain may have to stop on the way:
//
//   ending      It went in the middle of a step, and messages in MPI or copies on a GPU cannot be called
//               back. Its memory stays until the fabric is through with them, which it is asked again before
//               each announcement. A chain that is still ending when its world goes leaves its memory to the
//               process.
//
// A group goes as a whole: what its ranks have retired in it stays with its state, which is an object of the world
// around. It is announced there, by those who were in it, and passes through the same states.
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

  // Does Program::end for all of them.
  bool end();

  // Hands over the memory to whatever keeps it after the programs.
  std::vector<std::shared_ptr<Memories>> take_windows() { return std::move(windows_); }

 private:
  std::vector<std::shared_ptr<Memories>> windows_;
  std::vector<std::unique_ptr<fabric::Program>> programs_;
};

// A group whose last handle is gone, with all that was retired in it.
class RetiredGroup {
 public:
  virtual ~RetiredGroup() = default;

  // Does Program::end for all of its chains. Returns whether the fabrics are through with its memory.
  virtual bool end_chains() = 0;
};

// An object into which other ranks may still write.
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

  // The same for a group, which its key tells from others; so many ranks are in it.
  void retire_group(std::uint64_t key, int ranks, std::unique_ptr<RetiredGroup> group);

  // Ends the chains that are retired. Returns whether the fabrics are through with their memory.
  bool end_chains();

  // Returns whether this rank has retired something that it has not announced.
  bool has_news() const { return !unannounced_.empty() || !unannounced_groups_.empty(); }

  // Asks the fabrics again whether they are through with the chains that are ending.
  void end_ending();

  // Collective; called where some rank has news. Announces what this rank has retired. Whatever all ranks have
  // announced by then is released.
  void announce(std::string_view what);

  // Returns whether some rank has announced or retired this object, and not all ranks have announced it.
  bool remembers(std::uint32_t id) const { return leaving_.contains(id); }

  // Returns whether anything has been released since `free_released`. The answer is the same on every rank,
  // although a rank may keep no memory of it.
  bool has_released() const { return has_released_; }

  // Frees what has been released. To be called after a further collective call.
  void free_released();

 private:
  // An object from its first mention on this rank until it is released.
  struct Leaving {
    std::optional<Retired> object;  // none as long as only other ranks have announced it
    int announced_by = 0;           // ranks
  };

  struct LeavingGroup {
    std::unique_ptr<RetiredGroup> group;  // null on ranks that are not in it, or have it still
    int announced_by = 0;
  };

  void read_announcements(base::Reader& theirs);
  void read_announced_groups(base::Reader& theirs);
  void release(Retired& object);

  control::Control& control_;
  std::map<std::uint32_t, Leaving> leaving_;
  std::vector<std::uint32_t> unannounced_;  // those of them that this rank has retired and not announced
  std::map<std::uint64_t, LeavingGroup> leaving_groups_;
  std::vector<std::pair<std::uint64_t, int>> unannounced_groups_;  // with the number of their ranks
  std::vector<RetiredChain> ending_;
  std::vector<std::unique_ptr<RetiredGroup>> ending_groups_, released_groups_;
  std::vector<std::shared_ptr<Memories>> released_;
  bool has_released_ = false;
};

}  // namespace tca::core
