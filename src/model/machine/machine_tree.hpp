// The parsed text of a machine file, for the sources that read it.
#pragma once

#include <string>
#include <string_view>

#include "base/toml.hpp"
#include "model/machine/machine_file.hpp"

namespace tca::net {

struct MachineFile::Tree {
  toml::table root;
};

// Returns the table at a path: names of existing tables joined by slashes, empty for the root.
const toml::table& table_at(const toml::table& root, std::string_view path);

Place place_of(const toml::node& node);
Place place_of(const toml::key& key);

[[noreturn]] void fail_at(const Place& place, std::string_view why);

}  // namespace tca::net
