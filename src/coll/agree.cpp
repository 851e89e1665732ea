#include "coll/agree.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/fail.hpp"

namespace tca::coll {

namespace {

struct Declaration {
  Kind kind;
  bool in_place;
  int root, operation;
  std::int64_t count;
  std::size_t element_bytes;
  char algorithm[32];
  char chosen[32];
  char problem[256];  // what this rank alone has found
};

// How many elements a buffer must have: blocks of `count`.
int blocks(const Request& request, Buffer buffer, int ranks) {
  switch (request.kind) {
    case Kind::barrier:
      return 0;
    case Kind::broadcast:
    case Kind::all_reduce:
      return 1;
    case Kind::all_gather:
      return buffer == Buffer::input ? 1 : ranks;
    case Kind::reduce_scatter:
      return buffer == Buffer::input || request.in_place ? ranks : 1;
    case Kind::all_to_all:
      return ranks;
  }
  return 0;
}

// How many bytes are in both buffers. Chains find that out by themselves where it is one window, kernels not at all.
std::size_t common_bytes(const Request& request, const Elements& elements, int ranks) {
  const auto begin = [&](Buffer buffer) { return reinterpret_cast<std::uintptr_t>(elements.data(buffer)); };
  const auto end = [&](Buffer buffer) {
    return begin(buffer) +
           static_cast<std::size_t>(blocks(request, buffer, ranks) * request.count) * elements.bytes();
  };
  const std::uintptr_t first = std::max(begin(Buffer::input), begin(Buffer::output));
  const std::uintptr_t last = std::min(end(Buffer::input), end(Buffer::output));
  return last > first ? last - first : 0;
}

// Of a reduction to everyone, where each element comes from those in its place, the two may be the same.
bool may_be_same(const Request& request, const Elements& elements) {
  return request.kind == Kind::all_reduce && elements.data(Buffer::input) == elements.data(Buffer::output);
}

std::string problem_of(const World& world, const Request& request, const Elements& elements,
                       const std::string& found) {
  const int ranks = world.size();
  const auto size = static_cast<std::int64_t>(elements.bytes());
  std::int64_t whole;
  if (request.count < 0 || __builtin_mul_overflow(request.count, ranks * size, &whole))
    return fmt::format("a block of {} elements is negative or overflows", request.count);
  if (request.root < 0 || request.root >= ranks)
    return fmt::format("there is no root {} in a world of {}", request.root, ranks);
  if (const auto limit = request.options.time_limit; limit && limit->count() <= 0)
    return fmt::format("a time limit of {} ms cannot be met", limit->count());
  if (!found.empty()) return found;
  for (const Buffer buffer : {Buffer::output, Buffer::input}) {
    const int need = blocks(request, buffer, ranks);
    if (need > 0 && elements.available(buffer) < need * request.count) {
      return fmt::format("the {} window has {} elements, {} are needed",
                         buffer == Buffer::input ? "input" : "output", elements.available(buffer),
                         need * request.count);
    }
  }
  if (request.in_place || may_be_same(request, elements)) return {};
  if (const std::size_t common = common_bytes(request, elements, ranks); common > 0) {
    return fmt::format(
        "{} bytes are input and output; give the window once, to have it in place, or two that do not "
        "overlap",
        common);
  }
  return {};
}

Declaration declare(const World& world, const Request& request, const Elements& elements,
                    const std::string& found, std::string_view chosen) {
  Declaration mine{};
  mine.kind = request.kind;
  mine.in_place = request.in_place;
  mine.root = request.root;
  mine.operation = elements.operation();
  mine.count = request.count;
  mine.element_bytes = elements.bytes();
  const auto copy = [](char* to, std::size_t room, std::string_view text) {
    std::memcpy(to, text.data(), std::min(text.size(), room - 1));
  };
  copy(mine.algorithm, sizeof mine.algorithm, request.options.algorithm);
  copy(mine.chosen, sizeof mine.chosen, chosen);
  copy(mine.problem, sizeof mine.problem, problem_of(world, request, elements, found));
  return mine;
}

std::string operation_name(int number) {
  switch (number) {
    case static_cast<int>(Op::sum):
      return "sum";
    case static_cast<int>(Op::min):
      return "min";
    case static_cast<int>(Op::max):
      return "max";
    case static_cast<int>(Op::product):
      return "product";
    default:
      return "an operation of its own";
  }
}

// In what the two differ first, as two phrases; empty when in nothing.
std::pair<std::string, std::string> difference(const Declaration& a, const Declaration& b) {
  const auto both = [&](auto phrase) { return std::pair<std::string, std::string>(phrase(a), phrase(b)); };
  if (a.kind != b.kind) return both([](const Declaration& d) { return std::string(to_string(d.kind)); });
  if (a.count != b.count)
    return both([](const Declaration& d) { return fmt::format("a count of {}", d.count); });
  if (a.root != b.root) return both([](const Declaration& d) { return fmt::format("root {}", d.root); });
  if (a.operation != b.operation)
    return both([](const Declaration& d) { return operation_name(d.operation); });
  if (a.element_bytes != b.element_bytes)
    return both([](const Declaration& d) { return fmt::format("elements of {} bytes", d.element_bytes); });
  if (a.in_place != b.in_place)
    return both([](const Declaration& d) { return std::string(d.in_place ? "one buffer" : "two buffers"); });
  if (std::strcmp(a.algorithm, b.algorithm) != 0)
    return both([](const Declaration& d) { return fmt::format("algorithm '{}'", d.algorithm); });
  // By the type of the elements or the route, of which nothing else is said.
  if (std::strcmp(a.chosen, b.chosen) != 0)
    return both([](const Declaration& d) { return fmt::format("chosen '{}'", d.chosen); });
  return {};
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::barrier:
      return "barrier";
    case Kind::broadcast:
      return "broadcast";
    case Kind::all_gather:
      return "allgather";
    case Kind::all_reduce:
      return "allreduce";
    case Kind::reduce_scatter:
      return "reduce-scatter";
    case Kind::all_to_all:
      return "all-to-all";
  }
  return "?";
}

void agree(World& world, const Request& request, const Elements& elements, const std::string& problem,
           std::string_view chosen) {
  const std::vector<Declaration> all = world.all_gather(declare(world, request, elements, problem, chosen));
  std::vector<std::string> problems;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].problem[0] != '\0') problems.push_back(fmt::format("rank {}: {}", rank, all[rank].problem));
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto [first, other] = difference(all[0], all[rank]);
    if (!first.empty()) problems.push_back(fmt::format("rank 0 has {}, rank {} {}", first, rank, other));
  }
  if (problems.empty()) return;
  constexpr std::size_t shown = 8;
  const std::size_t total = problems.size();
  problems.resize(std::min(total, shown));
  base::fail(Errc::refused, "{} '{}' refused, every rank must ask for the same and for what can be:\n  {}{}",
             to_string(all[0].kind), request.name, fmt::join(problems, "\n  "),
             total > shown ? "\n  ..." : "");
}

}  // namespace tca::coll
