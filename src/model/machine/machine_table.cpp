#include "model/machine/machine_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "base/fail.hpp"
#include "model/machine/machine_names.hpp"
#include "model/machine/machine_tree.hpp"

namespace tca::net {

MachineReading::MachineReading(const MachineFile& file, Overrides overrides)
    : file_(file), overrides_(std::move(overrides)) {}

MachineTable MachineReading::root() {
  asked_[""].insert("sources");
  return {*this, ""};
}

void MachineReading::finish() const {
  for (const auto& [path, keys] : asked_)
    for (const auto& [key, node] : table_at(file_.tree().root, path)) {
      if (keys.contains(key.str())) continue;
      fail_at(place_of(key), fmt::format("`{}` means nothing in {}{}", key.str(), heading(path),
                                         did_you_mean(key.str(), keys)));
    }
}

void MachineTable::ask(std::string_view key) const { reading_->asked_[path_].emplace(key); }

std::string MachineTable::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}/{}", path_, key);
}

Place MachineTable::place(std::string_view key) const {
  const toml::table& table = table_at(reading_->file_.tree().root, path_);
  const toml::node* node = table.get(key);
  return place_of(node != nullptr ? *node : static_cast<const toml::node&>(table));
}

void MachineTable::reject(std::string_view key, std::string_view why) const { fail_at(place(key), why); }

// Reports a missing key. An unknown key with a similar name is assumed to be a misspelling of it.
void MachineTable::missing(std::string_view key, std::string_view what) const {
  const auto& asked = reading_->asked_[path_];
  for (const auto& [other, node] : table_at(reading_->file_.tree().root, path_))
    if (!asked.contains(other.str()) && base::nearest(other.str(), std::array{key}))
      fail_at(place_of(other), fmt::format("`{}` means nothing in {}; did you mean `{}`, which is missing?",
                                           other.str(), heading(path_), key));
  reject("", fmt::format("{} lacks `{}`, {}", heading(path_), key, what));
}

bool MachineTable::has(std::string_view key) const {
  ask(key);
  return table_at(reading_->file_.tree().root, path_).contains(key);
}

MachineTable MachineTable::table(std::string_view key) const {
  ask(key);
  const toml::node* node = table_at(reading_->file_.tree().root, path_).get(key);
  if (node == nullptr) missing(key, fmt::format("a table: {}", heading(full(key))));
  if (!node->is_table()) reject(key, fmt::format("`{}` is a table: {}", key, heading(full(key))));
  if (key.find('/') != std::string_view::npos) reject(key, fmt::format("`{}`: no slashes in names", key));
  reading_->asked_.try_emplace(full(key));
  return {*reading_, full(key)};
}

std::vector<std::string> MachineTable::tables() const {
  // A toml::table is sorted by name, but authors number things in the order in which they wrote them.
  std::vector<std::pair<Place, std::string>> found;
  for (const auto& [key, node] : table_at(reading_->file_.tree().root, path_))
    if (const toml::table* table = node.as_table(); table != nullptr && !table->contains("value")) {
      if (key.str().empty()) fail_at(place_of(key), fmt::format("a table of {} has no name", heading(path_)));
      found.emplace_back(place_of(key), key.str());
    }
  std::ranges::stable_sort(found, {},
                           [](const auto& entry) { return std::tie(entry.first.file, entry.first.line); });
  std::vector<std::string> names;
  for (const auto& [place, name] : found) {
    ask(name);
    names.push_back(name);
  }
  return names;
}

std::string MachineTable::word(std::string_view key) const {
  ask(key);
  const toml::node* node = table_at(reading_->file_.tree().root, path_).get(key);
  if (node == nullptr) missing(key, "a word in quotes");
  const auto text = node->value<std::string>();
  if (!text || text->empty()) reject(key, fmt::format("`{}` is a word in quotes", key));
  return *text;
}

std::string MachineTable::word(std::string_view key, std::initializer_list<std::string_view> choices) const {
  const std::string list = fmt::format("{}", fmt::join(choices, ", "));
  ask(key);
  if (!table_at(reading_->file_.tree().root, path_).contains(key))
    missing(key, fmt::format("one of {}", list));
  std::string chosen = word(key);
  if (std::ranges::find(choices, chosen) == choices.end()) {
    const std::optional<std::string> meant = base::nearest(chosen, choices);
    reject(key, fmt::format("`{}` is one of {}, not \"{}\"{}", key, list, chosen,
                            meant ? fmt::format("; did you mean \"{}\"?", *meant) : std::string{}));
  }
  return chosen;
}

bool MachineTable::truth(std::string_view key) const {
  ask(key);
  const toml::node* node = table_at(reading_->file_.tree().root, path_).get(key);
  if (node == nullptr) missing(key, "true or false");
  const auto truth = node->value_exact<bool>();
  if (!truth) reject(key, fmt::format("`{}` is true or false", key));
  return *truth;
}

namespace {

std::vector<std::string> read_words(const toml::node& node, std::string_view key) {
  std::vector<std::string> words;
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty())
    fail_at(place_of(node), fmt::format("`{}`: a list of words in quotes", key));
  for (const toml::node& item : *list) {
    const auto word = item.value<std::string>();
    if (!word || word->empty()) fail_at(place_of(item), fmt::format("`{}`: a word in quotes", key));
    words.push_back(*word);
  }
  return words;
}

}  // namespace

std::vector<std::string> MachineTable::words(std::string_view key) const {
  ask(key);
  const toml::node* node = table_at(reading_->file_.tree().root, path_).get(key);
  if (node == nullptr) missing(key, "a list of words in quotes");
  return read_words(*node, key);
}

std::vector<std::vector<std::string>> MachineTable::word_lists(std::string_view key) const {
  ask(key);
  const toml::node* node = table_at(reading_->file_.tree().root, path_).get(key);
  if (node == nullptr) missing(key, "a list of lists of words");
  const toml::array* lists = node->as_array();
  if (lists == nullptr) reject(key, fmt::format("`{}` is a list of lists of words", key));
  std::vector<std::vector<std::string>> all;
  for (const toml::node& item : *lists) all.push_back(read_words(item, key));
  return all;
}

}  // namespace tca::net
