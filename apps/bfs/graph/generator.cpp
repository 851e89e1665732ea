#include "bfs/graph/generator.hpp"

#include "bfs/graph/random.hpp"

namespace tca::bfs {

namespace {

// Sums of chances, as fractions of 2^32.
constexpr auto share(double chance) { return static_cast<std::uint32_t>(chance * 0x1p32); }
constexpr std::uint32_t top_left = share(Kronecker::a), top = share(Kronecker::a + Kronecker::b),
                        all_but_last = share(Kronecker::a + Kronecker::b + Kronecker::c);

std::uint64_t wide(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

}  // namespace

Kronecker::Kronecker(const Problem& problem) : problem_(problem), rounds_() {
  for (std::size_t round = 0; round < rounds_.size(); ++round) {
    const auto [word] = draw(problem.seed, Purpose::label, static_cast<std::int64_t>(round));
    rounds_[round] = {.factor = wide(word[0], word[1]) | 1, .summand = wide(word[2], word[3])};
  }
}

Edge Kronecker::unlabelled(std::int64_t number) const {
  constexpr int levels_in_draw = 4;
  Edge edge{0, 0};
  apps::Philox drawn{};
  for (int level = 0; level < problem_.scale; ++level) {
    if (level % levels_in_draw == 0)
      drawn = draw(problem_.seed, Purpose::edge, number, static_cast<std::uint32_t>(level / levels_in_draw));
    const std::uint32_t chance = drawn.word[level % levels_in_draw];
    const bool is_right = (chance >= top_left && chance < top) || chance >= all_but_last;
    edge.from |= static_cast<Vertex>(chance >= top) << level;
    edge.to |= static_cast<Vertex>(is_right) << level;
  }
  return edge;
}

// Each step has an inverse among numbers of `scale` bits: a factor is odd, and the upper half that is folded
// onto the lower one stays.
Vertex Kronecker::label(Vertex vertex) const {
  const std::uint64_t mask = (std::uint64_t{1} << problem_.scale) - 1;
  auto bits = static_cast<std::uint64_t>(vertex);
  for (const Round& round : rounds_) {
    bits = (bits * round.factor + round.summand) & mask;
    bits ^= bits >> ((problem_.scale + 1) / 2);
  }
  return static_cast<Vertex>(bits);
}

Edge Kronecker::edge(std::int64_t number) const {
  const Edge edge = unlabelled(number);
  return {label(edge.from), label(edge.to)};
}

std::vector<Edge> make_edges(const Problem& problem, const Range& numbers, const Progress& progress,
                             const apps::Workers& workers) {
  constexpr std::int64_t between_ticks = 4096;
  const Kronecker kronecker(problem);
  std::vector<Edge> edges(static_cast<std::size_t>(numbers.size));
  workers.share([&](int part, int parts) {
    const std::int64_t begin = apps::begin_of_part(numbers.size, part, parts);
    const std::int64_t end = apps::begin_of_part(numbers.size, part + 1, parts);
    for (std::int64_t i = begin; i < end; ++i) {
      edges[static_cast<std::size_t>(i)] = kronecker.edge(numbers.begin + i);
      // The first part is in the calling thread; the others are about as far.
      if (progress && part == 0 && i % between_ticks == 0) progress("generating edges", i, end);
    }
  });
  return edges;
}

Range edges_of(const Problem& problem, int rank, int ranks) {
  return Grid(ranks, {ranks}).part(rank, 0, problem.edges());
}

}  // namespace tca::bfs
