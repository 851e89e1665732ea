// ILDG's format: a LIME file is a sequence of records, each with a header of 144 bytes and padded to a
// multiple of 8 bytes.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

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
  int number;  // from 1 on
  std::string type;
  std::int64_t data;   // where its data begin
  std::int64_t bytes;  // without padding

  std::string name() const { return fmt::format("record {} ({})", number, type); }
};

std::string read_text(const File& file, std::int64_t at, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(at, std::as_writable_bytes(std::span(text)));
  return text;
}

Record read_record(const File& file, std::int64_t at, int number, const std::string& path) {
  if (file.size() - at < header_bytes)
    refuse(path, fmt::format("cut off: the header of its record {}, at byte {}, is incomplete", number, at));
  const std::string header = read_text(file, at, header_bytes);
  if (big_endian(header, 0, 4) != magic)
    refuse(path,
           fmt::format("damaged: its record {} should be at byte {}, where no LIME record is", number, at));
  const std::uint64_t bytes = big_endian(header, 8, 8);
  Record record{number, header.substr(16).c_str(), at + header_bytes, static_cast<std::int64_t>(bytes)};
  const std::int64_t left = file.size() - record.data;
  if (bytes > static_cast<std::uint64_t>(left)) {
    refuse(path, fmt::format("cut off or damaged: its {} has {} bytes, {} are left of the file",
                             record.name(), bytes, left));
  }
  return record;
}

// As programs that use c-lime do, this goes from record to record by their lengths: it ignores which are said
// to be the first and the last of a message, and the last one need not be padded.
std::vector<Record> read_records(const File& file, const std::string& path) {
  std::vector<Record> records;
  for (std::int64_t at = 0; at < file.size();) {
    const Record& record =
        records.emplace_back(read_record(file, at, static_cast<int>(records.size()) + 1, path));
    at = record.data + padded(record.bytes);
  }
  return records;
}

[[noreturn]] void refuse_second(const Record& record, const std::string& path) {
  refuse(path, fmt::format(
                   "its record {} is a second {}, and nothing says which of the two holds; take one of them "
                   "out",
                   record.number, record.type));
}

// Returns null if there is no record of the type. Other programs may add records of types that are not looked
// for here, any number of times.
const Record* find_only(const std::vector<Record>& records, std::string_view type, const std::string& path) {
  const Record* found = nullptr;
  for (const Record& record : records) {
    if (record.type != type) continue;
    if (found != nullptr) refuse_second(record, path);
    found = &record;
  }
  return found;
}

const Record& find_needed(const std::vector<Record>& records, std::string_view type,
                          const std::string& path) {
  if (const Record* const found = find_only(records, type, path)) return *found;
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const Record& record : records) {
    if (names.size() == most) {
      names.push_back(fmt::format("{} more", records.size() - most));
      break;
    }
    names.push_back(record.name());
  }
  refuse(path, fmt::format("a LIME file without a record {}; it has {}", type, fmt::join(names, ", ")));
}

// A file may hold more than links, with checksums of their own. That of the links follows them, before other
// data; only if it is the only one may it be elsewhere.
const Record* find_checksum(const std::vector<Record>& records, const Record& links,
                            const std::string& path) {
  constexpr const char* type = "scidac-checksum";
  const auto is_one = [&](const Record& record) { return record.type == type; };
  if (std::ranges::count_if(records, is_one) < 2) return find_only(records, type, path);
  const auto first = records.begin() + links.number;
  const auto end = std::find_if(first, records.end(),
                                [](const Record& record) { return record.type.ends_with("-binary-data"); });
  const auto found = std::find_if(first, end, is_one);
  if (found == end) return nullptr;
  if (const auto second = std::find_if(found + 1, end, is_one); second != end) refuse_second(*second, path);
  return &*found;
}

Header read_xml(const Record& record, const File& file, const std::string& path) {
  if (record.bytes > longest_text) {
    refuse(path, fmt::format("its {} has {} bytes, far more than such a record needs", record.name(),
                             record.bytes));
  }
  return xml_header(record.name(), read_text(file, record.data, record.bytes), path);
}

void read_format(const Header& header, const std::string& path, Contents& contents) {
  const char* const names[] = {"lx", "ly", "lz", "lt"};
  for (std::size_t mu = 0; mu < dims; ++mu)
    contents.extents[mu] = whole_number(header.value(names[mu], path), path);
  const std::string field = header.value("field", path).text;
  if (field != "su3gauge")
    refuse(path, fmt::format("its {} says field {}, not su3gauge", header.name, field));
  const std::string precision = header.value("precision", path).text;
  if (precision != "32" && precision != "64")
    refuse(path, fmt::format("its {} says precision {}, not 32 or 64", header.name, precision));
  contents.bits = precision == "32" ? 32 : 64;
  check_extents(contents, path);
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
  const std::vector<Record> records = read_records(file, path);
  const Record& links = find_needed(records, "ildg-binary-data", path);
  contents.offset = links.data;
  read_format(read_xml(find_needed(records, "ildg-format", path), file, path), path, contents);
  if (links.bytes != data_bytes(contents)) {
    refuse(path, fmt::format("its {} has {} bytes of links, but {} in {} bits has {}", links.name(),
                             links.bytes, describe(contents.extents), contents.bits, data_bytes(contents)));
  }
  if (const Record* const record = find_checksum(records, links, path)) {
    const Header sums = read_xml(*record, file, path);
    contents.suma = checksum_number(sums.value("suma", path), path);
    contents.sumb = checksum_number(sums.value("sumb", path), path);
  }
  if (const Record* const record = find_only(records, "opentca-averages", path)) {
    const Header averages = read_xml(*record, file, path);
    contents.plaquette = real_number(averages.value("plaquette", path), path);
    contents.link_trace = real_number(averages.value("linkTrace", path), path);
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
