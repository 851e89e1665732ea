// NERSC's archive format: a text header, then the sites with x fastest, each with four links.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "qcd/files/headers.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

Header parse(const std::string& text) {
  Header header{"NERSC header", {}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos)
      header.entries.emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  return header;
}

struct Reals {
  std::string_view name;
  int bits;
  bool big_endian;
};
// By NERSC's custom reals are big endian if the name does not say, but some programs mean their own
// machine's.
constexpr Reals known_reals[] = {
    {"IEEE32", 32, true}, {"IEEE32BIG", 32, true}, {"IEEE32LITTLE", 32, false}, {"IEEE32SMALL", 32, false},
    {"IEEE64", 64, true}, {"IEEE64BIG", 64, true}, {"IEEE64LITTLE", 64, false}, {"IEEE64SMALL", 64, false}};

void read_kind(const Header& header, const std::string& path, Contents& contents) {
  const std::string reals = header.value("FLOATING_POINT", path).text;
  const auto* const found = std::find_if(std::begin(known_reals), std::end(known_reals),
                                         [&](const Reals& one) { return one.name == reals; });
  if (found == std::end(known_reals))
    refuse(path, "FLOATING_POINT is " + reals + "; IEEE32 and IEEE64 are known, and both with BIG or LITTLE");
  contents.bits = found->bits;
  contents.big_endian = found->big_endian;
  contents.order_is_said = !reals.ends_with(fmt::format("{}", found->bits));
  const std::string kind = header.value("DATATYPE", path).text;
  const bool whole = kind == "4D_SU3_GAUGE_3x3" || kind == "4D_SU3_GAUGE_3X3";
  contents.link_reals = whole ? 18 : 12;
  if (!whole && kind != "4D_SU3_GAUGE")
    refuse(path, "DATATYPE is " + kind + ", not 4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3");
}

// Returns where the links begin: after the line END_HEADER, whatever white space ends it.
std::size_t end_of_header(const std::string& text, const std::string& path) {
  constexpr std::string_view last = "\nEND_HEADER";
  for (std::size_t at = text.find(last); at != std::string::npos; at = text.find(last, at + 1)) {
    const std::size_t line_end = text.find_first_not_of(" \t\r", at + last.size());
    if (line_end != std::string::npos && text[line_end] == '\n') return line_end + 1;
  }
  refuse(path, "its NERSC header has no END_HEADER");
}

}  // namespace

std::optional<Contents> inspect_nersc(const File& file, const std::string& path) {
  constexpr std::int64_t longest = 65536;
  std::string text(static_cast<std::size_t>(std::min(longest, file.size())), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  if (!text.starts_with("BEGIN_HEADER")) return std::nullopt;
  const std::size_t end = end_of_header(text, path);
  const Header header = parse(text.substr(0, end));
  Contents contents{.format = Format::nersc, .offset = static_cast<std::int64_t>(end)};
  for (std::size_t mu = 0; mu < dims; ++mu)
    contents.extents[mu] = whole_number(header.value(fmt::format("DIMENSION_{}", mu + 1), path), path);
  if (header.has("CHECKSUM")) contents.sum = checksum_number(header.value("CHECKSUM", path), path);
  if (header.has("PLAQUETTE")) contents.plaquette = real_number(header.value("PLAQUETTE", path), path);
  if (header.has("LINK_TRACE")) contents.link_trace = real_number(header.value("LINK_TRACE", path), path);
  read_kind(header, path, contents);
  check_extents(contents, path);
  return contents;
}

std::string nersc_header(const Contents& contents) {
  std::string header = "BEGIN_HEADER\nHDR_VERSION = 1.0\n";
  header += fmt::format("DATATYPE = {}\n", contents.link_reals == 12 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3");
  header += "STORAGE_FORMAT = 1.0\n";
  for (std::size_t mu = 0; mu < dims; ++mu)
    header += fmt::format("DIMENSION_{} = {}\n", mu + 1, contents.extents[mu]);
  header += fmt::format("LINK_TRACE = {:.15g}\nPLAQUETTE = {:.15g}\n", contents.link_trace.value().number,
                        contents.plaquette.value().number);
  for (std::size_t mu = 0; mu < dims; ++mu) header += fmt::format("BOUNDARY_{} = PERIODIC\n", mu + 1);
  header += fmt::format("CHECKSUM = {:x}\n", contents.sum.value());
  header += "ENSEMBLE_ID = opentca\nSEQUENCE_NUMBER = 0\nCREATOR = opentca\n";
  header += fmt::format("FLOATING_POINT = IEEE{}BIG\nEND_HEADER\n", contents.bits);
  return header;
}

}  // namespace tca::qcd
