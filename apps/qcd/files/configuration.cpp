#include "qcd/files/configuration.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "qcd/files/headers.hpp"
#include "qcd/files/payload.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

std::int64_t volume(const Contents& contents) {
  const Extents& n = contents.extents;
  return n[0] * n[1] * n[2] * n[3];
}

// Throws Error{refused}, for what all ranks find out together, unlike errors in a header.
[[noreturn]] void refuse_links(const std::string& path, const std::string& what) {
  throw Error(Errc::refused, fmt::format("{}: {}", path, what));
}

void check_sum(const char* name, std::optional<std::uint32_t> said, std::uint32_t found,
               const std::string& path) {
  if (said && *said != found)
    refuse_links(path,
                 fmt::format("damaged: its {} is {:08x}, but its header says {:08x}", name, found, *said));
}

void check_average(const char* name, const std::optional<Written>& said, double found, double tolerance,
                   const std::string& path) {
  if (said && !(std::abs(said->number - found) <= std::max(tolerance, said->rounding))) {
    refuse_links(
        path, fmt::format("its {} is {:.12f}, but its header says {:.12f}: damaged, or written by a program "
                          "with other conventions",
                          name, found, said->number));
  }
}

// How far links may be from SU(3), and averages from what headers say, by the rounding of the links.
constexpr double single_rounding = 1e-5, double_rounding = 1e-8;

// Returns whether the links are of single precision. Programs that write 64 bits may have computed in 32, and
// then nearly all links are that far from SU(3). Where a checksum vouches for the links, single ones may be.
bool are_single(const Contents& contents, const Gauge& gauge) {
  if (contents.bits == 32) return true;
  const std::int64_t off = gauge.links_off_su3(double_rounding);
  const bool vouched_for = contents.sum || contents.suma;
  return vouched_for ? off > 0 : off > dims * volume(contents) / 2;
}

Checksums summed(World& world, const Checksums& mine) {
  Checksums all;
  for (const Checksums& one : world.all_gather(mine)) all += one;
  return all;
}

void take_sums(const Checksums& sums, Contents& contents) {
  contents.sum = sums.sum;
  contents.suma = sums.suma;
  contents.sumb = sums.sumb;
}

[[noreturn]] void refuse_to_write(const std::string& path) {
  refuse_links(path, fmt::format("cannot be written: {}", std::strerror(errno)));
}

std::optional<mode_t> permissions(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & 0777;
}

// Makes a new, empty file beside `path` and returns its number. If it will replace another file, only its
// owner may access it until then.
std::uint32_t make_draft(const std::string& path) {
  const mode_t mode = permissions(path) ? 0600 : 0666;
  std::random_device random;
  for (;;) {
    const std::uint32_t number = random();
    const std::string draft = path + unfinished(number);
    const int made = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (made < 0 && errno == EEXIST) continue;
    if (made < 0) refuse_to_write(path);
    close(made);
    return number;
  }
}

void put_in_place(const std::string& draft, const std::string& path) {
  const std::optional<mode_t> mode = permissions(path);
  if (mode && chmod(draft.c_str(), *mode) != 0) refuse_to_write(path);
  if (std::rename(draft.c_str(), path.c_str()) != 0) refuse_to_write(path);
}

// For NERSC the links are encoded twice, because the header contains their checksum.
void write_all(World& world, const Gauge& gauge, const std::string& path, Contents contents) {
  const bool first = world.rank() == 0, nersc = contents.format == Format::nersc;
  if (nersc) take_sums(summed(world, write_links(nullptr, contents, gauge)), contents);
  const std::string header = nersc ? nersc_header(contents) : ildg_header(contents);
  contents.offset = static_cast<std::int64_t>(header.size());
  together(world, [&] {
    if (first) File::to_write(path).write(0, header);
  });
  Checksums mine;
  together(world, [&] {
    const File file = File::to_write(path);
    mine = write_links(&file, contents, gauge);
    file.sync();
  });
  take_sums(summed(world, mine), contents);
  together(world, [&] {
    if (!first || nersc) return;
    const File file = File::to_write(path);
    file.write(contents.offset + volume(contents) * contents.site_bytes(), ildg_trailer(contents));
    file.sync();
  });
}

}  // namespace

