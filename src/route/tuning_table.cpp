#include "route/tuning_table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <optional>
#include <span>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/toml.hpp"

namespace tca::route {

namespace {

using base::fail;

constexpr std::int64_t format_version = 5;

constexpr std::array distances{Distance::self, Distance::near, Distance::far};
constexpr std::array layouts{LayoutClass::block, LayoutClass::block_stride, LayoutClass::stride,
                             LayoutClass::subarray};
constexpr std::array spacings{Spacing::any,     Spacing::dense, Spacing::close,
                              Spacing::spread,  Spacing::wide,  Spacing::wide_aligned,
                              Spacing::aliased, Spacing::paged, Spacing::paged_aliased};

// It detects accidents, not forgeries, which could do no harm either.
std::uint64_t checksum(std::string_view text) { return base::fnv1a(std::as_bytes(std::span(text))); }

constexpr std::string_view seal =
    "checksum = \"{:016x}\"  # of all that follows; a changed table is not used\n";

std::string sealed(const std::string& body) { return fmt::format(seal, checksum(body)) + body; }

// Returns the text after the first line, which must be its seal.
std::string_view unseal(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, 12) != "checksum = \"")
    fail(Errc::invalid_argument, "it does not begin with its checksum");
  const std::string_view body = text.substr(end + 1);
  if (text.substr(0, end + 1) != fmt::format(seal, checksum(body)))
    fail(Errc::invalid_argument, "it was cut off or changed after it was written");
  return body;
}

template <class T, std::size_t n>
std::optional<T> named(const std::array<T, n>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](T one) { return to_string(one) == name; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

template <class T>
T value_of(const toml::table& table, std::string_view key) {
  const std::optional<T> value = table[key].value<T>();
  if (!value) fail(Errc::invalid_argument, "`{}` is missing or not what it should be", key);
  return *value;
}

[[noreturn]] void fail_at(const toml::node& node, std::string_view why) {
  fail(Errc::invalid_argument, {.line = static_cast<int>(node.source().begin.line) + 1}, "{}", why);
}

double number(const toml::node& node) {
  const std::optional<double> value = node.value<double>();
  if (!value || !std::isfinite(*value)) fail_at(node, "not a number");
  return *value;
}

std::uint64_t count(const toml::node& node) {
  const std::optional<std::int64_t> value = node.value<std::int64_t>();
  if (!value || *value < 0) fail_at(node, "not a number of bytes");
  return static_cast<std::uint64_t>(*value);
}

// Reads one row: the bytes per run and the bytes in all from which the piece applies, and the three costs.
void read_piece(const toml::node& node, Cost piece, TuningTable& table) {
  const toml::array* row = node.as_array();
  if (row == nullptr || row->size() != 5) fail_at(node, "a piece is five numbers");
  piece.from_run = count((*row)[0]);
  piece.from_bytes = count((*row)[1]);
  piece.setup_us = number((*row)[2]);
  piece.ns_per_run = number((*row)[3]);
  piece.ns_per_byte = number((*row)[4]);
  table.add(piece);
}

// The word after the layout of pieces for two puts or more.
constexpr std::string_view pair = "pair";

// Reads the costs of a channel at one distance: the pieces of each "layout spacing", or of "block pair".
void read_layouts(const toml::table& of_layouts, Cost piece, TuningTable& table) {
  for (const auto& [key, node] : of_layouts) {
    const std::string_view name = key.str();
    const std::size_t space = std::min(name.find(' '), name.size());
    const auto layout = named(layouts, name.substr(0, space));
    const std::string_view rest = space == name.size() ? std::string_view() : name.substr(space + 1);
    const auto apart = rest.empty() || rest == pair ? Spacing::any : named(spacings, rest);
    const toml::array* rows = node.as_array();
    if (!layout || !apart || rows == nullptr) fail_at(node, fmt::format("there is no layout '{}'", name));
    piece.layout = *layout;
    piece.spacing = *apart;
    piece.from_puts = rest == pair ? 2 : 1;
    for (const toml::node& row : *rows) read_piece(row, piece, table);
  }
}

const toml::table& table_of(const toml::node& node) {
  if (const toml::table* table = node.as_table()) return *table;
  fail_at(node, "not a table");
}

void read_costs(const toml::table& of_fabrics, TuningTable& table) {
  for (const auto& [fabric, of_protocols] : of_fabrics) {
    for (const auto& [protocol, of_distances] : table_of(of_protocols)) {
      for (const auto& [where, of_layouts] : table_of(of_distances)) {
        const auto distance = named(distances, where.str());
        if (!distance) fail_at(of_layouts, fmt::format("there is no distance '{}'", where.str()));
        const Cost piece{fabric.str(), protocol.str(), *distance, LayoutClass::block, 0, 0, 0, 0};
        read_layouts(table_of(of_layouts), piece, table);
      }
    }
  }
}

std::string head(const TuningOrigin& origin) {
  return fmt::format(
      "# What a put costs on each channel of this machine, written by `tca tune`. OPENTCA_TUNING=off leaves "
      "it out.\n"
      "format = {}\n"
      "opentca = \"{}\"\n"
      "hardware = \"{}\"\n"
      "fabrics = \"{}\"\n"
      "ranks = {}\n"
      "measured = {}  # seconds since 1970: {}\n\n"
      "# A piece: [from bytes a run, from bytes in all, setup in us, ns a run, ns a byte]\n",
      format_version, origin.version, origin.hardware, origin.fabrics, origin.ranks, origin.measured,
      date_of(origin.measured));
}

}  // namespace

