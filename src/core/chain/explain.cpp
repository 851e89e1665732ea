#include "core/chain/explain.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/layout/region.hpp"
#include "base/text/ranks.hpp"
#include "core/chain/message_times.hpp"
#include "core/words.hpp"
#include "route/choose.hpp"

namespace tca::core {

namespace {

enum class Kind : std::uint8_t { fixed, counted, produced };

// It stays within the process, so the shape can remain a pointer. There may be thousands of chains with
// many puts each, so it has no byte that only few puts need.
void pack(base::Writer& writer, const Descriptor& d) {
  writer.put_number(static_cast<std::uint64_t>(d.to)).put_number(d.to_window).put_number(d.from_window);
  writer.put_number(d.fabric).put_number(d.protocol);
  writer.put_number(static_cast<std::uint64_t>(d.to_offset))
      .put_number(static_cast<std::uint64_t>(d.from_offset));
  const Kind kind = d.produced ? Kind::produced : d.counted ? Kind::counted : Kind::fixed;
  writer.put_number(reinterpret_cast<std::uintptr_t>(d.shape)).put_number(static_cast<std::uint64_t>(kind));
  if (d.produced) writer.put_number(d.elements).put_number(d.element_bytes);
}

Descriptor unpack(base::Reader& reader) {
  Descriptor d;
  d.to = static_cast<std::int32_t>(reader.get_number());
  d.to_window = static_cast<std::uint32_t>(reader.get_number());
  d.from_window = static_cast<std::uint32_t>(reader.get_number());
  d.fabric = static_cast<std::uint16_t>(reader.get_number());
  d.protocol = static_cast<std::uint16_t>(reader.get_number());
  d.to_offset = static_cast<std::int64_t>(reader.get_number());
  d.from_offset = static_cast<std::int64_t>(reader.get_number());
  d.shape = reinterpret_cast<const base::Shape*>(reader.get_number());
  const auto kind = static_cast<Kind>(reader.get_number());
  d.counted = kind == Kind::counted;
  d.produced = kind == Kind::produced;
  if (!d.produced) return d;
  d.elements = static_cast<std::uint32_t>(reader.get_number());
  d.element_bytes = static_cast<std::uint32_t>(reader.get_number());
  return d;
}

Draft read_record(const base::Blob& record) {
  base::Reader reader(record);
  Draft draft;
  for (auto n = reader.get_number(); n > 0; --n)
    draft.expected.push_back(static_cast<int>(reader.get_number()));
  while (!reader.done()) draft.descriptors.push_back(unpack(reader));
  return draft;
}

std::string place(const WorldState& world, std::uint32_t window, std::int64_t offset) {
  const std::shared_ptr<WindowState> found = world.find_window(window);
  const auto size = static_cast<std::int64_t>(found->element_bytes());
  return fmt::format("{} at {}", found->title(), offset / size);
}

std::string layout(const WorldState& world, const Descriptor& d) {
  const std::size_t size = world.find_window(d.to_window)->element_bytes();
  const std::string from = base::Region::read(d.from_offset, *d.shape).describe(size);
  const std::string to = base::Region::written(d.to_offset, *d.shape).describe(size);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

// Says why a put to `to` does not use the first fabric, if the program could change that; `first` is the
// first that reaches both windows.
std::string reason_of_detour(const WorldState& world, int to, std::size_t first) {
  const std::size_t direct = world.fabric_to(to);
  if (direct < first) {
    return fmt::format(
        "; {} does not reach memory that the program already had: let the array be a window, "
        "world.window<T>(n)",
        world.fabrics()[direct]->name());
  }
  const control::Places& places = world.places();
  const std::vector<int>& host = places.host;
  if (host[static_cast<std::size_t>(to)] != host[static_cast<std::size_t>(world.rank())] ||
      places.same_sub_cluster(world.rank(), to) || places.obstacle.empty())
    return {};
  return "; " + places.obstacle;
}

using Row = std::vector<std::string>;

Row row_of(const WorldState& world, const std::string& forced, std::size_t number, const Descriptor& d,
           std::size_t puts) {
  Row row{fmt::format("{}", number), fmt::format("rank {}", d.to)};
  if (d.produced && d.elements == 0) {
    row.push_back(fmt::format("a signal over {}, raised by a kernel", world.fabrics()[d.fabric]->name()));
    return row;
  }
  if (d.produced) {
    row.insert(row.end(), {fmt::format("{}/produced", world.fabrics()[d.fabric]->name()), "not known",
                           fmt::format("{}", std::uint64_t{d.elements} * d.element_bytes),
                           fmt::format("{} of {} bytes", d.elements, d.element_bytes), "a kernel", "a kernel",
                           "produced element by element"});
    return row;
  }
  if (d.shape == nullptr) {
    row.push_back(fmt::format("a signal over {}", world.fabrics()[d.fabric]->name()));
    return row;
  }
  // As at commit, fabrics that do not reach the memory are not considered.
  const std::size_t first = world.first_fabric(d.to_window, d.from_window);
  route::Put put{d.to, *d.shape, puts, d.counted};
  // The put's own path is reported even if it has failed since.
  if (world.expects_lost_paths())
    put.is_lost = [&](std::size_t fabric, std::size_t protocol) {
      const bool is_own = first + fabric == d.fabric && protocol == d.protocol;
      return !is_own && world.lost_path(d.to, first + fabric, protocol) != nullptr;
    };
  const route::Explained why = route::explain(std::span(world.fabrics()).subspan(first), world.costs(), put,
                                              {d.fabric - static_cast<int>(first), d.protocol}, forced);
  row.insert(row.end(),
             {why.channel, why.predicted, fmt::format("{}{}", d.counted ? "0 to " : "", d.shape->bytes()),
              layout(world, d), place(world, d.from_window, d.from_offset),
              place(world, d.to_window, d.to_offset), why.reason + reason_of_detour(world, d.to, first)});
  return row;
}

std::string crossing_in_words(const fabric::Fabric& fabric) {
  const double ns = fabric.pricing().cache_line_transfer_ns();
  return ns > 0 ? fmt::format("; a signal crosses in {:.0f} ns", ns) : "";
}

std::string guard_in_words(const fabric::Guard& guard, const fabric::Fabric& fabric) {
  std::vector<std::string> words;
  if (!guard.awaited.empty())
    words.push_back(
        fmt::format("waits for a signal of rank {} before it stores", base::list_ranks(guard.awaited)));
  if (!guard.told.empty())
    words.push_back(fmt::format("its start signals rank {}", base::list_ranks(guard.told)));
  if (words.empty()) return fmt::format("  guard over {}: no signal; {}\n", fabric.name(), guard.otherwise);
  return fmt::format("  guard over {}: {}{}\n", fabric.name(), fmt::join(words, ", "),
                     crossing_in_words(fabric));
}

}  // namespace

base::Blob record_of(const Draft& draft) {
  const std::set<int> expected(draft.expected.begin(), draft.expected.end());
  base::Writer record;
  record.put_number(expected.size());
  for (const int rank : expected) record.put_number(static_cast<std::uint64_t>(rank));
  for (const Descriptor& descriptor : draft.descriptors) pack(record, descriptor);
  return record.blob();
}

// Says which ranks the partners of a step hear from, and what the guard adds to that.
std::string ChainState::explain_signals(const Draft& draft) const {
  std::string text;
  std::map<std::size_t, std::set<int>> told;  // by fabric
  for (const Descriptor& d : draft.descriptors) told[d.fabric].insert(d.to);
  for (const auto& [fabric, ranks] : told) {
    const std::vector<int> list(ranks.begin(), ranks.end());
    text += fmt::format("  tells rank {} over {}, once a step, that all puts have come{}\n",
                        base::list_ranks(list), world_->fabrics()[fabric]->name(),
                        crossing_in_words(*world_->fabrics()[fabric]));
  }
  if (!draft.expected.empty())
    text += fmt::format("  expects rank {}, and waits for {}\n", base::list_ranks(draft.expected),
                        draft.expected.size() == 1 ? "its signal" : "a signal of each");
  if (!guarded_)
    text += "  has no guard; the program vouches that nobody still reads what a step overwrites\n";
  for (std::size_t f = 0; f < programs_.size(); ++f) {
    const std::optional<fabric::Guard> guard = programs_[f]->guard();
    if (guard && !programs_[f]->is_empty()) text += guard_in_words(*guard, *world_->fabrics()[f]);
  }
  return text;
}

std::string ChainState::explain() const {
  std::string text =
      fmt::format("chain '{}' on rank {} of {}, {}; costs by {}:\n", name_, world_->rank(), world_->size(),
                  guarded_ ? "guarded" : "unguarded", world_->costs().origin());
  if (!committed_) return text + "  not committed yet\n";
  const Draft draft = read_record(record_);
  if (draft.descriptors.empty()) {
    text += "  puts nothing\n";
  } else {
    std::map<int, std::size_t> puts_to = count_puts(draft.descriptors);
    std::vector<Row> rows{{"put", "to", "by", "predicted", "bytes", "layout", "from", "into", "why"}};
    for (std::size_t i = 0; i < draft.descriptors.size(); ++i) {
      const Descriptor& d = draft.descriptors[i];
      rows.push_back(row_of(*world_, route_, i, d, puts_to[d.to]));
    }
    text += in_columns(rows);
  }
  text += explain_signals(draft);
  return times_ != nullptr ? text + "  times of what comes, in us:\n" + timing().describe() : text;
}

}  // namespace tca::core
