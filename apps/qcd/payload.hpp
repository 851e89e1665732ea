// The links' bytes in a file: coding, checksums, and who reads and writes which part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "qcd/configuration.hpp"

namespace tca::qcd {

// An open file that closes itself. Its calls throw Error{invalid_argument} with the file's name.
class File {
 public:
  // What is there, which has to be a regular file: every rank reads and writes at places of its own.
  static File to_read(const std::string& path);
  static File to_write(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::int64_t size() const;
  // Throws when the file ends before.
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

// Both kinds are independent of the order in which sites are visited, and of how they are dealt out.
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

// This rank's sites.
Checksums read_links(const File& file, const Contents& contents, Gauge& gauge);
// Without a file the checksums are only computed: NERSC's header, which has one, comes before the links.
Checksums write_links(const File* file, const Contents& contents, const Gauge& gauge);

// Runs `body` on this rank and throws what the first rank threw as Error{refused} on all of them. Collective.
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
