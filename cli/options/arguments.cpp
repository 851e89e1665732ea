#include "cli/options/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text/spelling.hpp"

namespace tca::tool {
namespace {

const CLI::App* subcommand(const CLI::App& command, const std::string& name) {
  const auto all = command.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  return all.empty() ? nullptr : all.front();
}

// Whether the option's value is the next word.
bool takes_next(const CLI::App& command, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  const bool is_short = word.size() < 2 || word[1] != '-';
  const CLI::Option* option = command.get_option_no_throw(is_short ? word.substr(0, 2) : word);
  return option != nullptr && option->get_items_expected_max() > 0 && (!is_short || word.size() == 2);
}

// What mpirun calls otherwise, or does otherwise.
struct OfMpirun {
  std::string_view option, meant;
};
constexpr std::array<OfMpirun, 13> of_mpirun{{
    {"bind-to", "did you mean `--bind`?"},
    {"tag-output", "did you mean `--tag`?"},
    {"prepend-rank", "did you mean `--tag`?"},
    {"l", "did you mean `--tag`?"},
    {"map-by", "`--bind` says what there is"},
    {"oversubscribe", "more ranks than cores are always possible; leave it out"},
    {"use-hwthread-cpus", "hardware threads are used where there are too few cores; leave it out"},
    {"allow-run-as-root", "it is always allowed; leave it out"},
    {"x", "ranks get the whole environment; leave it out"},
    {"H", "all ranks are on this host; mpirun starts them on several"},
    {"host", "all ranks are on this host; mpirun starts them on several"},
    {"hostfile", "all ranks are on this host; mpirun starts them on several"},
    {"N", "all ranks are on this host; mpirun starts them on several"},
}};

std::string without_dashes(std::string_view option) {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  return std::string(option.substr(0, option.find('=')));
}

// Returns what was probably meant, after "; ". Empty where nothing is near.
std::string suggestion(const CLI::App& command, const std::string& name) {
  if (command.get_name() == "run") {
    const auto found = std::find_if(of_mpirun.begin(), of_mpirun.end(),
                                    [&](const OfMpirun& other) { return other.option == name; });
    if (found != of_mpirun.end()) return fmt::format("; {}", found->meant);
  }
  if (name.size() < 2) return {};
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  const auto meant = base::nearest(name, names);
  return meant ? fmt::format("; did you mean `--{}`?", *meant) : std::string();
}

}  // namespace

std::vector<std::string> arguments_in_reverse(const CLI::App& tca, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {  // as other tools have it
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const CLI::App* command = &tca;
  bool is_value = false;
  for (std::string& word : words) {
    if (std::exchange(is_value, false)) continue;
    if (word == "--") break;
    if ((word == "-np" || word == "--np") && command->get_option_no_throw("-n") != nullptr) word = "-n";
    if (word.size() > 1 && word[0] == '-') {
      is_value = takes_next(*command, word);
    } else if (const CLI::App* next = subcommand(*command, word)) {
      command = next;
    } else if (command->get_positionals_at_end()) {
      break;
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string unknown_option(const CLI::App& command, const std::string& option) {
  return fmt::format("there is no option {} here{}", option, suggestion(command, without_dashes(option)));
}

}  // namespace tca::tool
