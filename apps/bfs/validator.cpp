#include "bfs/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace tca::bfs {

namespace {

// In place of a level.
constexpr std::int32_t no_level = -1, being_followed = -2;

std::string at_level(Vertex vertex, std::int32_t level) {
  return level < 0 ? fmt::format("{} is not in the tree", vertex)
                   : fmt::format("{} is at level {}", vertex, level);
}

}  // namespace

std::string Fault::describe() const {
  const std::string ends = fmt::format("{}, {}", at_level(from, from_level), at_level(to, to_level));
  switch (rule) {
    case Rule::tree:
      return to == nowhere
                 ? fmt::format("rule 1, the root is its own parent: {} has none", from)
                 : fmt::format("rule 1, parents lead to the root: from {} by its parent {} they do not", from,
                               to);
    case Rule::listed_edges:
      return fmt::format("rule 3, the ends of an edge are at most one level apart: of edge {} - {}, {}", from,
                         to, ends);
    case Rule::component:
      return fmt::format("rule 4, the tree has the root's whole component: of edge {} - {}, {}", from, to,
                         ends);
    case Rule::parents:
      return fmt::format("rule 5, an edge joins a vertex and its parent: there is no edge {} - {}", from, to);
    default:
      return fmt::format("the component has {} edges, not {}", expected, found);
  }
}

Validator::Validator(World& world, const Partition& partition, std::span<const Edge> edges)
    : world_(world),
      partition_(partition),
      edges_(edges),
      gather_parents_(world, "PARENTS", partition.each()),
      gather_joined_(world, "JOINED", partition.all_words()),
      parents_(static_cast<std::size_t>(partition.room())),
      joined_(static_cast<std::size_t>(partition.all_words())),
      levels_(static_cast<std::size_t>(partition.room())) {}

std::int32_t Validator::level(Vertex vertex) const { return levels_[static_cast<std::size_t>(vertex)]; }

std::optional<Fault> Validator::check(Vertex root, std::span<const Vertex> parents,
                                      std::int64_t edges_counted) {
  gather_parents_.to().write(partition_.first(world_.rank()), parents);
  gather_parents_.run();
  gather_parents_.to().read(0, parents_);
  if (auto wrong = find_levels(root)) return wrong;  // on every rank: all have all parents
  if (auto wrong = check_list(edges_counted)) return wrong;
  return check_parents(root);
}

std::optional<Fault> Validator::find_levels(Vertex root) {
  std::ranges::fill(levels_, no_level);
  if (parent(root) != root) return fault(Rule::tree, root, parent(root));
  levels_[static_cast<std::size_t>(root)] = 0;
  std::vector<Vertex> path;
  for (std::int64_t vertex = 0; vertex < partition_.vertices(); ++vertex) {
    if (parent(static_cast<Vertex>(vertex)) == nowhere) continue;
    if (auto wrong = find_level(static_cast<Vertex>(vertex), path)) return wrong;
  }
  return {};
}

// Follows parents up to one whose level is known, and comes back down.
std::optional<Fault> Validator::find_level(Vertex vertex, std::vector<Vertex>& path) {
  path.clear();
  while (level(vertex) == no_level) {
    const Vertex up = parent(vertex);
    const bool exists = up >= 0 && up < partition_.vertices();
    if (!exists || parent(up) == nowhere) return fault(Rule::tree, vertex, up);
    levels_[static_cast<std::size_t>(vertex)] = being_followed;
    path.push_back(vertex);
    vertex = up;
  }
  if (level(vertex) == being_followed) return fault(Rule::tree, vertex, parent(vertex));
  std::int32_t depth = level(vertex);
  for (auto below = path.rbegin(); below != path.rend(); ++below)
    levels_[static_cast<std::size_t>(*below)] = ++depth;
  return {};
}

std::optional<Fault> Validator::check_listed(const Edge& edge) const {
  const std::int32_t from = level(edge.from), to = level(edge.to);
  if ((from == no_level) != (to == no_level)) return fault(Rule::component, edge.from, edge.to);
  if (std::abs(from - to) > 1) return fault(Rule::listed_edges, edge.from, edge.to);
  return {};
}

void Validator::mark_if_joined(Vertex vertex, Vertex other) {
  if (parent(vertex) == other) joined_[word_of(vertex)] |= bit_of(vertex);
}

// Goes through the list, of which every rank has a part.
std::optional<Fault> Validator::check_list(std::int64_t edges_counted) {
  std::optional<Fault> wrong;
  std::int64_t own = 0;
  std::ranges::fill(joined_, 0);
  for (const Edge& edge : edges_) {
    if (!wrong) wrong = check_listed(edge);
    mark_if_joined(edge.from, edge.to);
    mark_if_joined(edge.to, edge.from);
    if (level(edge.from) != no_level) ++own;
  }
  if (auto first = first_of_all(wrong)) return first;
  const std::vector<std::int64_t> all = world_.all_gather(own);
  const std::int64_t edges = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  if (edges == edges_counted) return {};
  return Fault{.rule = Rule::edges_counted,
               .from = nowhere,
               .to = nowhere,
               .from_level = no_level,
               .to_level = no_level,
               .found = edges_counted,
               .expected = edges};
}

// Adds what other ranks have found in their parts of the list.
void Validator::join_all() {
  const std::int64_t words = partition_.all_words();
  gather_joined_.to().write(world_.rank() * words, joined_);
  gather_joined_.run();
  std::vector<std::uint64_t> other(joined_.size());
  for (int rank = 0; rank < world_.size(); ++rank) {
    gather_joined_.to().read(rank * words, other);
    std::ranges::transform(joined_, other, joined_.begin(), std::bit_or<>());
  }
}

std::optional<Fault> Validator::check_parents(Vertex root) {
  join_all();
  for (std::int64_t vertex = 0; vertex < partition_.vertices(); ++vertex) {
    const auto one = static_cast<Vertex>(vertex);
    const bool is_joined = (joined_[word_of(one)] & bit_of(one)) != 0;
    if (level(one) != no_level && one != root && !is_joined) return fault(Rule::parents, one, parent(one));
  }
  return {};
}

// Returns what the lowest rank has found that has found anything. Collective.
std::optional<Fault> Validator::first_of_all(const std::optional<Fault>& own) {
  struct Found {
    char any;
    Fault fault;
  };
  for (const Found& found : world_.all_gather(Found{own ? char{1} : char{0}, own.value_or(Fault{})}))
    if (found.any != 0) return found.fault;
  return {};
}

Fault Validator::fault(Rule rule, Vertex from, Vertex to) const {
  const auto level_of = [&](Vertex vertex) {
    return vertex >= 0 && vertex < partition_.vertices() ? std::max(level(vertex), no_level) : no_level;
  };
  return {.rule = rule,
          .from = from,
          .to = to,
          .from_level = level_of(from),
          .to_level = level_of(to),
          .found = 0,
          .expected = 0};
}

}  // namespace tca::bfs
