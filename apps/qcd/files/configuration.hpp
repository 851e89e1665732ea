// Reads and writes gauge configurations in files: NERSC's archive format, and ILDG's (a LIME container with a
// SciDAC checksum).
//
// Every rank reads and writes its own sites in the same file. A file that is damaged, cut off or of another
// lattice is refused with the same error on every rank. A new file gets its name only when it is complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qcd/gauge.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

enum class Format {
  nersc,  // first two rows of each link, as written
  ildg,   // whole links, big endian
};

// A number as it is written in a header. `rounding` is half a unit of its last digit.
struct Written {
  double number = 0;
  double rounding = 0;
};

// Where the links are in a file, and what its header says about them.
struct Contents {
  Format format = Format::nersc;
  Extents extents{};
  std::int64_t offset = 0;  // of the links, in bytes
  int bits = 64;            // of a real
  bool big_endian = true;
  bool order_is_said = true;  // by the header; if it is not, the checksum tells
  int link_reals = 12;
  std::optional<std::uint32_t> sum = {};              // NERSC: sum of all 32-bit words
  std::optional<std::uint32_t> suma = {}, sumb = {};  // SciDAC: of the CRC-32 of the sites
  std::optional<Written> plaquette = {}, link_trace = {};

  std::int64_t site_bytes() const { return std::int64_t{dims} * link_reals * bits / 8; }
};

std::string describe(const Contents& contents);  // e.g. "NERSC, 8x8x8x8, 64 bits, big endian"

// Reads only the headers. Throws Error{invalid_argument} if the file is of neither format, is damaged, or
// does not have the length that its header implies.
Contents inspect_configuration(const std::string& path);

struct Reading {
  Averages averages;                 // of the links as they are in the file
  bool of_single_precision = false;  // 64 bits of a real hold no more than 32 would
};

// Collective. Reads the links and updates their ghosts. Checks the file's checksums and, where the header
// gives them, plaquette and link trace, to the digits that it gives. Also checks that the links are in SU(3),
// in single or double precision, whichever they are of. Links of single precision are then made unitary to
// double precision. Throws Error{refused} on every rank if a check fails, and Error{invalid_argument} if the
// file is of another lattice.
Reading read_configuration(World& world, Gauge& gauge, const std::string& path, const Contents& contents);

// The suffix of a file's name while it is incomplete. `number` distinguishes it from other unfinished files.
std::string unfinished(std::uint32_t number);

// Collective. `bits` is 32 or 64. If a file is replaced, the new one gets its permissions. Throws
// Error{refused} on every rank if the file cannot be written. An existing file of that name is left as it was
// then.
void write_configuration(World& world, Gauge& gauge, const std::string& path, Format format, int bits);

}  // namespace tca::qcd
