// What -fcheck knows of a running program: where its regions are, which of an array's two copies, the host's and the
// device's, is the newer one, and which ghosts are stale.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/check/copies.hpp"
#include "runtime/check/ghosts.hpp"

namespace tca::xacc {

class Checks {
 public:
  // A loop that is shared out or a compute region begins, and ends. Those of a task are no steps that other
  // ranks take as well.
  void enter(bool compute);
  void leave(bool compute);
  // Ranks have done something together.
  void step();

  // Memory of an array: collective.
  void watch(const xacc_layout& layout);

  // What data directives do, in front of it or behind it as the names say.
  void entered(const xacc_item& item);
  void left(const xacc_item& item);
  void updated(const xacc_item& item, const xacc_place& at);

  // Returns where an element is, or what bears the name of `at`: on the device within a region, if it is there.
  void* element(const xacc_array& a, const std::int64_t* index, int access, const xacc_place& at);
  void* touch(void* host, std::size_t bytes, int access, const xacc_place& at);
  // Something that ranks did together wrote, on the device or on the host; `changed` read it as well.
  void changed(void* host, std::size_t bytes, bool device, const xacc_place& at);
  void wrote(void* host, std::size_t bytes, bool device, const xacc_place& at);
  // An assignment of sections accesses what this rank has of one of its sides.
  void moved(const xacc_section& section, int access, bool device, const xacc_place& at);

  // In front of an exchange of ghosts, and behind it.
  void compare(const xacc_layout& layout, const xacc_place& at);
  void brought(const xacc_array& a, const Widths& widths, bool orthogonal, bool device, const xacc_place& at);
  // Where all ranks meet anyway: of all arrays outside of functions.
  void compare_all(const xacc_place& at);

 private:
  // Where what runs now has its memory.
  TwoCopies::Side here() const { return regions_ > 0 ? TwoCopies::device : TwoCopies::host; }

  int regions_ = 0, loops_ = 0;
  std::uint32_t time_ = 1;
  TwoCopies copies_;
  std::vector<const xacc_layout*> watched_;
};

}  // namespace tca::xacc
