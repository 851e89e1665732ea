#include "pic/cli/deck_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml.hpp"
#include "pic/deck.hpp"
#include "tca/error.hpp"

namespace tca::tool {

namespace {

Error failure(const std::string& path, const toml::source_region& where, const std::string& why) {
  return Error(Errc::invalid_argument, why,
               {.file = path,
                .line = static_cast<int>(where.begin.line),
                .column = static_cast<int>(where.begin.column)});
}

class DeckReading {
 public:
  explicit DeckReading(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const toml::source_region& where, const std::string& why) const {
    throw failure(path_, where, why);
  }

  // A word and what takes its value.
  using Words = std::map<std::string, std::function<void(const toml::node&)>, std::less<>>;

  void read(const toml::table& table, const Words& words, std::string_view what) const {
    for (const auto& [key, node] : table) {
      const auto word = words.find(key.str());
      if (word == words.end()) {
        std::vector<std::string_view> known;
        for (const auto& [each, take] : words) known.push_back(each);
        fail(key.source(),
             fmt::format("`{}` means nothing in {}; there are {}", key.str(), what, fmt::join(known, ", ")));
      }
      word->second(node);
    }
  }

  std::function<void(const toml::node&)> number(double& into) const {
    return [this, &into](const toml::node& node) {
      const auto value = node.value<double>();
      if (!value || !std::isfinite(*value)) fail(node.source(), "this is not a number");
      into = *value;
    };
  }
  template <class Integer>
  std::function<void(const toml::node&)> whole(Integer& into) const {
    return [this, &into](const toml::node& node) { into = static_cast<Integer>(whole_of(node)); };
  }
  std::int64_t whole_of(const toml::node& node) const {
    constexpr std::int64_t most = 1'000'000'000;
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > most)
      fail(node.source(), fmt::format("this is not a whole number from 0 to {}", most));
    return *value;
  }
  std::function<void(const toml::node&)> truth(bool& into) const {
    return [this, &into](const toml::node& node) {
      const auto value = node.value_exact<bool>();
      if (!value) fail(node.source(), "this is neither true nor false");
      into = *value;
    };
  }
  std::function<void(const toml::node&)> extents(pic::Extents& into) const {
    return [this, &into](const toml::node& node) {
      const toml::array* const list = node.as_array();
      if (list == nullptr) fail(node.source(), "these are not extents, such as [64, 128]");
      into.clear();
      for (const toml::node& each : *list) into.push_back(whole_of(each));
    };
  }

  void read_laser(const toml::node& node, pic::Laser& laser) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) fail(node.source(), "a laser is a table: [laser]");
    read(*table,
         {{"a0", number(laser.a0)},
          {"omega", number(laser.omega)},
          {"duration", number(laser.duration)},
          {"delay", number(laser.delay)},
          {"spot", number(laser.spot)}},
         "[laser]");
  }

 private:
  std::string path_;
};

toml::table parsed(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0)
    throw Error(Errc::invalid_argument, fmt::format("{}: {}", path, std::strerror(errno)));
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw failure(path, error.source(), std::string(error.description()));
  }
}

pic::Deck deck_of_file(const std::string& path) {
  const toml::table table = parsed(path);
  const DeckReading reading(path);
  pic::Deck deck = pic::built_in("langmuir");
  if (const toml::node* const base = table.get("like")) {
    const auto name = base->value_exact<std::string>();
    if (!name || std::ranges::find(pic::built_in_decks, *name) == pic::built_in_decks.end())
      reading.fail(base->source(),
                   fmt::format("like: this is none of {}", fmt::join(pic::built_in_decks, ", ")));
    deck = pic::built_in(*name);
  }
  reading.read(table,
               {{"like", [](const toml::node&) {}},
                {"extents", reading.extents(deck.extents)},
                {"cell", reading.number(deck.cell)},
                {"cfl", reading.number(deck.cfl)},
                {"steps", reading.whole(deck.steps)},
                {"per_side", reading.whole(deck.per_side)},
                {"thermal", reading.number(deck.thermal)},
                {"drift", reading.number(deck.drift)},
                {"seed", reading.whole(deck.seed)},
                {"amplitude", reading.number(deck.amplitude)},
                {"waves", reading.whole(deck.waves)},
                {"walls", reading.truth(deck.walls)},
                {"plasma_begins", reading.number(deck.plasma_begins)},
                {"ramp", reading.number(deck.ramp)},
                {"laser", [&](const toml::node& node) { reading.read_laser(node, deck.laser); }}},
               "a deck");
  deck.name = path;
  return deck;
}

}  // namespace

pic::Deck read_deck(const std::string& name, const pic::Extents& extents) {
  pic::Deck deck = name.ends_with(".toml") ? deck_of_file(name) : pic::built_in(name);
  if (!extents.empty()) deck.extents = extents;
  return pic::checked(std::move(deck));
}

}  // namespace tca::tool
