// NERSC's archive format: a header of text, then sites with x fastest, four links each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "qcd/headers.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

using Keys = std::map<std::string, std::string>;

const std::string& value(const Keys& keys, const std::string& key, const std::string& path) {
  const auto found = keys.find(key);
  if (found == keys.end()) refuse(path, "its NERSC header has no " + key);
  return found->second;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

Keys parse(const std::string& header) {
  Keys keys;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) keys[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
  }
  return keys;
}

// "IEEE64BIG"; without a letter after the number, and by NERSC's own custom, big endian.
void read_kind(const Keys& keys, const std::string& path, Contents& contents) {
  const std::string& reals = value(keys, "FLOATING_POINT", path);
  contents.bits = reals.starts_with("IEEE64") ? 64 : 32;
  contents.big_endian = reals.find("LITTLE") == std::string::npos;
  if (!reals.starts_with("IEEE64") && !reals.starts_with("IEEE32"))
    refuse(path, "FLOATING_POINT is " + reals + "; IEEE32, IEEE32BIG, IEEE64BIG and the like are known");
  const std::string& kind = value(keys, "DATATYPE", path);
  contents.link_reals = kind == "4D_SU3_GAUGE_3x3" ? 18 : 12;
  if (kind != "4D_SU3_GAUGE" && kind != "4D_SU3_GAUGE_3x3")
    refuse(path, "DATATYPE is " + kind + ", not 4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3");
}

}  // namespace

std::optional<Contents> inspect_nersc(const File& file, const std::string& path) {
  constexpr std::int64_t longest = 65536;
  const std::string begin = "BEGIN_HEADER", end = "END_HEADER\n";
  std::string text(static_cast<std::size_t>(std::min(longest, file.size())), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  if (!text.starts_with(begin)) return std::nullopt;
  const std::size_t last = text.find(end);
  if (last == std::string::npos) refuse(path, "its NERSC header has no END_HEADER");
  const Keys keys = parse(text.substr(0, last));
  Contents contents{.format = Format::nersc, .offset = static_cast<std::int64_t>(last + end.size())};
  try {
    for (std::size_t mu = 0; mu < dims; ++mu)
      contents.extents[mu] = std::stoll(value(keys, fmt::format("DIMENSION_{}", mu + 1), path));
    contents.sum = static_cast<std::uint32_t>(std::stoul(value(keys, "CHECKSUM", path), nullptr, 16));
    contents.plaquette = std::stod(value(keys, "PLAQUETTE", path));
    contents.link_trace = std::stod(value(keys, "LINK_TRACE", path));
  } catch (const std::logic_error&) {  // of stoll and its like
    refuse(path, "its NERSC header has a number that cannot be read");
  }
  read_kind(keys, path, contents);
  check_extents(contents, path);
  return contents;
}

std::string nersc_header(const Contents& contents) {
  std::string header = "BEGIN_HEADER\nHDR_VERSION = 1.0\n";
  header += fmt::format("DATATYPE = {}\n", contents.link_reals == 12 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3");
  header += "STORAGE_FORMAT = 1.0\n";
  for (std::size_t mu = 0; mu < dims; ++mu)
    header += fmt::format("DIMENSION_{} = {}\n", mu + 1, contents.extents[mu]);
  header += fmt::format("LINK_TRACE = {:.15g}\nPLAQUETTE = {:.15g}\n", contents.link_trace.value(),
                        contents.plaquette.value());
  for (std::size_t mu = 0; mu < dims; ++mu) header += fmt::format("BOUNDARY_{} = PERIODIC\n", mu + 1);
  header += fmt::format("CHECKSUM = {:x}\n", contents.sum.value());
  header += "ENSEMBLE_ID = opentca\nSEQUENCE_NUMBER = 0\nCREATOR = opentca\n";
  header += fmt::format("FLOATING_POINT = IEEE{}BIG\nEND_HEADER\n", contents.bits);
  return header;
}

}  // namespace tca::qcd
