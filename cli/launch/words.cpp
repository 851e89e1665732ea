#include "cli/launch/words.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/system/limits.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

constexpr const char* file_name = "opentca-words";

// On another host the same path may lead to another program's file.
bool leads_to_words(const char* path) {
  std::array<char, 64> target{};
  const ssize_t length = readlink(path, target.data(), target.size());
  return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)) ==
                           fmt::format("/memfd:{} (deleted)", file_name);
}

}  // namespace

bool tell_launcher(int rank, const std::string& name, const std::string& message) {
  const char* path = base::variable(Words::variable);
  if (path == nullptr || !leads_to_words(path)) return false;
  const Fd file(open(path, O_WRONLY | O_APPEND | O_CLOEXEC));
  // Written in one piece, with the zero at its end, since ranks write at the same time.
  const std::string saying = fmt::format("{} {}\n{}", rank, name, message);
  const auto bytes = static_cast<ssize_t>(saying.size() + 1);
  return file.is_open() && write(file.get(), saying.c_str(), saying.size() + 1) == bytes;
}

Words::Words() : file_(memfd_create(file_name, MFD_CLOEXEC)) {
  if (!file_.is_open())
    throw Error(Errc::out_of_memory, fmt::format("no memory file for the ranks: {}", base::limit_met(errno)));
}

std::string Words::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_.get()); }

std::vector<Words::Saying> Words::all() const {
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t got;
       (got = pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  std::vector<Saying> sayings;
  // A message that was cut off has no zero. The rank whose message it was has printed it itself.
  for (std::size_t at = 0, end; (end = text.find('\0', at)) != std::string::npos; at = end + 1) {
    int rank = 0;
    const char* const name = std::from_chars(text.data() + at, text.data() + text.size(), rank).ptr + 1;
    const char* const name_ends = std::strchr(name, '\n');
    if (name_ends == nullptr) continue;
    const Saying said{std::string(name, name_ends), name_ends + 1, {}};
    auto same = std::find_if(sayings.begin(), sayings.end(), [&](const Saying& other) {
      return other.name == said.name && other.message == said.message;
    });
    if (same == sayings.end()) same = sayings.insert(same, said);
    same->ranks.push_back(rank);
  }
  for (Saying& saying : sayings) std::sort(saying.ranks.begin(), saying.ranks.end());
  return sayings;
}

}  // namespace tca::tool