std::string unfinished(std::uint32_t number) { return fmt::format(".unfinished-{:08x}", number); }

std::string describe(const Contents& contents) {
  const char* const order = !contents.order_is_said ? ""
                            : contents.big_endian   ? ", big endian"
                                                    : ", little endian";
  return fmt::format("{}, {}, {} bits{}{}", contents.format == Format::nersc ? "NERSC" : "ILDG",
                     describe(contents.extents), contents.bits, order,
                     contents.sum || contents.suma ? "" : ", without a checksum");
}

Contents inspect_configuration(const std::string& path) {
  const File file = File::to_read(path);
  std::optional<Contents> contents = inspect_nersc(file, path);
  if (!contents) contents = inspect_ildg(file, path);
  if (!contents) refuse(path, "neither a NERSC nor an ILDG configuration");
  const std::int64_t needed = contents->offset + volume(*contents) * contents->site_bytes();
  if (file.size() < needed) refuse(path, fmt::format("cut off: {} bytes of {}", file.size(), needed));
  // An ILDG file may have more records behind its links.
  if (contents->format == Format::nersc && file.size() != needed)
    refuse(path,
           fmt::format("has {} bytes, {} more than its header says", file.size(), file.size() - needed));
  return *contents;
}

Reading read_configuration(World& world, Gauge& gauge, const std::string& path, const Contents& contents) {
  if (contents.extents != gauge.lattice().global()) {
    refuse(path, fmt::format("a configuration of {}, not of {}", describe(contents.extents),
                             describe(gauge.lattice().global())));
  }
  const auto read = [&](const Contents& as) {
    Checksums mine;
    together(world, [&] { mine = read_links(File::to_read(path), as, gauge); });
    return summed(world, mine);
  };
  Checksums sums = read(contents);
  if (!contents.order_is_said && contents.sum && *contents.sum != sums.sum) {
    Contents other = contents;
    other.big_endian = !contents.big_endian;
    const Checksums others = read(other);
    // Otherwise what the first order gave is reported.
    if (*contents.sum == others.sum) sums = others;
  }
  check_sum("checksum", contents.sum, sums.sum, path);
  check_sum("checksum A", contents.suma, sums.suma, path);
  check_sum("checksum B", contents.sumb, sums.sumb, path);
  gauge.exchange();
  const bool single = are_single(contents, gauge);
  const double tolerance = single ? single_rounding : double_rounding;
  const Averages averages = gauge.averages();
  check_average("plaquette", contents.plaquette, averages.plaquette, tolerance, path);
  check_average("link trace", contents.link_trace, averages.link_trace, tolerance, path);
  gauge.require_unitary(tolerance, path);
  if (single) gauge.reunitarise();
  return {averages, single && contents.bits == 64};
}

void write_configuration(World& world, Gauge& gauge, const std::string& path, Format format, int bits) {
  const Averages averages = gauge.averages();
  const Contents contents{.format = format,
                          .extents = gauge.lattice().global(),
                          .bits = bits,
                          .link_reals = format == Format::nersc ? 12 : 18,
                          .plaquette = Written{averages.plaquette},
                          .link_trace = Written{averages.link_trace}};
  const bool first = world.rank() == 0;
  std::string draft;
  try {
    std::uint32_t number = 0;
    together(world, [&] {
      if (!first) return;
      number = make_draft(path);
      draft = path + unfinished(number);
    });
    draft = path + unfinished(world.all_gather(number).front());
    write_all(world, gauge, draft, contents);
    together(world, [&] {
      if (first) put_in_place(draft, path);
    });
  } catch (...) {
    if (first && !draft.empty()) unlink(draft.c_str());
    throw;
  }
}

}  // namespace tca::qcd
