// A Space provides memory that the ranks of a host share: threads of one process, or processes by way of
// /proc.
//
// Between processes each region is a memfd of its owner. It has no name, so nothing can be left behind in
// /dev/shm and nobody else can open it: the kernel lets only the same user's processes follow /proc/<pid>/fd.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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

// The data by which another rank finds a region.
struct Token {
  std::int64_t handle = -1;  // an address, or a file descriptor of `pid`; -1: there is no region
  std::int32_t pid = 0;
  std::int32_t error = 0;  // the errno with which the allocation failed
  std::uint64_t bytes = 0;
};

enum class Backing {
  committed,  // processes: every page is there, or the call fails; threads: unless the system overcommits
  sparse,     // pages come on first use
};

// These make a file `bytes` long and return 0 or an errno. The second also allocates all its pages. Neither
// lets a limit on the size of files (ulimit -f) end the process.
int set_length(int fd, std::size_t bytes);
int reserve_pages(int fd, std::size_t bytes);

class Space {
 public:
  virtual ~Space() = default;

  // Returns zeroed memory of this rank; the token lets others attach to it until `seal` is called. When
  // there is not enough memory the mapping is empty, and the token has the error.
  virtual Mapping allocate(std::size_t bytes, Backing backing, Token& token) = 0;
  virtual Mapping attach(const Token& token) = 0;

  // Returns whether others can attach to memory that this rank already has.
  virtual bool reaches_existing() const = 0;

  // Returns a mapping of such memory, which nobody unmaps.
  virtual Mapping adopt(std::byte* data, std::size_t bytes, Token& token) const = 0;

  // Called once every rank has attached: from then on nobody can.
  virtual void seal(const Token& token) = 0;

  static std::unique_ptr<Space> of_threads();
  static std::unique_ptr<Space> of_processes();
};

// Returns how many bytes of memory this host could still give out, within the limits of the cgroups (the
// container) that this process runs in.
std::uint64_t available_memory();

}  // namespace tca::shm
