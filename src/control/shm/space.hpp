// A Space provides memory that the ranks of a host share: threads of one process, or processes via /proc.
//
// Between processes each region is a memfd of its owner. It has no name, so nothing can be left behind in
// /dev/shm and nobody else can open it: the kernel lets only the same user's processes follow /proc/<pid>/fd.
// If the kernel refuses that to any of them, ranks pass each other the descriptors over sockets.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/members.hpp"
#include "control/shm/access.hpp"
#include "control/shm/file.hpp"

namespace tca::shm {

// A mapped range, which is unmapped with its object if it is owned.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* data, std::size_t bytes, bool owned) : data_(data), bytes_(bytes), owned_(owned) {}
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool owned_ = false;
};

// The data that lets another rank find a region.
struct Token {
  // Handles that mean no region, and memory inside its rank's inbox.
  static constexpr std::int64_t none = -1, in_inbox = -2;

  std::int64_t handle = none;  // otherwise an address, or a file descriptor of the owner
  Identity owner;              // if ranks are processes
  std::int32_t error = 0;      // the errno with which the allocation failed
  std::uint64_t bytes = 0;     // even if it failed
  std::uint64_t begin = 0;     // where the window begins in the region, or in the inbox

  bool is_region() const { return handle >= 0; }
};

// By rank: whether this rank attaches to its memory.
using Reach = std::vector<bool>;

enum class Backing {
  committed,  // processes: every page is there, or the call fails; threads: unless the system overcommits
  sparse,     // pages are allocated on first use
};

// These make a file `bytes` long and return 0 or an errno. The second also allocates all its pages. Neither
// lets a file size limit (ulimit -f) end the process.
int set_length(int fd, std::size_t bytes);
int reserve_pages(int fd, std::size_t bytes);

// Makes sure that all pages of a part of sparse memory exist, and zeroes it. Returns 0 or an errno. Before
// Linux 5.14 it cannot fail, and the process ends if the system does not have a page.
int make_pages(std::byte* data, std::size_t bytes);

// Makes sure that all pages of a part of sparse memory exist, and leaves their contents alone. Returns the
// same as `make_pages`.
int populate(std::byte* data, std::size_t bytes);

// Returns the whole pages in a part of sparse memory to the system. They are there again, zeroed, when
// somebody touches them.
void drop_pages(std::byte* data, std::size_t bytes);

class Space {
 public:
  virtual ~Space() = default;

  // Returns zeroed memory of this rank; the token lets others attach to it until `seal` is called. If there
  // is not enough memory the mapping is empty, and the token holds the error.
  virtual Mapping allocate(std::size_t bytes, Backing backing, Token& token) = 0;

  // Throws Error{incompatible} if the system denies access to the owner's memory, and Error{out_of_memory}
  // if a limit of this process forbids the mapping. `passed` is what `pass` has returned for the owner.
  virtual Mapping attach(const Token& token, File passed) = 0;

  // Collective over the members. Passes the region of `own` to those in `reach`, which do the same, if
  // regions are passed. Returns by rank what has arrived.
  virtual std::vector<File> pass(const control::Members& members, const Token& own, const Reach& reach,
                                 std::string_view what);

  // Returns whether a rank can attach to a region by its token alone, without the owner.
  virtual bool attaches_alone() const = 0;

  // Returns whether others can attach to memory that this rank already has.
  virtual bool reaches_existing() const = 0;

  // Returns a mapping of such memory, which is never unmapped.
  virtual Mapping adopt(std::byte* data, std::size_t bytes, Token& token) const = 0;

  // Called once every rank has attached, or none is to attach any more: from then on nobody can.
  virtual void seal(const Token& token) = 0;

  static std::unique_ptr<Space> of_threads();
  static std::unique_ptr<Space> of_processes();
  // Collective. Its regions are passed over sockets.
  static std::unique_ptr<Space> of_processes(control::Control& control);
};

// Returns how much memory this host can still give out, in bytes, within the limits of the cgroups (the
// container) that this process runs in.
std::uint64_t available_memory();

}  // namespace tca::shm