std::string date_of(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

TuningTable::Channel* TuningTable::find(std::string_view fabric, std::string_view protocol) const {
  for (const auto& channel : channels_)
    if (channel->fabric == fabric && channel->protocol == protocol) return channel.get();
  return nullptr;
}

void TuningTable::add(const Cost& piece) {
  Channel* channel = find(piece.fabric, piece.protocol);
  if (channel == nullptr) {
    channels_.push_back(
        std::make_unique<Channel>(Channel{std::string(piece.fabric), std::string(piece.protocol), {}}));
    channel = channels_.back().get();
  }
  channel->pieces.push_back(piece);
  channel->pieces.back().fabric = channel->fabric;
  channel->pieces.back().protocol = channel->protocol;
}

void TuningTable::complete_from(const TuningTable& other) {
  std::vector<Cost> missing;
  for (const Cost& piece : other.all())
    if (!knows(piece.fabric, piece.distance)) missing.push_back(piece);
  for (const Cost& piece : missing) add(piece);
}

std::span<const Cost> TuningTable::pieces(std::string_view fabric, std::string_view protocol) const {
  const Channel* channel = find(fabric, protocol);
  return channel == nullptr ? std::span<const Cost>{} : channel->pieces;
}

bool TuningTable::knows(std::string_view fabric, Distance distance) const {
  return std::any_of(channels_.begin(), channels_.end(), [&](const auto& channel) {
    return channel->fabric == fabric &&
           std::any_of(channel->pieces.begin(), channel->pieces.end(),
                       [&](const Cost& piece) { return piece.distance == distance; });
  });
}

std::vector<Cost> TuningTable::all() const {
  std::vector<Cost> all;
  for (const auto& channel : channels_) all.insert(all.end(), channel->pieces.begin(), channel->pieces.end());
  return all;
}

std::string TuningTable::text() const {
  std::string body = head(origin);
  for (const auto& channel : channels_) {
    for (const Distance distance : distances) {
      std::map<std::string, std::string> rows;  // by layout and spacing
      for (const Cost& piece : channel->pieces) {
        if (piece.distance != distance) continue;
        std::string key(to_string(piece.layout));
        if (piece.spacing != Spacing::any) key += fmt::format(" {}", to_string(piece.spacing));
        if (piece.from_puts > 1) key += fmt::format(" {}", pair);
        rows[key] += fmt::format("  [{}, {}, {:.5g}, {:.5g}, {:.5g}],\n", piece.from_run, piece.from_bytes,
                                 piece.setup_us, piece.ns_per_run, piece.ns_per_byte);
      }
      if (rows.empty()) continue;
      body += fmt::format("\n[costs.{}.{}.{}]\n", channel->fabric, channel->protocol, to_string(distance));
      for (const auto& [key, list] : rows) body += fmt::format("\"{}\" = [\n{}]\n", key, list);
    }
  }
  return sealed(body);
}

TuningTable TuningTable::parse(std::string_view text) {
  const std::string_view body = unseal(text);
  toml::table root;
  try {
    root = toml::parse(body);
  } catch (const toml::parse_error& error) {
    fail(Errc::invalid_argument, {.line = static_cast<int>(error.source().begin.line) + 1}, "{}",
         error.description());
  }
  if (const auto format = value_of<std::int64_t>(root, "format"); format != format_version)
    fail(Errc::invalid_argument, "its format is {}, this library reads {}", format, format_version);
  TuningTable table;
  table.origin = {value_of<std::string>(root, "opentca"), value_of<std::string>(root, "hardware"),
                  value_of<std::string>(root, "fabrics"),
                  static_cast<int>(value_of<std::int64_t>(root, "ranks")),
                  value_of<std::int64_t>(root, "measured")};
  constexpr std::int64_t end_of_9999 = 253'402'300'799;
  if (table.origin.measured < 0 || table.origin.measured > end_of_9999)
    fail(Errc::invalid_argument, "`measured` is no time: {} s since 1970", table.origin.measured);
  const toml::table* costs = root["costs"].as_table();
  if (costs == nullptr) fail(Errc::invalid_argument, "it has no costs");
  read_costs(*costs, table);
  return table;
}

}  // namespace tca::route
