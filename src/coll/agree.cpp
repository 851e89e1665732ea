#include "coll/agree.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/text/ranks.hpp"
#include "core/words.hpp"
#include "core/world/world_state.hpp"

namespace tca::coll {

namespace {

struct Declaration {
  CollectiveKind kind;
  bool in_place;
  int root;
  std::int64_t count;
  std::size_t element_bytes;
  DataType type;
  std::uint32_t input, output;  // windows
  std::string name, operation, algorithm, chosen;
  std::string problem;  // found by this rank alone
};

base::Blob encode(const Declaration& d) {
  base::Writer writer;
  writer.put(d.kind).put(d.in_place).put(d.root).put(d.count).put(d.element_bytes);
  writer.put(d.type).put(d.input).put(d.output);
  for (const std::string* text : {&d.name, &d.operation, &d.algorithm, &d.chosen, &d.problem})
    writer.put_string(*text);
  return writer.blob();
}

Declaration decode(const base::Blob& blob) {
  base::Reader reader(blob);
  Declaration d{};
  d.kind = reader.get<CollectiveKind>();
  d.in_place = reader.get<bool>();
  d.root = reader.get<int>();
  d.count = reader.get<std::int64_t>();
  d.element_bytes = reader.get<std::size_t>();
  d.type = reader.get<DataType>();
  d.input = reader.get<std::uint32_t>();
  d.output = reader.get<std::uint32_t>();
  for (std::string* text : {&d.name, &d.operation, &d.algorithm, &d.chosen, &d.problem})
    *text = reader.get_string();
  return d;
}

// Returns how many blocks of `count` elements a buffer needs.
int blocks(const raw::Request& request, bool in_place, Buffer buffer, int ranks) {
  switch (request.kind) {
    case CollectiveKind::barrier:
      return 0;
    case CollectiveKind::broadcast:
    case CollectiveKind::all_reduce:
      return 1;
    case CollectiveKind::all_gather:
      return buffer == Buffer::input ? 1 : ranks;
    case CollectiveKind::reduce_scatter:
      return buffer == Buffer::input || in_place ? ranks : 1;
    case CollectiveKind::all_to_all:
      return ranks;
  }
  return 0;
}

// Returns how many bytes belong to both buffers. Within one window chains detect the overlap themselves;
// kernels never do.
std::size_t common_bytes(const raw::Request& request, const Elements& elements, int ranks) {
  const auto begin = [&](Buffer buffer) { return reinterpret_cast<std::uintptr_t>(elements.data(buffer)); };
  const auto end = [&](Buffer buffer) {
    return begin(buffer) + static_cast<std::size_t>(blocks(request, elements.in_place(), buffer, ranks) *
                                                    request.count.value()) *
                               elements.bytes();
  };
  const std::uintptr_t first = std::max(begin(Buffer::input), begin(Buffer::output));
  const std::uintptr_t last = std::min(end(Buffer::input), end(Buffer::output));
  return last > first ? last - first : 0;
}

// Returns whether the two are the same buffer and may be: in a reduction to all ranks each element is
// combined only from those at its own place.
bool may_be_same(const raw::Request& request, const Elements& elements) {
  return request.kind == CollectiveKind::all_reduce &&
         elements.data(Buffer::input) == elements.data(Buffer::output);
}

std::string_view type_name(DataType type) {
  switch (type) {
    case DataType::float32:
      return "float";
    case DataType::float64:
      return "double";
    case DataType::int32:
      return "int32";
    case DataType::int64:
      return "int64";
    case DataType::long_double:
      return "long double";
    case DataType::int8:
      return "int8";
    case DataType::int16:
      return "int16";
    case DataType::uint8:
      return "uint8";
    case DataType::uint16:
      return "uint16";
    case DataType::uint32:
      return "uint32";
    case DataType::uint64:
      return "uint64";
    case DataType::other:
      return "another type";
  }
  return "?";
}

bool lacks_function(const raw::Operation& operation) {
  const auto* const function = std::get_if<raw::Combiner>(&operation);
  return function != nullptr && !*function;
}

std::string problem_of_operation(const Elements& elements) {
  const raw::Operation* const operation = elements.operation();
  if (operation == nullptr) return {};
  if (lacks_function(*operation)) return "its operation is an empty function";
  if (elements.op() && elements.type() == DataType::other)
    return "the library does not know how to combine elements of its type; give it a function that does";
  return {};
}

std::string problem_of(const World& world, const raw::Request& request, const Elements& elements,
                       const std::string& found) {
  const int ranks = world.size();
  if (!is_countable(request.count.value(), ranks, elements.bytes()))
    return fmt::format("a block of {} elements is negative or overflows", request.count.value());
  if (bytes_of(request.type) > 0 && bytes_of(request.type) != request.element_bytes)
    return fmt::format("elements of {} have {} bytes, not {}", type_name(request.type),
                       bytes_of(request.type), request.element_bytes);
  if (elements.bytes() != request.element_bytes)
    return fmt::format("its windows have elements of {} bytes, not {}", elements.bytes(),
                       request.element_bytes);
  if (request.root < 0 || request.root >= ranks)
    return fmt::format("there is no root {} in a world of {}", request.root, ranks);
  if (const auto limit = request.options.time_limit; limit && limit->count() <= 0)
    return fmt::format("a time limit of {} ms cannot be met", limit->count());
  if (const std::string problem = problem_of_operation(elements); !problem.empty()) return problem;
  if (!found.empty()) return found;
  for (const Buffer buffer : {Buffer::output, Buffer::input}) {
    const int need = blocks(request, elements.in_place(), buffer, ranks);
    if (need > 0 && elements.available(buffer) < need * request.count.value()) {
      return fmt::format("{}, its {}, has {} elements, {} are needed",
                         core::WorldState::of(world).window_title(elements.window_number(buffer)),
                         buffer == Buffer::input ? "input" : "output", elements.available(buffer),
                         need * request.count.value());
    }
  }
  if (elements.in_place() || may_be_same(request, elements)) return {};
  if (const std::size_t common = common_bytes(request, elements, ranks); common > 0) {
    return fmt::format(
        "{} ({} bytes) are input and output; give the window once, to have it in place, or two that do not "
        "overlap",
        core::count_in_words(static_cast<std::int64_t>(common / elements.bytes())), common);
  }
  return {};
}

std::string_view operation_name(const Elements& elements) {
  if (elements.operation() == nullptr) return "no operation";
  if (lacks_function(*elements.operation())) return "an empty function";
  if (!elements.op()) return "an operation of its own";
  switch (*elements.op()) {
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::min:
      return "min";
    case ReduceOp::max:
      return "max";
    case ReduceOp::product:
      return "product";
  }
  return "?";
}

Declaration declare(const World& world, const raw::Request& request, const Elements& elements,
                    const std::string& found, std::string_view chosen) {
  return {.kind = request.kind,
          .in_place = elements.in_place(),
          .root = request.root,
          .count = request.count.value(),
          .element_bytes = elements.bytes(),
          .type = elements.type(),
          .input = elements.window_number(Buffer::input),
          .output = elements.window_number(Buffer::output),
          .name = request.name,
          .operation = std::string(operation_name(elements)),
          .algorithm = request.options.algorithm,
          .chosen = std::string(chosen),
          .problem = problem_of(world, request, elements, found)};
}

// Returns the first difference between the two, as two phrases; both are empty if there is none.
std::pair<std::string, std::string> difference(const World& world, const Declaration& a,
                                               const Declaration& b) {
  const auto title = [&](std::uint32_t window) { return core::WorldState::of(world).window_title(window); };
  const auto both = [&](auto phrase) { return std::pair<std::string, std::string>(phrase(a), phrase(b)); };
  if (a.kind != b.kind) return both([](const Declaration& d) { return std::string(to_string(d.kind)); });
  if (a.name != b.name)
    return both([](const Declaration& d) { return fmt::format("the name '{}'", d.name); });
  if (a.count != b.count)
    return both([](const Declaration& d) { return fmt::format("a count of {}", d.count); });
  if (a.root != b.root) return both([](const Declaration& d) { return fmt::format("root {}", d.root); });
  if (a.operation != b.operation) return both([](const Declaration& d) { return d.operation; });
  if (a.element_bytes != b.element_bytes)
    return both([](const Declaration& d) { return fmt::format("elements of {} bytes", d.element_bytes); });
  if (a.type != b.type)
    return both([](const Declaration& d) { return fmt::format("elements of {}", type_name(d.type)); });
  if (a.in_place != b.in_place)
    return both([](const Declaration& d) { return std::string(d.in_place ? "one buffer" : "two buffers"); });
  if (a.algorithm != b.algorithm)
    return both([](const Declaration& d) { return fmt::format("algorithm '{}'", d.algorithm); });
  if (a.input != b.input) return both([&](const Declaration& d) { return title(d.input) + " as input"; });
  if (a.output != b.output) return both([&](const Declaration& d) { return title(d.output) + " as output"; });
  // The route makes this choice, and it is not compared itself.
  if (a.chosen != b.chosen)
    return both([](const Declaration& d) { return fmt::format("chosen '{}'", d.chosen); });
  return {};
}

// Says only once what several ranks have in common.
class Lines {
 public:
  // Adds a line about a rank, whose number goes between the two texts.
  void add(std::size_t rank, std::string before, std::string after) {
    const auto same = std::ranges::find_if(
        lines_, [&](const Line& line) { return line.before == before && line.after == after; });
    Line& line =
        same != lines_.end() ? *same : lines_.emplace_back(Line{std::move(before), std::move(after), {}});
    line.ranks.push_back(static_cast<int>(rank));
  }

