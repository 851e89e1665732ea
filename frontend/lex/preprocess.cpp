#include "lex/preprocess.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tca::xacc {
namespace {

// A file that nobody else sees and that is gone when it is closed: pipes would need somebody at both ends.
int scratch_file() {
  char name[] = "/tmp/tca-xacc-XXXXXX";
  const int file = mkostemp(name, O_CLOEXEC);
  if (file < 0) throw Fault{{}, std::string("cannot write to /tmp: ") + std::strerror(errno)};
  unlink(name);
  return file;
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote <= 0) throw Fault{{}, std::string("cannot write to /tmp: ") + std::strerror(errno)};
    done += static_cast<std::size_t>(wrote);
  }
  lseek(file, 0, SEEK_SET);
}

std::string read_all(int file) {
  std::string text;
  lseek(file, 0, SEEK_SET);
  char buffer[1 << 16];
  for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

constexpr std::string_view marker = "tca_pragma_";

// The pragmas' texts behind markers, between the definitions that hold where they stand.
struct PragmaInput {
  std::string text;
  int count = 0;
};

bool definition(std::string_view line) { return line.starts_with("#define ") || line.starts_with("#undef "); }

// Takes definitions out of the text, leaving their lines empty, and the pragmas into another.
PragmaInput take_definitions(std::string& text) {
  PragmaInput input;
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == text.npos) end = text.size();
    const std::string_view line(text.data() + begin, end - begin);
    if (definition(line)) {
      input.text.append(line).append("\n");
    } else {
      if (line.starts_with("#pragma"))
        input.text.append(marker).append(std::to_string(input.count++)).append(line.substr(7)).append("\n");
      kept += line;
    }
    kept += '\n';
    begin = end + 1;
  }
  text = std::move(kept);
  return input;
}

std::vector<std::string> expanded(std::string_view output, int count) {
  std::vector<std::string> pragmas(static_cast<std::size_t>(count));
  for (std::size_t at = output.find(marker); at != output.npos;) {
    const std::size_t next = output.find(marker, at + marker.size());
    std::string_view piece =
        output.substr(at + marker.size(), next == output.npos ? next : next - at - marker.size());
    char* rest = nullptr;
    const std::string copy(piece);
    const auto number = static_cast<std::size_t>(std::strtol(copy.c_str(), &rest, 10));
    if (number < pragmas.size()) pragmas[number] = rest;
    for (char& c : pragmas[number])
      if (c == '\n') c = ' ';
    at = next;
  }
  return pragmas;
}

}  // namespace

int run_command(const std::vector<std::string>& command, const std::string& input, std::string* output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int in = scratch_file();
  write_all(in, input);
  const int out = output ? scratch_file() : -1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(in, STDIN_FILENO);
    if (out >= 0) dup2(out, STDOUT_FILENO);
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (output) *output = read_all(out);
  close(in);
  if (out >= 0) close(out);
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Preprocessed preprocess(const std::vector<std::string>& command, const std::string& source) {
  Preprocessed result;
  std::vector<std::string> first = command;
  first.insert(first.end(), {"-E", "-dD", source});
  if (run_command(first, "", &result.text) != 0) throw Fault{{}, command[0] + " cannot preprocess " + source};
  const PragmaInput input = take_definitions(result.text);
  if (input.count == 0) return result;
  std::string output;
  if (run_command({command[0], "-E", "-P", "-w", "-x", "c", "-"}, input.text, &output) != 0)
    throw Fault{{}, command[0] + " cannot expand the macros of the pragmas in " + source};
  result.pragmas = expanded(output, input.count);
  return result;
}

}  // namespace tca::xacc
