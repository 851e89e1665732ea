#include "base/system/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/fail.hpp"
#include "base/text/spelling.hpp"

namespace tca::base {

namespace {

constexpr std::string_view prefix = "OPENTCA_";

// What environment modules and package managers append to a package's name.
constexpr std::array site_names{"ROOT",    "DIR", "HOME", "BASE",    "PREFIX", "PATH",
                                "INCLUDE", "INC", "LIB",  "VERSION", "BIN"};

bool is_known(std::string_view name) {
  const std::string_view rest = name.substr(prefix.size());
  return rest.starts_with("TEST_") || std::ranges::find(site_names, rest) != site_names.end() ||
         std::ranges::find(variables, name, &Variable::name) != variables.end() ||
         std::ranges::find(former_names, name, &FormerName::former) != former_names.end();
}

bool is_filled(const char* text) { return text != nullptr && *text != '\0'; }

// Returns the former name under which a variable is set, or null.
const char* former_name_set(VariableName name) {
  for (const FormerName& former : former_names)
    if (former.name == name.text() && is_filled(std::getenv(former.former.data())))
      return former.former.data();
  return nullptr;
}

}  // namespace

std::string describe(const Variable& variable) {
  if (variable.preset.empty()) return std::string(variable.meaning);
  return fmt::format("{} ({})", variable.meaning, variable.preset);
}

const char* variable(VariableName name) {
  const char* const text = std::getenv(name.text());
  const char* const former = former_name_set(name);
  if (former == nullptr) return text;
  const char* const by_former = std::getenv(former);
  if (is_filled(text) && std::string_view(text) != by_former)
    fail(Errc::invalid_argument, "{}={} contradicts {}={}: {} is a former name of {}; leave it out", former,
         by_former, name.text(), text, former, name.text());
  return by_former;
}

std::string_view name_set(VariableName name) {
  const char* const former = former_name_set(name);
  return former != nullptr && !is_filled(std::getenv(name.text())) ? former : name.text();
}

const char* set_variable(VariableName name) {
  const char* const text = variable(name);
  return is_filled(text) ? text : nullptr;
}

std::optional<bool> on_or_off(VariableName name, std::string_view question) {
  const char* const set = set_variable(name);
  if (set == nullptr) return std::nullopt;
  const std::string_view answer = set;
  if (answer != "on" && answer != "off")
    fail(Errc::invalid_argument, "{}={} ({}): say on or off, or leave it out", name.text(), answer, question);
  return answer == "on";
}

std::optional<bool> one_or_zero(VariableName name) {
  const char* const set = set_variable(name);
  if (set == nullptr) return std::nullopt;
  const std::string_view answer = set;
  if (answer != "0" && answer != "1")
    fail(Errc::invalid_argument, "{}={} is neither 0 nor 1", name.text(), answer);
  return answer == "1";
}

std::vector<std::string> unknown_variables(const char* const* settings) {
  std::vector<std::string_view> names;  // without the prefix, which would make all of them alike
  for (const Variable& variable : variables)
    if (variable.name.starts_with(prefix)) names.push_back(variable.name.substr(prefix.size()));
  std::vector<std::string> lines;
  for (; settings != nullptr && *settings != nullptr; ++settings) {
    const std::string_view setting = *settings, name = setting.substr(0, setting.find('='));
    if (!name.starts_with(prefix) || is_known(name)) continue;
    const std::optional<std::string> meant = nearest(name.substr(prefix.size()), names);
    lines.push_back(fmt::format(
        "{} is not a variable of OpenTCA; {}", name,
        meant ? fmt::format("did you mean {}{}?", prefix, *meant) : "tca info lists those that there are"));
  }
  return lines;
}

void warn_of_unknown_variables() {
  for (const std::string& line : unknown_variables(environ)) say_once(line);
}

void say_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (!said.insert(line).second) return;
  const std::string text = "opentca: " + line + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tca::base