  std::vector<std::string> take() const {
    std::vector<std::string> all;
    for (const Line& line : lines_)
      all.push_back(fmt::format("{}rank {}{}", line.before, base::list_ranks(line.ranks), line.after));
    return all;
  }

 private:
  struct Line {
    std::string before, after;  // the ranks
    std::vector<int> ranks;
  };

  std::vector<Line> lines_;
};

std::vector<std::string> problems_of(const World& world, const std::vector<Declaration>& all) {
  Lines lines;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].problem.empty()) lines.add(rank, {}, ": " + all[rank].problem);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto [first, other] = difference(world, all[0], all[rank]);
    if (!first.empty()) lines.add(rank, fmt::format("rank 0 has {}, ", first), " " + other);
  }
  return lines.take();
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::barrier:
      return "barrier";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::all_gather:
      return "allgather";
    case CollectiveKind::all_reduce:
      return "allreduce";
    case CollectiveKind::reduce_scatter:
      return "reduce-scatter";
    case CollectiveKind::all_to_all:
      return "all-to-all";
  }
  return "?";
}

// The factor 4 leaves room for an algorithm's scratch, which may be three times all blocks.
bool is_countable(std::int64_t count, int ranks, std::size_t element_bytes) {
  std::int64_t elements, bytes;
  return count >= 0 && !__builtin_mul_overflow(count, std::int64_t{4} * ranks, &elements) &&
         !__builtin_mul_overflow(elements, element_bytes, &bytes);
}

