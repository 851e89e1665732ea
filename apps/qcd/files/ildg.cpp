// ILDG's format: a LIME file is a sequence of records, each with a header of 144 bytes and padded to a
// multiple of 8 bytes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "qcd/files/headers.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

constexpr std::uint32_t magic = 0x456789ab;
constexpr std::int64_t header_bytes = 144;
constexpr std::int64_t longest_text = 1 << 20;
// LIME flags: the first and the last record of a message.
constexpr std::uint64_t first_record = 1ULL << 15, last_record = 1ULL << 14;

std::uint64_t big_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::string as_big_endian(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = count - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::int64_t padded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

struct Record {
  std::string type;
  std::int64_t data;   // where its data begin
  std::int64_t bytes;  // without padding
};

std::string read_text(const File& file, std::int64_t at, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(at, std::as_writable_bytes(std::span(text)));
  return text;
}

Record read_record(const File& file, std::int64_t at, const std::string& path) {
  if (file.size() - at < header_bytes)
    refuse(path, fmt::format("cut off: the LIME record at byte {} is incomplete", at));
  const std::string header = read_text(file, at, header_bytes);
  if (big_endian(header, 0, 4) != magic) refuse(path, fmt::format("damaged: no LIME record at byte {}", at));
  const std::uint64_t bytes = big_endian(header, 8, 8);
  Record record{header.substr(16).c_str(), at + header_bytes, static_cast<std::int64_t>(bytes)};
  const std::int64_t left = file.size() - record.data;
  if (bytes > static_cast<std::uint64_t>(left) || padded(record.bytes) > left) {
    refuse(path, fmt::format("cut off or damaged: its record {} has {} bytes, {} are left of the file",
                             record.type, bytes, left));
  }
  return record;
}

HeaderValue element(const std::string& xml, const std::string& name, const std::string& path) {
  const std::string opening = "<" + name + ">";
  const std::size_t begin = xml.find(opening), end = xml.find("</" + name + ">");
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    refuse(path, "its ILDG header has no " + name);
  const std::string text = xml.substr(begin + opening.size(), end - begin - opening.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return {name, first == std::string::npos ? "" : text.substr(first, last - first + 1)};
}

void read_format(const std::string& xml, const std::string& path, Contents& contents) {
  const char* const names[] = {"lx", "ly", "lz", "lt"};
  for (std::size_t mu = 0; mu < dims; ++mu)
    contents.extents[mu] = whole_number(element(xml, names[mu], path), path);
  const std::string field = element(xml, "field", path).text;
  if (field != "su3gauge") refuse(path, "its ILDG header says field " + field + ", not su3gauge");
  const std::string precision = element(xml, "precision", path).text;
  if (precision != "32" && precision != "64")
    refuse(path, "its ILDG header says precision " + precision + ", not 32 or 64");
  contents.bits = precision == "32" ? 32 : 64;
  check_extents(contents, path);
}

// The types of the records that are read here. Each may occur only once, because nothing says which of two is
// valid. Other programs may add records of other types, any number of times.
bool is_taken(const std::string& type) {
  constexpr std::string_view taken[] = {"ildg-format", "ildg-binary-data", "scidac-checksum",
                                        "opentca-averages"};
  return std::find(std::begin(taken), std::end(taken), type) != std::end(taken);
}

void take(const Record& record, const File& file, const std::string& path, Contents& contents) {
  if (record.type == "ildg-binary-data") {
    contents.offset = record.data;
    return;
  }
  if (!is_taken(record.type)) return;
  if (record.bytes > longest_text)
    refuse(path, fmt::format("its record {} has {} bytes, far more than such a record needs", record.type,
                             record.bytes));
  const std::string text = read_text(file, record.data, record.bytes);
  if (record.type == "ildg-format") {
    read_format(text, path, contents);
  } else if (record.type == "scidac-checksum") {
    contents.suma = checksum_number(element(text, "suma", path), path);
    contents.sumb = checksum_number(element(text, "sumb", path), path);
  } else if (record.type == "opentca-averages") {
    contents.plaquette = real_number(element(text, "plaquette", path), path);
    contents.link_trace = real_number(element(text, "linkTrace", path), path);
  }
}

std::string record_header(const std::string& type, std::int64_t bytes, std::uint64_t flags) {
  std::string header = as_big_endian(magic, 4) + as_big_endian(1, 2) + as_big_endian(flags, 2) +
                       as_big_endian(static_cast<std::uint64_t>(bytes), 8) + type;
  header.resize(header_bytes, '\0');
  return header;
}

std::string text_record(const std::string& type, std::string text, std::uint64_t flags) {
  const std::string header = record_header(type, static_cast<std::int64_t>(text.size()), flags);
  text.resize(static_cast<std::size_t>(padded(static_cast<std::int64_t>(text.size()))), '\0');
  return header + text;
}

std::int64_t data_bytes(const Contents& contents) {
  const Extents& n = contents.extents;
  return n[0] * n[1] * n[2] * n[3] * contents.site_bytes();
}

constexpr const char* xml = R"(<?xml version="1.0" encoding="UTF-8"?>)";

}  // namespace

std::optional<Contents> inspect_ildg(const File& file, const std::string& path) {
  if (file.size() < header_bytes || big_endian(read_text(file, 0, 4), 0, 4) != magic) return std::nullopt;
  Contents contents{.format = Format::ildg, .link_reals = 18};
  std::int64_t links = -1;
  std::set<std::string> seen;
  int number = 1;
  for (std::int64_t at = 0; at < file.size(); ++number) {
    const Record record = read_record(file, at, path);
    if (is_taken(record.type) && !seen.insert(record.type).second) {
      refuse(path, fmt::format("its record {} is a second {}, and nothing says which of the two holds; take "
                               "one of them out",
                               number, record.type));
    }
    take(record, file, path, contents);
    if (record.type == "ildg-binary-data") links = record.bytes;
    at = record.data + padded(record.bytes);
  }
  if (contents.extents[0] == 0) refuse(path, "a LIME file without a record ildg-format");
  if (links < 0) refuse(path, "a LIME file without a record ildg-binary-data");
  if (links != data_bytes(contents)) {
    refuse(path, fmt::format("its links have {} bytes, but {} in {} bits has {}", links,
                             describe(contents.extents), contents.bits, data_bytes(contents)));
  }
  return contents;
}

std::string ildg_header(const Contents& contents) {
  const Extents& n = contents.extents;
  const std::string format = fmt::format(
      "{}<ildgFormat xmlns=\"http://www.lqcd.org/ildg\"><version>1.0</version><field>su3gauge</field>"
      "<precision>{}</precision><lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt></ildgFormat>",
      xml, contents.bits, n[0], n[1], n[2], n[3]);
  const std::string averages =
      fmt::format("{}<averages><plaquette>{:.15g}</plaquette><linkTrace>{:.15g}</linkTrace></averages>", xml,
                  contents.plaquette.value().number, contents.link_trace.value().number);
  return text_record("ildg-format", format, first_record) + text_record("opentca-averages", averages, 0) +
         record_header("ildg-binary-data", data_bytes(contents), 0);
}

std::string ildg_trailer(const Contents& contents) {
  const std::int64_t bytes = data_bytes(contents);
  const std::string checksum = fmt::format(
      "{}<scidacChecksum><version>1.0</version><suma>{:x}</suma><sumb>{:x}</sumb></scidacChecksum>", xml,
      contents.suma.value(), contents.sumb.value());
  return std::string(static_cast<std::size_t>(padded(bytes) - bytes), '\0') +
         text_record("scidac-checksum", checksum, last_record);
}

}  // namespace tca::qcd
