#include "fabric/shm/reach.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/fail.hpp"
#include "fabric/shm/exchange.hpp"

namespace tca::shm {

namespace {

constexpr std::string_view meeting = "start-up (reach)";

// Tells all ranks which others this one can attach to. `obstacle` is about the first that it cannot attach
// to.
Found tell_all(control::Control& control, const Reach& mine, const std::string& obstacle) {
  base::Writer writer;
  writer.put_string(obstacle);
  for (const bool can : mine) writer.put(can);
  Found found;
  for (const base::Blob& blob : control.all_gather(writer.blob(), meeting)) {
    base::Reader reader(blob);
    const std::string theirs = reader.get_string();
    if (found.obstacle.empty()) found.obstacle = theirs;
    Reach& row = found.attaches.emplace_back();
    while (!reader.done()) row.push_back(reader.get<bool>());
  }
  return found;
}

// Tries to attach to a region of each other rank in `wanted`.
Found try_all(Space& space, control::Control& control, const Reach& wanted) {
  constexpr std::size_t bytes = 64;
  const control::Members members(control);
  Token token;
  const Mapping region = space.allocate(bytes, Backing::committed, token);
  const Seal seal{space, token};
  const std::vector<Token> tokens = gather_tokens(members, wanted.size(), token, meeting);
  std::vector<File> passed = space.pass(members, token, wanted, meeting);
  Reach mine(wanted.size());
  std::string obstacle;
  for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
    mine[rank] = static_cast<int>(rank) == control.rank();
    if (!wanted[rank] || mine[rank]) continue;
    try {
      mine[rank] = space.attach(tokens[rank], std::move(passed[rank])).data() != nullptr;
    } catch (const Error& error) {
      if (error.code() != Errc::incompatible) throw;
      if (obstacle.empty())
        obstacle = fmt::format("rank {} does not reach rank {}: {}", control.rank(), rank, error.what());
    }
  }
  return tell_all(control, mine, obstacle);
}

Found try_all(std::unique_ptr<Space> space, control::Control& control, const Reach& wanted) {
  Found found = try_all(*space, control, wanted);
  found.space = std::move(space);
  return found;
}

std::size_t pairs(const Found& found) {
  std::size_t count = 0;
  for (const Reach& row : found.attaches) count += static_cast<std::size_t>(std::ranges::count(row, true));
  return count;
}

}  // namespace

Found find_reach(control::Control& control, const std::vector<int>& host) {
  Reach same_host;
  for (const int theirs : host) same_host.push_back(theirs == host[static_cast<std::size_t>(control.rank())]);
  Found through_proc = try_all(Space::of_processes(), control, same_host);
  if (through_proc.obstacle.empty()) return through_proc;
  Found over_sockets = try_all(Space::of_processes(control), control, same_host);
  if (over_sockets.obstacle.empty()) return over_sockets;
  Found& more = pairs(over_sockets) > pairs(through_proc) ? over_sockets : through_proc;
  more.obstacle = fmt::format("{}; nor over a socket: {}", through_proc.obstacle, over_sockets.obstacle);
  return std::move(more);
}

std::vector<int> divide(const std::vector<int>& host, int at_most, const Found& found) {
  struct SubCluster {
    int host, share;
    std::vector<int> ranks;
  };
  std::vector<SubCluster> all;
  std::vector<int> numbers;
  std::map<int, int> seen;  // ranks of each host so far
  for (int rank = 0; rank < static_cast<int>(host.size()); ++rank) {
    const int mine = host[static_cast<std::size_t>(rank)], share = at_most > 0 ? seen[mine]++ / at_most : 0;
    const auto fits = [&](const SubCluster& one) {
      return one.host == mine && one.share == share && std::ranges::all_of(one.ranks, [&](int other) {
               return found.attaches.empty() || found.both_ways(rank, other);
             });
    };
    auto place = std::ranges::find_if(all, fits);
    if (place == all.end()) place = all.insert(all.end(), {mine, share, {}});
    place->ranks.push_back(rank);
    numbers.push_back(static_cast<int>(place - all.begin()));
  }
  return numbers;
}

}  // namespace tca::shm