void agree(World& world, const raw::Request& request, const Elements& elements, const std::string& problem,
           std::string_view chosen) {
  control::Control& control = core::WorldState::of(world).control();
  const std::string what = fmt::format("creation of a collective '{}'", request.name);
  const Declaration declared = declare(world, request, elements, problem, chosen);
  const base::Blob mine = encode(declared);
  // If all ranks say the same, they need not learn what it is.
  const auto [same, not_same] = control::vote_for(base::fnv1a(mine));
  const std::uint64_t has_problem = declared.problem.empty() ? 0 : 1;
  const control::Votes votes = control.exchange({}, {same, not_same, has_problem}, what).votes;
  if (control::all_voted_alike(votes[0], votes[1]) && votes[2] == 0) return;
  std::vector<Declaration> all;
  for (const base::Blob& blob : control.all_gather(mine, what)) all.push_back(decode(blob));
  const std::vector<std::string> problems = problems_of(world, all);
  if (problems.empty()) return;
  constexpr std::size_t shown = 8;
  const std::span first = std::span(problems).first(std::min(problems.size(), shown));
  base::fail(Errc::refused, "{} '{}' refused, every rank must ask for the same and for what can be:\n  {}{}",
             to_string(all[0].kind), all[0].name, fmt::join(first, "\n  "),
             problems.size() > shown ? "\n  ..." : "");
}

}  // namespace tca::coll
