#include "model/machine/machine_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <set>
#include <sstream>

#include "base/data.hpp"
#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "model/machine/machine_tree.hpp"

namespace tca::net {

namespace fs = std::filesystem;

std::string to_string(const Place& place) {
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

std::string_view leader_of(const MachineNumber& number) {
  constexpr std::string_view follows = "fit: same as ";
  const std::string_view source = number.source;
  return number.origin == Origin::fitted && source.starts_with(follows) ? source.substr(follows.size())
                                                                        : std::string_view{};
}

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::published:
      return "published";
    case Origin::measured:
      return "measured";
    case Origin::fitted:
      return "fitted";
  }
  return "?";
}

namespace {

Place place_at(const toml::source_region& region) {
  return {region.path ? *region.path : std::string{}, static_cast<int>(region.begin.line),
          static_cast<int>(region.begin.column)};
}

bool is_file_name(const std::string& name) { return fs::path(name).extension() == ".toml"; }

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  base::warn_of_unknown_variables();  // for a program that has no world, such as tca model
  if (const char* asked = base::set_variable("OPENTCA_MACHINES"); asked != nullptr) {
    std::istringstream list(asked);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) found.emplace_back(folder);
  }
  for (const fs::path& folder : base::data_places("machines", "machines")) found.push_back(folder);
  return found;
}

std::string folders_in_words() {
  std::vector<std::string> names;
  for (const fs::path& folder : folders()) names.push_back(folder.string());
  return fmt::format("{}", fmt::join(names, ", "));
}

// The files that extend one another so far, by canonical path. A file may name a parent that names it again;
// the chain detects that.
using Chain = std::set<fs::path>;

fs::path identity(const fs::path& file) {
  std::error_code none;
  fs::path found = fs::weakly_canonical(file, none);
  return none ? file : found;
}

toml::table parse_with_parents(std::string_view text, const std::string& file, Chain chain);

// Returns whether a node merges with the parent's. Only tables do. Anything else, even a number's { value,
// unit, ... }, replaces what the parent has.
bool merges(const toml::node& node) {
  const toml::table* table = node.as_table();
  return table != nullptr && !table->contains("value");
}

void merge(toml::table& into, toml::table&& from) {
  for (auto&& entry : from) {
    const toml::key& key = entry.first;
    toml::node& node = entry.second;
    toml::node* there = into.get(key);
    if (there != nullptr && merges(*there) && merges(node)) {
      merge(*there->as_table(), std::move(*node.as_table()));
    } else {
      into.erase(key.str());
      node.visit([&](auto& value) { into.insert_or_assign(key, std::move(value)); });
    }
  }
}

std::string read_text(const fs::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    base::fail(Errc::invalid_argument, {.file = path.string()},
               "cannot be read; give a machine's name or the path of its file");
  std::string text;
  char chunk[4096];
  for (std::size_t got = 0; (got = std::fread(chunk, 1, sizeof chunk, file)) != 0;) text.append(chunk, got);
  std::fclose(file);
  return text;
}

// Finds the file that `child` extends. A file next to `child` is preferred to one of the same name
// elsewhere, so that a folder of machines works wherever it is put. The child itself is skipped, since it
// may have the name of the machine that it changes.
fs::path find_parent(const std::string& name, const fs::path& child) {
  const bool is_name = !is_file_name(name);
  const fs::path beside = child.parent_path() / (is_name ? name + ".toml" : name);
  std::error_code none;
  const bool is_there = fs::is_regular_file(beside, none);
  if (is_there && !(is_name && identity(beside) == identity(child))) return beside;
  return find_machine(name);
}

toml::table parse_parent(const toml::node& extends, const std::string& file, const Chain& chain) {
  const auto name = extends.value<std::string>();
  const Place place = place_of(extends);
  if (!name || name->empty())
    fail_at(place, "`extends` is the name of another machine, or the path of its file, in quotes");
  fs::path path;
  try {
    path = find_parent(*name, file);
  } catch (const Error& error) {
    fail_at(place, fmt::format("`extends`: {}", error.what()));
  }
  if (chain.contains(identity(path)))
    fail_at(place, fmt::format("`extends = \"{}\"` comes back to this file", *name));
  return parse_with_parents(read_text(path), path.string(), chain);
}

toml::table parse_with_parents(std::string_view text, const std::string& file, Chain chain) {
  toml::table own;
  try {
    own = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    fail_at(place_at(error.source()), error.description());
  }
  chain.insert(identity(file));
  const toml::node* extends = own.get("extends");
  if (extends == nullptr) return own;
  toml::table merged = parse_parent(*extends, file, chain);
  own.erase("extends");
  merge(merged, std::move(own));
  return merged;
}

}  // namespace

Place place_of(const toml::node& node) { return place_at(node.source()); }
Place place_of(const toml::key& key) { return place_at(key.source()); }

const toml::table& table_at(const toml::table& root, std::string_view path) {
  const toml::table* table = &root;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    table = table->get(path.substr(0, slash))->as_table();
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return *table;
}

void fail_at(const Place& place, std::string_view why) {
  base::fail(Errc::invalid_argument, {.file = place.file, .line = place.line, .column = place.column}, "{}",
             why);
}

std::vector<std::string> list_machines() {
  std::set<std::string> names;
  for (const fs::path& folder : folders()) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

fs::path find_machine(const std::string& name) {
  std::error_code none;
  if (is_file_name(name)) {
    if (fs::is_regular_file(name, none)) return name;
    base::fail(Errc::invalid_argument, "there is no machine file {}", name);
  }
  if (name.find('/') == std::string::npos)
    for (const fs::path& folder : folders()) {
      fs::path path = folder / (name + ".toml");
      if (fs::is_regular_file(path, none)) return path;
    }
  const std::vector<std::string> machines = list_machines();
  base::fail(
      Errc::invalid_argument,
      "there is no machine `{}`; there are {} in {} (OPENTCA_MACHINES adds folders, and a path that ends "
      "in .toml is taken as it is)",
      name, machines.empty() ? "none" : fmt::format("{}", fmt::join(machines, ", ")), folders_in_words());
}

fs::path find_published() {
  std::error_code none;
  for (const fs::path& folder : folders())
    if (fs::is_directory(folder / "published", none)) return folder / "published";
  base::fail(Errc::invalid_argument, "the published figures are missing: no folder `published` in any of {}",
             folders_in_words());
}

MachineFile::MachineFile(const fs::path& path)
    : name_(path.stem().string()),
      tree_(std::make_unique<Tree>(Tree{parse_with_parents(read_text(path), path.string(), {})})) {}

MachineFile::MachineFile(std::string_view text, const std::string& name)
    : name_(name), tree_(std::make_unique<Tree>(Tree{parse_with_parents(text, name, {})})) {}

MachineFile::~MachineFile() = default;
MachineFile::MachineFile(MachineFile&&) noexcept = default;
MachineFile& MachineFile::operator=(MachineFile&&) noexcept = default;

}  // namespace tca::net
