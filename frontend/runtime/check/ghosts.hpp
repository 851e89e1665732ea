// Ghosts that a program reads although their owner has written since they were brought (-fcheck). Ranks count their loops
// and compute regions, which all of them execute in the same order: of two accesses of different ranks the one with the
// smaller number is the earlier one, whenever the ranks come to it. Where ranks compare, each tells its neighbours when it
// wrote their ghosts, and each looks whether it read its own behind that.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/reflect.hpp"

namespace tca::xacc {

// When a rank wrote an element before ranks last compared, and first since, and in which line; 0: not at all.
struct Written {
  std::uint32_t before, since;
  std::int32_t line_before, line_since;
};

class Ghosts {
 public:
  // Collective. Of memory for so many elements.
  Ghosts(Group& group, std::int64_t capacity, const std::string& name);
  void reset();

  void wrote(std::size_t element, bool is_ghost, std::uint32_t time, int line);
  void read(std::size_t element, std::uint32_t time, const xacc_place& at);
  // Ghosts within these widths are their owners' now; corners too, unless orthogonal. Returns which.
  std::vector<std::size_t> brought(const xacc_layout& layout, const Widths& widths, bool orthogonal,
                                   std::uint32_t time);

  // Collective. Ends the program where a ghost was read that is stale.
  void compare(const xacc_layout& layout, const xacc_place& at);

 private:
  struct Last {
    std::uint32_t time;
    std::int32_t line;
  };
  struct Read {
    std::uint32_t time;
    int line;
    const char* file;
  };
  [[noreturn]] static void refuse_stale(const xacc_layout& layout, std::size_t element, const Read& read,
                                        int line);

  Storage written_;
  std::optional<Widths> exchanged_;     // by the widest reflects so far
  std::vector<Last> last_;              // of own elements: when they were written
  std::vector<std::uint32_t> brought_;  // of ghosts: when they were filled
  std::vector<Read> read_;              // and read since ranks last compared
};

}  // namespace tca::xacc
