// Reads the numbers of a table and converts them into the model's units.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include "model/machine/machine_names.hpp"
#include "model/machine/machine_table.hpp"
#include "model/machine/machine_tree.hpp"

namespace tca::net {

namespace {

// In bytes per second. At the highest rate a byte still takes several of the parts of a picosecond in which
// Rate (plan.hpp) counts; at the lowest the time of a whole transfer still fits des::Time.
constexpr double least_rate = 1e6, most_rate = 1e15;
// 1000 s, in ps: thousands of such times can follow one another before des::Time overflows.
constexpr double most_time = 1e15;

constexpr std::array origins{Origin::published, Origin::measured, Origin::fitted};

std::string example(Quantity quantity) {
  const std::string units = units_of(quantity);
  const std::string unit = quantity == Quantity::count
                               ? std::string{}
                               : fmt::format(", unit = \"{}\"", units.substr(0, units.find(',')));
  return fmt::format("{{ value = 1{}, published = \"SOURCE, where in it\" }}", unit);
}

}  // namespace

struct MachineTable::Found {
  const toml::table& table;
  const toml::node& value;
};

MachineTable::Found MachineTable::find(std::string_view key, Quantity quantity) const {
  ask(key);
  const toml::node* node = table_at(reading_->file_.tree().root, path_).get(key);
  const std::string form = fmt::format("{} such as {}", describe(quantity), example(quantity));
  if (node == nullptr) missing(key, form);
  const toml::table* table = node->as_table();
  if (table == nullptr) reject(key, fmt::format("`{}` is {}: a number with its source", key, form));
  const toml::node* value = table->get("value");
  if (value == nullptr) reject(key, fmt::format("`{}` has no value: it is {}", key, form));
  return {*table, *value};
}

namespace {

// Returns where a number comes from: exactly one of the keys published, measured and fitted, whose text
// begins with the name of a source.
std::pair<Origin, std::string> source_of(const toml::table& table, const toml::table& root,
                                         std::string_view key) {
  std::optional<std::pair<Origin, std::string>> found;
  for (const Origin origin : origins) {
    const toml::node* node = table.get(to_string(origin));
    if (node == nullptr) continue;
    if (found)
      fail_at(place_of(*node),
              fmt::format("`{}` is either {} or {}", key, to_string(found->first), to_string(origin)));
    const auto text = node->value<std::string>();
    if (!text || text->empty())
      fail_at(place_of(*node), fmt::format("`{}`: where `{}` comes from, in quotes", to_string(origin), key));
    const std::string name = text->substr(0, text->find_first_of(" ,:;"));
    const toml::table* sources = root["sources"].as_table();
    if (sources == nullptr || !sources->contains(name))
      fail_at(place_of(*node), fmt::format("`{}` comes from `{}`, which [sources] does not name", key, name));
    found.emplace(origin, *text);
  }
  if (!found)
    fail_at(
        place_of(table),
        fmt::format("`{}` has no source: add published, measured or fitted = \"SOURCE, where in it\"", key));
  return *found;
}

void check_keys(const toml::table& table, std::string_view key) {
  constexpr std::array<std::string_view, 5> known{"value", "unit", "published", "measured", "fitted"};
  for (const auto& [name, node] : table) {
    if (std::ranges::find(known, name.str()) != known.end()) continue;
    fail_at(place_of(name),
            fmt::format("`{}` means nothing in `{}`{}", name.str(), key, did_you_mean(name.str(), known)));
  }
}

double unit_factor(const toml::table& table, std::string_view key, Quantity quantity, std::string& unit) {
  const toml::node* node = table.get("unit");
  if (node != nullptr) {
    const auto text = node->value<std::string>();
    if (!text) fail_at(place_of(*node), fmt::format("`{}`: the unit is a word in quotes", key));
    unit = *text;
  }
  const std::optional<double> known = factor(quantity, unit);
  if (known) return *known;
  const Place place = place_of(node != nullptr ? *node : static_cast<const toml::node&>(table));
  if (unit.empty())
    fail_at(place,
            fmt::format("`{}` has no unit; it is {}: {}", key, describe(quantity), units_of(quantity)));
  const std::optional<Quantity> other = quantity_of(unit);
  fail_at(place,
          fmt::format("`{}` is {} ({}), and \"{}\" is {}", key, describe(quantity), units_of(quantity), unit,
                      other ? fmt::format("{}'s unit", describe(*other)) : std::string("no unit")));
}

}  // namespace

double MachineTable::number(std::string_view key, Quantity quantity) const {
  const auto [table, node] = find(key, quantity);
  check_keys(table, key);
  const auto written = node.value<double>();
  if (!written)
    fail_at(place_of(node), fmt::format("`{}` is {}; this is no number", key, describe(quantity)));
  MachineNumber number;
  number.key = full(key);
  number.value = *written;
  number.place = place_of(node);
  number.columns = static_cast<int>(node.source().end.column) - number.place.column;
  const double to_model = unit_factor(table, key, quantity, number.unit);
  std::tie(number.origin, number.source) = source_of(table, reading_->file_.tree().root, key);
  if (const auto found = reading_->overrides_.find(number.key); found != reading_->overrides_.end())
    number.value = found->second;
  if (!std::isfinite(number.value * to_model))
    fail_at(number.place,
            fmt::format("`{}` is {}, and {} must be finite", key, number.value, describe(quantity)));
  if (number.value < 0)
    fail_at(number.place,
            fmt::format("`{}` is {}, and {} cannot be negative", key, number.value, describe(quantity)));
  reading_->numbers_.push_back(number);
  return number.value * to_model;
}

namespace {

double above_zero(double value, const Place& place, std::string_view key) {
  if (value == 0) fail_at(place, fmt::format("`{}` is 0, and must be more", key));
  return value;
}

}  // namespace

std::int64_t MachineTable::time(std::string_view key) const {
  const double time = number(key, Quantity::time);
  if (time > most_time)
    reject(key, fmt::format("`{}` is {:g} s; the model has times up to {:g} s", key, time / 1e12,
                            most_time / 1e12));
  return std::llround(time);
}
std::int64_t MachineTable::size(std::string_view key) const {
  const double size = number(key, Quantity::size);
  if (size > 9e18) reject(key, fmt::format("`{}` is more than the model can count", key));
  return std::llround(size);
}

double MachineTable::rate(std::string_view key) const {
  const double rate = above_zero(number(key, Quantity::rate), place(key), key);
  if (rate < least_rate || rate > most_rate)
    reject(key, fmt::format("`{}` is {:g} B/s; the model has 1 MB/s to 1000 TB/s", key, rate));
  return rate;
}

double MachineTable::operations(std::string_view key) const {
  return above_zero(number(key, Quantity::operations), place(key), key);
}

double MachineTable::fraction(std::string_view key) const {
  return above_zero(number(key, Quantity::count), place(key), key);
}

std::int64_t MachineTable::count(std::string_view key, std::int64_t least, std::int64_t most) const {
  const double value = number(key, Quantity::count);
  if (value != std::floor(value))
    reject(key, fmt::format("`{}` is {}, and must be a whole number", key, value));
  if (value < static_cast<double>(least) || value > static_cast<double>(most))
    reject(key, fmt::format("`{}` is {}; it can be {} to {}", key, value, least, most));
  return static_cast<std::int64_t>(value);
}

std::vector<std::int64_t> MachineTable::extents(std::string_view key, std::int64_t most) const {
  const auto [table, node] = find(key, Quantity::count);
  check_keys(table, key);
  source_of(table, reading_->file_.tree().root, key);
  std::vector<std::int64_t> extents;
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty())
    fail_at(place_of(node), fmt::format("`{}` is a list such as [4, 2, 2]", key));
  for (const toml::node& item : *list) {
    const auto extent = item.value_exact<std::int64_t>();
    if (!extent || *extent < 1 || *extent > most)
      fail_at(place_of(item), fmt::format("each extent of `{}` is a whole number from 1 to {}", key, most));
    extents.push_back(*extent);
  }
  return extents;
}

}  // namespace tca::net
