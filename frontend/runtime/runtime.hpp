// What the runtime of translated programs keeps: one world, its groups, the memory of arrays, and what has
// been set up once for directives that run often. One instance a process, made by xacc_start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/present.hpp"
#include "tca/fold.hpp"
#include "tca/raw.hpp"
#include "tca/xacc/runtime.h"

namespace tca::xacc {

class Checks;
class Ghosts;
class Images;

// Ranks that do something together, by their numbers in the world.
struct Group {
  std::vector<int> ranks;
  std::optional<World> own;  // none: these are all ranks
  World* world = nullptr;
  int me = -1;  // this rank's number in it
  std::map<std::string, raw::Collective> collectives = {};
};

// Memory of a distributed array, in every rank of the group that made it. It outlives the array, for the next
// one of its size.
struct Storage {
  raw::Window window;
  std::size_t element_bytes;
  std::int64_t capacity;
  Group* group;
  bool used = true;
  std::optional<raw::Window> device = {};  // the same elements there; none where it is the host's memory
  std::map<std::string, std::unique_ptr<Halo>> halos = {};
  std::map<std::string, std::unique_ptr<Fold>> folds = {};
  std::shared_ptr<Ghosts> ghosts = {};  // of -fcheck

  const raw::Window& on_device() const { return device ? *device : window; }
};

// Something that wait_async finishes.
struct Pending {
  std::function<bool()> test;
  std::function<void()> wait;
};

class Runtime {
 public:
  static Runtime& get();  // throws Error where nothing was started
  static bool started();
  static void start();
  static void check() { is_checked_ = true; }  // in front of start

  Runtime(World world, std::unique_ptr<Device> device);
  ~Runtime();

  World& world() { return world_; }
  Device& device() { return *device_; }
  Present& present() { return present_; }
  Checks* checks() { return checks_.get(); }  // null without -fcheck
  bool in_task() const { return stack_.size() > 1; }
  bool is_setting_up() const { return setting_up_; }  // whether what stands outside of functions is made
  // The ranks that execute, and a task's while it lasts.
  Group& executing();
  const std::vector<int>& executing_ranks() const { return stack_.back(); }
  void enter(std::vector<int> ranks) { stack_.push_back(std::move(ranks)); }
  void leave() { stack_.pop_back(); }
  // Collective over `ranks` where they have not met before.
  Group& group(const std::vector<int>& ranks);

  // Made where a program first has a coarray or a post.
  Images& images();
  // Waits until these ranks have come, where the program has coarrays: while a rank is in a wait of the
  // library, it cannot answer those that still read from it.
  void meet(const std::vector<int>& ranks);
  bool has_coarrays() const;

  Storage& allocate(std::size_t element_bytes, std::int64_t capacity, const std::string& name);
  // That which begins at an address; null if there is none.
  Storage* storage_at(const void* address);

 private:
  World world_;
  std::unique_ptr<Device> device_;
  Present present_;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Storage>> storages_;
  std::vector<std::vector<int>> stack_;
  std::unique_ptr<Images> images_;
  std::unique_ptr<Checks> checks_;
  bool setting_up_ = true;
  static inline bool is_checked_ = false;

 public:
  std::multimap<std::int64_t, Pending> pending;
  std::map<std::string, std::shared_ptr<void>> moves;  // what gmove keeps, by its sections
  std::vector<std::shared_ptr<void>> kept;             // by sites
  bool explain = false;                                // whether exchanges are printed when they are set up
};

// Ends the program with `file:line: directive: message` of the exception that is being handled.
[[noreturn]] void end_in(const xacc_place* at);

// Runs a directive. An error ends the program.
template <class Body>
void guarded(const xacc_place* at, const Body& body) {
  try {
    body();
  } catch (...) {
    end_in(at);
  }
}

[[noreturn]] void refuse(const std::string& message);

// The ranks that `on` means; empty dimensions make none.
std::vector<int> ranks_of(const xacc_on& on);
// Where a rank lies in nodes, if it does.
std::optional<std::vector<int>> coordinates_in(const xacc_nodes& nodes, int rank);

// How an element's dimension is shared out: the node that owns template index `index`, and what node `part`
// of `parts` owns.
int owner_of(const xacc_split& split, std::int64_t index, int parts);
struct Span {
  std::int64_t begin, end;
  std::int64_t size() const { return end > begin ? end - begin : 0; }
};
Span part_of(const xacc_split& split, int part, int parts);

}  // namespace tca::xacc

// A dimension of an array.
struct xacc_dimension {
  xacc_align align;
  std::int64_t size;
  int node_dim;  // -1: whole on every node
  int parts;
};

struct xacc_layout {
  // Another one whenever elements come to lie elsewhere.
  static std::uint64_t next_version() {
    static std::uint64_t last = 0;
    return ++last;
  }

  std::string name;
  std::size_t element_bytes;
  const xacc_template* on;
  std::vector<xacc_dimension> dims;
  xacc_storage kind;
  int type;  // a xacc_type
  tca::xacc::Storage* storage = nullptr;
  std::map<int, tca::Halo*> reflected = {};                      // by flags: what reflect_do runs
  std::optional<std::vector<std::int64_t>> reflect_widths = {};  // of reflect_init; empty: the whole shadow
  bool initialised = false;
  bool orthogonal = false;
  std::uint64_t version = next_version();

  // What the node at these coordinates owns of dimension d, the extent of its memory, and the index that comes first
  // there; of cyclic dimensions in slots, of which all nodes have as many.
  tca::xacc::Span owned(std::size_t d, const int* at) const;
  std::int64_t extent(std::size_t d, const int* at) const;
  std::int64_t first(std::size_t d, const int* at) const;
  // Where in its memory an index is that it has.
  std::int64_t position(std::size_t d, std::int64_t index, const int* at) const;
  bool cyclic(std::size_t d) const;
  bool full(std::size_t d) const;     // with a shadow that is all that others own
  bool slotted(std::size_t d) const;  // cyclic, with what is owned alone in memory
  // The same on every rank: all that decides where elements are.
  std::string describe() const;
};
