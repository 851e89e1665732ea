// `tca pages`: writes manual pages and shell completions from the help texts. For OpenTCA's own build.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/help.hpp"
#include "cli/subcommand.hpp"
#include "tca/version.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;

using Apps = std::vector<const CLI::App*>;

Apps subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options([=](const CLI::Option* one) {
    return !one->get_group().empty() && one->get_positional() == positional;
  });
}

// Escapes what roff would take for a command: a hyphen that is a minus, a backslash, a period that begins a
// line.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string entry(const std::string& heading, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(heading), roff(text));
}

std::string section_of_options(const std::string& title, const CLI::App& app, bool positional) {
  std::string out;
  for (const CLI::Option* option : options_of(app, positional)) {
    const OptionHelp help = help_of(*option);
    out += entry(help.heading(), help.meaning);
  }
  return out.empty() ? out : fmt::format(".SH {}\n{}", title, out);
}

std::string section_of_subcommands(const CLI::App& app) {
  std::string out;
  for (const CLI::App* one : subcommands_of(app)) out += entry(one->get_name(), one->get_description());
  return out.empty() ? out : ".SH SUBCOMMANDS\n" + out;
}

std::string header(const std::string& name, const std::string& summary) {
  return fmt::format(".TH {} 1 \"\" \"OpenTCA {}\" \"OpenTCA\"\n.SH NAME\n{} \\- {}\n", name,
                     library_version(), roff(name), roff(summary));
}

std::string synopsis(const std::string& name, const CLI::App& app) {
  std::string out = fmt::format(".SH SYNOPSIS\n.B {}\n[OPTIONS]", roff(name));
  for (const CLI::Option* option : options_of(app, true)) {
    const std::string word = help_of(*option).names.front();
    out += option->get_required() ? " " + word : " [" + word + "]";
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) out += " ...";
  }
  return out + (subcommands_of(app).empty() ? "\n" : " SUBCOMMAND\n");
}

std::string examples(const std::string& footer) {
  return fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(footer.substr(footer.find('\n') + 1)));
}

std::string page_of(const CLI::App& app) {
  const std::string name = "tca " + app.get_name();
  std::string out = header("tca-" + app.get_name(), app.get_description()) + synopsis(name, app) +
                    section_of_subcommands(app) + section_of_options("ARGUMENTS", app, true) +
                    section_of_options("OPTIONS", app, false);
  for (const CLI::App* one : subcommands_of(app))
    out += section_of_options("OPTIONS OF " + one->get_name(), *one, false);
  return out + examples(app.get_footer()) + ".SH SEE ALSO\n.BR tca (1)\n";
}

std::string first_page(const CLI::App& root) {
  std::string out = header("tca", root.get_description()) + synopsis("tca", root) +
                    section_of_subcommands(root) + section_of_options("OPTIONS", root, false) +
                    ".SH ENVIRONMENT\n";
  for (const base::Variable& variable : base::variables)
    out += entry(std::string(variable.name), base::describe(variable));
  out += ".SH SEE ALSO\n";
  for (const CLI::App* one : subcommands_of(root)) out += fmt::format(".BR tca\\-{} (1)\n", one->get_name());
  return out;
}

// The words with which a command line may go on behind `app`: its subcommands and options.
std::string words_behind(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* one : subcommands_of(app)) words.push_back(one->get_name());
  for (const CLI::Option* option : options_of(app, true))
    for (const std::string& word : help_of(*option).words()) words.push_back(word);
  for (const CLI::Option* option : options_of(app, false))
    for (const std::string& name : help_of(*option).names) words.push_back(name);
  return fmt::format("{}", fmt::join(words, " "));
}

// The cases of a shell's `case $command in`: what an option's value may be, and what may follow a command.
void add_cases(const CLI::App& app, const std::string& path, std::string& values, std::string& words) {
  words += fmt::format("    '{}') words='{}' ;;\n", path, words_behind(app));
  for (const CLI::Option* option : options_of(app, false)) {
    const OptionHelp help = help_of(*option);
    if (help.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : help.names) patterns.push_back(fmt::format("'{} {}'", path, name));
    const std::vector<std::string> possible = help.words();
    const std::string does = possible.empty()
                                 ? (help.value == "FILE" || help.value == "FOLDER" ? "return" : "words=''")
                                 : fmt::format("words='{}'", fmt::join(possible, " "));
    values += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), does);
  }
  for (const CLI::App* one : subcommands_of(app))
    add_cases(*one, path + " " + one->get_name(), values, words);
}

std::string bash_completion(const CLI::App& root) {
  std::string values, words;
  add_cases(root, "tca", values, words);
  return fmt::format(R"(# Completion of tca in bash; made from what --help says.
_tca() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=tca words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && return
    case "$command ${{COMP_WORDS[i]}}" in
    {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case $command in
{}  esac
  case "$command $before" in
{}  esac
  # A list's last word; behind a redirection or where nothing fits, files.
  local list=''
  [[ $word == *,* ]] && list=${{word%,*}},
  COMPREPLY=($(compgen -P "$list" -W "$words" -- "${{word##*,}}"))
}}
complete -o default -F _tca tca
)",
                     [&] {
                       std::vector<std::string> paths;
                       for (const CLI::App* one : subcommands_of(root)) {
                         paths.push_back(fmt::format("'tca {}'", one->get_name()));
                         for (const CLI::App* below : subcommands_of(*one))
                           paths.push_back(fmt::format("'tca {} {}'", one->get_name(), below->get_name()));
                       }
                       return fmt::format("{}", fmt::join(paths, " | "));
                     }(),
                     words, values);
}

void write(const fs::path& path, const std::string& text) {
  std::error_code none;
  fs::create_directories(path.parent_path(), none);
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) refuse("{}: cannot be written", path.string());
}

int write_pages(const CLI::App& root, const fs::path& folder) {
  write(folder / "man1/tca.1", first_page(root));
  for (const CLI::App* one : subcommands_of(root))
    write(folder / ("man1/tca-" + one->get_name() + ".1"), page_of(*one));
  write(folder / "bash/tca", bash_completion(root));
  return 0;
}

}  // namespace

void add_pages(Subcommands& tca) {
  auto folder = std::make_shared<std::string>();
  CLI::App& app = tca.add_hidden("pages", "Writes manual pages and completions",
                                 [folder, &tca] { return write_pages(tca.root(), *folder); });
  app.add_option("FOLDER", *folder, "Folder to write to")->required();
}

}  // namespace tca::tool
