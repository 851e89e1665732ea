// Gauge configurations in files: NERSC's archive format, and ILDG's (a LIME container with a SciDAC checksum).
//
// Every rank reads and writes its own sites in the one file. What is damaged, cut off or of another lattice is refused with
// the same error on every rank. A new file appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qcd/gauge.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

enum class Format {
  nersc,  // the first two rows of each link
  ildg,   // whole links, big endian
};

// A number as a header writes it; `rounding` is half a unit of its last digit.
struct Written {
  double number = 0;
  double rounding = 0;
};

// Where the links lie in a file, and what its header says of them.
struct Contents {
  Format format = Format::nersc;
  Extents extents{};
  std::int64_t offset = 0;  // bytes
  int bits = 64;            // of a real
  bool big_endian = true;
  int link_reals = 12;
  std::optional<std::uint32_t> sum = {};              // NERSC: of all 32-bit words
  std::optional<std::uint32_t> suma = {}, sumb = {};  // SciDAC: of the sites' CRC-32
  std::optional<Written> plaquette = {}, link_trace = {};

  std::int64_t site_bytes() const { return std::int64_t{dims} * link_reals * bits / 8; }
};

std::string describe(const Contents& contents);  // e.g. "NERSC, 8x8x8x8, 64 bits, big endian"

// Reads headers only. Throws Error{invalid_argument} for a file that is neither format, damaged, or not as long as its header
// says.
Contents inspect_configuration(const std::string& path);

// Collective. Fills the links and their ghosts, and checks everything that the file says of itself: checksums, and plaquette
// and link trace where it gives them, to the digits that it gives; and that the links are in SU(3). Links of 32 bits are then
// made unitary to double precision. Throws Error{refused} on every rank alike, and Error{invalid_argument} for another lattice.
Averages read_configuration(World& world, Gauge& gauge, const std::string& path, const Contents& contents);

// What a file's name ends in until all of it is there; `number` tells it from what others have left unfinished.
std::string unfinished(std::uint32_t number);

// Collective. `bits` is 32 or 64. A file that is replaced hands on its permissions. Throws Error{refused} on every rank when the
// file cannot be written, and leaves what was there under that name as it was.
void write_configuration(World& world, Gauge& gauge, const std::string& path, Format format, int bits);

}  // namespace tca::qcd
