// Memory that the ranks of a host reach in common: of one process, or of processes through /proc.
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

// A mapped range, unmapped with its object.
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

// How another rank finds a region.
struct Token {
  std::int64_t handle = -1;  // an address, or a file descriptor of `pid`; -1 when the region could not be had
  std::int32_t pid = 0;
  std::int32_t error = 0;  // errno behind a handle of -1
  std::uint64_t bytes = 0;
};

enum class Backing {
  committed,  // of processes every page is there, or the call fails; of threads as far as the system overcommits
  sparse,     // pages come on first use
};

// Makes a file that long; returns 0 or an errno. So does the second, which also gets all its pages. Neither lets a limit on the
// size of files (ulimit -f) end the process.
int set_length(int fd, std::size_t bytes);
int reserve_pages(int fd, std::size_t bytes);

class Space {
 public:
  virtual ~Space() = default;

  // Zeroed memory of this rank; the token lets others attach until `seal` is called.
  virtual Mapping allocate(std::size_t bytes, Backing backing, Token& token) = 0;
  virtual Mapping attach(const Token& token) = 0;

  // Whether others can attach to memory that this rank already has.
  virtual bool reaches_existing() const = 0;

  // Such memory, which is nobody's to unmap.
  virtual Mapping adopt(std::byte* data, std::size_t bytes, Token& token) const = 0;

  // Every rank has attached: nobody can any more.
  virtual void seal(const Token& token) = 0;

  static std::unique_ptr<Space> of_threads();
  static std::unique_ptr<Space> of_processes();
};

// Bytes of memory that this host could still give out, after the limits of the cgroups (the container) that
// this process runs in.
std::uint64_t available_memory();

}  // namespace tca::shm
