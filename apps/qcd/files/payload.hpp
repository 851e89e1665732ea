// Reads and writes the links of a configuration file: their coding, their checksums, and each rank's part of
// the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "qcd/files/configuration.hpp"

namespace tca::qcd {

// An open file, closed by the destructor. Its members throw Error{invalid_argument} with the file's name.
class File {
 public:
  // Open an existing file. It has to be a regular file, because every rank reads and writes at its own
  // offsets.
  static File to_read(const std::string& path);
  static File to_write(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::int64_t size() const;
  // Throws when the file ends before `into` is full.
  void read(std::int64_t offset, std::span<std::byte> into) const;
  void write(std::int64_t offset, std::span<const std::byte> from) const;
  void write(std::int64_t offset, const std::string& text) const;
  void sync() const;

 private:
  File(const std::string& path, int flags);
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  int descriptor_;
};

// The sum of NERSC's format and the two of SciDAC's. None depends on the order in which sites are visited, or
// on how they are distributed over ranks.
struct Checksums {
  std::uint32_t sum = 0;
  std::uint32_t suma = 0, sumb = 0;

  Checksums& operator+=(const Checksums& other) {
    sum += other.sum;
    suma ^= other.suma;
    sumb ^= other.sumb;
    return *this;
  }
};

// Reads the links of this rank's sites, and returns their checksums.
Checksums read_links(const File& file, const Contents& contents, Gauge& gauge);
// Writes the links of this rank's sites, and returns their checksums. Without a file it only computes them:
// NERSC's header contains the checksum and comes before the links.
Checksums write_links(const File* file, const Contents& contents, const Gauge& gauge);

// Collective. Runs `body` on every rank. If it throws on some rank, all ranks throw Error{refused} with the
// message of the first.
template <class Body>
void together(World& world, const Body& body);
void agree(World& world, const std::string& problem);

template <class Body>
void together(World& world, const Body& body) {
  std::string problem;
  try {
    body();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  agree(world, problem);
}

}  // namespace tca::qcd
