#include "placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/world/world_state.hpp"
#include "route/cost_table.hpp"

namespace tca::bench {

namespace {

int number_in(const std::string& path, int otherwise) {
  std::ifstream file(path);
  int value = otherwise;
  return file >> value ? value : otherwise;
}

// Returns the lowest processor that shares the last-level cache of this one, which is its cache of the
// highest index.
int cache_of(int processor) {
  int cache = processor;
  for (int index = 0;; ++index) {
    const int shared = number_in(
        fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/shared_cpu_list", processor, index), -1);
    if (shared < 0) return cache;
    cache = shared;
  }
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

template <class Get>
std::size_t distinct(const std::vector<Place>& ranks, const Get& get) {
  std::set<decltype(get(ranks[0]))> all;
  for (const Place& place : ranks) all.insert(get(place));
  return all.size();
}

// Returns "bound to processors 0 and 1", or how many of them the ranks may run on.
std::string binding(const std::vector<Place>& ranks) {
  constexpr std::size_t most_named = 8;
  const bool bound = std::ranges::all_of(ranks, [](const Place& p) { return p.processors == 1; });
  if (!bound) {
    const auto most = std::ranges::max(ranks, {}, &Place::processors).processors;
    return fmt::format("not bound, {} to run on", counted(static_cast<std::size_t>(most), "processor"));
  }
  if (ranks.size() > most_named || distinct(ranks, [](const Place& p) { return p.host; }) > 1)
    return "bound to a processor each";
  std::vector<int> processors;
  for (const Place& place : ranks) processors.push_back(place.first);
  if (processors.size() == 1) return fmt::format("bound to processor {}", processors[0]);
  const int last = processors.back();
  processors.pop_back();
  return fmt::format("bound to processors {} and {}", fmt::join(processors, ", "), last);
}

}  // namespace

Place own_place() {
  Place place;
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  place.host = static_cast<int>(std::hash<std::string_view>()(name));
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    place.processors = CPU_COUNT(&set);
    std::size_t first = 0;
    while (first + 1 < CPU_SETSIZE && !CPU_ISSET(first, &set)) ++first;
    place.first = static_cast<int>(first);
  }
  const std::string topology = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", place.first);
  place.core = number_in(topology + "core_id", place.first);
  place.socket = number_in(topology + "physical_package_id", 0);
  place.cache = cache_of(place.first);
  return place;
}

std::string describe(const std::vector<Place>& ranks) {
  const std::string who = fmt::format("{}, {}", counted(ranks.size(), "rank"), binding(ranks));
  const bool bound = std::ranges::all_of(ranks, [](const Place& p) { return p.processors == 1; });
  const std::size_t hosts = distinct(ranks, [](const Place& p) { return p.host; });
  const std::string on_hosts = hosts > 1 ? fmt::format(", {} hosts", hosts) : "";
  if (!bound) return who + on_hosts;
  const auto cores = distinct(ranks, [](const Place& p) { return std::tuple(p.host, p.socket, p.core); });
  const auto caches = distinct(ranks, [](const Place& p) { return std::tuple(p.host, p.cache); });
  const auto sockets = distinct(ranks, [](const Place& p) { return std::tuple(p.host, p.socket); });
  return fmt::format("{}: {}, {}, {}{}", who, counted(cores, "core"), counted(caches, "last-level cache"),
                     counted(sockets, "socket"), on_hosts);
}

int processors_of(const std::vector<Place>& ranks) {
  std::set<std::pair<int, int>> named;  // by host
  std::map<int, int> unbound;           // of a host: the most that one of its ranks may run on
  for (const Place& place : ranks) {
    if (place.processors == 1) named.emplace(place.host, place.first);
    unbound[place.host] = std::max(unbound[place.host], place.processors);
  }
  int all = 0;
  for (const auto& [host, most] : unbound) {
    const auto bound = std::ranges::count_if(named, [&](const auto& one) { return one.first == host; });
    all += std::max(most, static_cast<int>(bound));
  }
  return all;
}

std::vector<Place> places(World& world) { return world.all_gather(own_place()); }

std::string placement(World& world) {
  std::string text = describe(places(world));
  const double ns = core::WorldState::of(world).fabrics().front()->pricing().cache_line_transfer_ns();
  if (ns > 0)
    text += fmt::format("; {:.0f} ns for a cache line to cross ({})", ns, to_string(route::distance(ns)));
  return text;
}

}  // namespace tca::bench
