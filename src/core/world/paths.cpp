#include "core/world/paths.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/fail.hpp"
#include "base/text/duration.hpp"

namespace tca::core {

namespace {

std::optional<int> read_rank(std::string_view text) {
  int rank = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, rank);
  if (error != std::errc() || end != last || rank < 0) return std::nullopt;
  return rank;
}

std::optional<Path> read_path(std::string_view text) {
  constexpr std::string_view kind = "path:";
  if (!text.starts_with(kind)) return std::nullopt;
  text.remove_prefix(kind.size());
  const std::size_t dash = text.find('-'), colon = text.find(':'), at = text.find('@');
  if (dash > colon || colon > at || at == text.npos) return std::nullopt;
  const auto one = read_rank(text.substr(0, dash)),
             other = read_rank(text.substr(dash + 1, colon - dash - 1));
  const std::optional<double> us = base::read_microseconds(text.substr(at + 1));
  const std::string_view channel = text.substr(colon + 1, at - colon - 1);
  const std::size_t slash = channel.find('/');
  const std::string_view fabric = channel.substr(0, slash);
  constexpr std::array<std::string_view, 3> fabrics{"shm", "cuda", "mpi"};
  if (!one || !other || *one == *other || !us || std::ranges::find(fabrics, fabric) == fabrics.end())
    return std::nullopt;
  return Path{std::min(*one, *other), std::max(*one, *other), std::string(fabric),
              slash == channel.npos ? std::string() : std::string(channel.substr(slash + 1)), *us * 1e-6};
}

}  // namespace

std::string Path::name() const {
  return fmt::format("path {}-{} by {}{}{}", one, other, fabric, protocol.empty() ? "" : "/", protocol);
}

std::vector<Path> read_paths(std::string_view text, std::string_view asker) {
  std::vector<Path> paths;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    std::optional<Path> path = read_path(word);
    if (!path) {
      base::fail(Errc::invalid_argument,
                 "{}: '{}' is no fault of this machine; write path:0-1:shm/pull@20ms (what goes between two "
                 "ranks by a protocol of shm, cuda or mpi) or path:0-1:mpi@0s (by any of them), several with "
                 "commas between them, and times in ns, us, ms or s; cables, hubs and hosts fail on the "
                 "fabric sim",
                 asker, word);
    }
    paths.push_back(*std::move(path));
  }
  return paths;
}

const Path* Paths::lost(int rank, int partner, std::string_view fabric, std::string_view protocol,
                        double now) const {
  for (const Path& path : paths_) {
    if (path.one != std::min(rank, partner) || path.other != std::max(rank, partner)) continue;
    if (path.fabric != fabric || (!path.protocol.empty() && path.protocol != protocol)) continue;
    if (failed(path) <= now) return &path;
  }
  return nullptr;
}

std::string Paths::lost_between(int rank, int partner, double now) const {
  std::vector<std::string> names;
  for (const Path& path : paths_) {
    const bool is_theirs = path.one == std::min(rank, partner) && path.other == std::max(rank, partner);
    if (is_theirs && failed(path) <= now) names.push_back(path.name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<KnownFault> Paths::known(int rank, double now) const {
  std::vector<KnownFault> known;
  for (const Path& path : paths_) {
    const double at = failed(path);
    if ((path.one != rank && path.other != rank) || at > now) continue;
    known.push_back({.name = path.name(), .failed = at, .noticed = at, .noticed_by = rank, .told = at});
  }
  return known;
}

}  // namespace tca::core
