#include "qcd/files/payload.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "tca/error.hpp"

namespace tca::qcd {
namespace {

bool swaps(const Contents& contents) {
  return contents.big_endian != (std::endian::native == std::endian::big);
}

void swap_reals(std::span<std::byte> bytes, int bits) {
  const auto width = static_cast<std::ptrdiff_t>(bits / 8);
  for (auto at = bytes.begin(); at != bytes.end(); at += width) std::reverse(at, at + width);
}

// NERSC's checksum is the sum of the 32-bit words in the byte order of the machine.
std::uint32_t sum_words(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0, word;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
    std::memcpy(&word, &bytes[at], sizeof word);
    sum += word;
  }
  return sum;
}

// SciDAC's checksums combine the CRC-32 of each site's bytes in the file, rotated by an amount that depends
// on the number of the site.
void add_site(std::span<const std::byte> bytes, std::int64_t number, Checksums& sums) {
  const auto crc = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  sums.suma ^= std::rotl(crc, static_cast<int>(number % 29));
  sums.sumb ^= std::rotl(crc, static_cast<int>(number % 31));
}

template <class T>
void decode(const std::byte* bytes, int reals, Link& link) {
  T values[18];
  std::memcpy(values, bytes, static_cast<std::size_t>(reals) * sizeof(T));
  for (int i = 0; i < reals / 2; ++i)
    link.m[i / 3][i % 3] = {static_cast<double>(values[2 * i]), static_cast<double>(values[2 * i + 1])};
  if (reals == 12) restore_third_row(link);
}

template <class T>
void encode(const Link& link, int reals, std::byte* bytes) {
  T values[18];
  for (int i = 0; i < reals / 2; ++i) {
    values[2 * i] = static_cast<T>(link.m[i / 3][i % 3].re);
    values[2 * i + 1] = static_cast<T>(link.m[i / 3][i % 3].im);
  }
  std::memcpy(bytes, values, static_cast<std::size_t>(reals) * sizeof(T));
}

// Calls visit(first local coordinates, global index) for every row of this rank's sites along x. A row is
// contiguous in the file.
template <class Visit>
void for_each_row(const Lattice& lattice, const Visit& visit) {
  Extents c{};
  const Extents& n = lattice.local();
  for (c[3] = 0; c[3] < n[3]; ++c[3])
    for (c[2] = 0; c[2] < n[2]; ++c[2])
      for (c[1] = 0; c[1] < n[1]; ++c[1]) visit(c, lattice.global_index(lattice.site(c)));
}

// Calls visit(link, offset of its bytes in the row) for every link of a row.
template <class LinkType, class Visit>
void for_each_link(const Gauge& gauge, Extents site, const Contents& contents, const Visit& visit) {
  std::int64_t at = 0;
  for (site[0] = 0; site[0] < gauge.lattice().local()[0]; ++site[0]) {
    for (int mu = 0; mu < dims; ++mu) {
      LinkType& link = gauge.links(mu)[gauge.index(site)];
      visit(link, at);
      at += contents.site_bytes() / dims;
    }
  }
}

}  // namespace

Checksums read_links(const File& file, const Contents& contents, Gauge& gauge) {
  const Lattice& lattice = gauge.lattice();
  const auto site_bytes = static_cast<std::size_t>(contents.site_bytes());
  std::vector<std::byte> row(static_cast<std::size_t>(lattice.local()[0]) * site_bytes);
  Checksums sums;
  for_each_row(lattice, [&](const Extents& first, std::int64_t number) {
    file.read(contents.offset + number * contents.site_bytes(), row);
    for (std::size_t x = 0; x * site_bytes < row.size(); ++x)
      add_site({&row[x * site_bytes], site_bytes}, number + static_cast<std::int64_t>(x), sums);
    if (swaps(contents)) swap_reals(row, contents.bits);
    sums.sum += sum_words(row);
    for_each_link<Link>(gauge, first, contents, [&](Link& link, std::int64_t at) {
      contents.bits == 32 ? decode<float>(row.data() + at, contents.link_reals, link)
                          : decode<double>(row.data() + at, contents.link_reals, link);
    });
  });
  return sums;
}

Checksums write_links(const File* file, const Contents& contents, const Gauge& gauge) {
  const Lattice& lattice = gauge.lattice();
  const auto site_bytes = static_cast<std::size_t>(contents.site_bytes());
  std::vector<std::byte> row(static_cast<std::size_t>(lattice.local()[0]) * site_bytes);
  Checksums sums;
  for_each_row(lattice, [&](const Extents& first, std::int64_t number) {
    for_each_link<const Link>(gauge, first, contents, [&](const Link& link, std::int64_t at) {
      contents.bits == 32 ? encode<float>(link, contents.link_reals, row.data() + at)
                          : encode<double>(link, contents.link_reals, row.data() + at);
    });
    sums.sum += sum_words(row);
    if (swaps(contents)) swap_reals(row, contents.bits);
    for (std::size_t x = 0; x * site_bytes < row.size(); ++x)
      add_site({&row[x * site_bytes], site_bytes}, number + static_cast<std::int64_t>(x), sums);
    if (file != nullptr) file->write(contents.offset + number * contents.site_bytes(), row);
  });
  return sums;
}

void agree(World& world, const std::string& problem) {
  struct Message {
    char text[400];
  };
  Message mine{};
  problem.copy(mine.text, sizeof mine.text - 1);
  for (const Message& message : world.all_gather(mine))
    if (message.text[0] != '\0') throw Error(Errc::refused, message.text);
}

// O_NONBLOCK: opening a pipe would otherwise wait until another process opens its other end.
File::File(const std::string& path, int flags)
    : path_(path), descriptor_(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) fail((flags & O_WRONLY) != 0 ? "cannot be written" : "cannot be opened");
  struct stat status {};
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) return;
  close(descriptor_);
  throw Error(
      Errc::invalid_argument,
      fmt::format("{}: not a regular file; every rank reads its own part of it, so copy it to one first",
                  path_));
}

File File::to_read(const std::string& path) { return File(path, O_RDONLY); }

File File::to_write(const std::string& path) { return File(path, O_WRONLY); }

File::~File() { close(descriptor_); }

void File::fail(const char* what) const {
  throw Error(Errc::invalid_argument, fmt::format("{}: {}: {}", path_, what, std::strerror(errno)));
}

std::int64_t File::size() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) fail("cannot be examined");
  return status.st_size;
}

void File::read(std::int64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = pread(descriptor_, into.data(), into.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read");
    if (got == 0) throw Error(Errc::invalid_argument, fmt::format("{}: ends after {} bytes", path_, offset));
    into = into.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

void File::write(std::int64_t offset, std::span<const std::byte> from) const {
  while (!from.empty()) {
    const ssize_t put = pwrite(descriptor_, from.data(), from.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot be written");
    from = from.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
}

void File::write(std::int64_t offset, const std::string& text) const {
  write(offset, std::as_bytes(std::span(text)));
}

void File::sync() const {
  if (fsync(descriptor_) != 0) fail("cannot be written to the disk");
}

}  // namespace tca::qcd
