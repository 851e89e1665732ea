// Reads the MPI libraries of a machine file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "model/machine/machine_parts.hpp"

namespace tca::net {

namespace {

constexpr std::int64_t most_inlined = std::int64_t{1} << 30;

// A library's own table, then that of the library it is `like`, and so on. The first table that has a key
// decides.
class Layers {
 public:
  Layers(const MachineTable& all, const std::string& name) {
    std::set<std::string> seen;
    for (std::string next = name; !next.empty();) {
      const MachineTable table = all.table(next);
      layers_.push_back(table);
      seen.insert(next);
      if (!table.has("like")) return;
      next = table.word("like");
      if (seen.contains(next)) table.reject("like", fmt::format("`{}` is like itself", name));
      const std::vector<std::string> known = all.tables();
      if (std::ranges::find(known, next) == known.end())
        table.reject("like",
                     fmt::format("there is no library `{}`; there are {}", next, fmt::join(known, ", ")));
    }
  }

  const MachineTable& at(std::string_view key) const {
    const MachineTable* last = &layers_.front();
    bool found = false;
    // All layers are asked, so that the key counts as known in each.
    for (const MachineTable& layer : layers_) {
      if (!layer.has(key) || found) continue;
      last = &layer;
      found = true;
    }
    return *last;
  }

 private:
  std::vector<MachineTable> layers_;
};

std::uint32_t small(const Layers& layers, std::string_view key) {
  const std::int64_t size = layers.at(key).size(key);
  if (size < 1 || size > std::numeric_limits<std::int32_t>::max())
    layers.at(key).reject(
        key, fmt::format("`{}` is {} bytes, and must be more than 0 and less than 2 GiB", key, size));
  return static_cast<std::uint32_t>(size);
}

// What travels with a request is one packet, whose bytes are counted in 32 bits.
std::int64_t inline_limit(const Layers& layers, std::string_view key) {
  const MachineTable& table = layers.at(key);
  const std::int64_t limit = table.size(key);
  if (limit > most_inlined)
    table.reject(key, fmt::format("`{}` is {} bytes, and can be 1 GiB at most", key, limit));
  return limit;
}

std::vector<std::uint32_t> read_rails(const Layers& layers, const Description& network) {
  std::vector<std::uint32_t> rails;
  const MachineTable& table = layers.at("rails");
  for (const std::string& name : table.words("rails")) {
    const auto found = std::ranges::find(network.interconnects, name, &Interconnect::name);
    if (found == network.interconnects.end())
      table.reject("rails", fmt::format("there is no interconnect `{}`", name));
    const auto rail = static_cast<std::uint32_t>(found - network.interconnects.begin());
    if (std::ranges::find(rails, rail) != rails.end())
      table.reject(
          "rails",
          fmt::format("`rails` names `{}` more than once; a message is split over different ones", name));
    rails.push_back(rail);
  }
  return rails;
}

MpiCollectives read_collectives(const Layers& layers) {
  const auto size = [&](std::string_view key) {
    return static_cast<std::uint64_t>(layers.at(key).size(key));
  };
  MpiCollectives collectives;
  collectives.tree = static_cast<std::uint32_t>(layers.at("tree").count("tree", 2, 1 << 16));
  collectives.segment = small(layers, "bcast_segment");
  collectives.whole_from = size("bcast_whole_from");
  collectives.scatter_from = size("bcast_scatter_from");
  collectives.direct = size("collective_direct");
  collectives.bcast_staged = size("bcast_staged");
  collectives.allgather_staged = size("allgather_staged");
  collectives.pinned_from = size("pinned_from");
  collectives.unpinned_bytes_per_s = layers.at("unpinned").rate("unpinned");
  return collectives;
}

MpiLibrary read_library(const MachineTable& all, const std::string& name, const Description& network) {
  const Layers layers(all, name);
  const auto time = [&](std::string_view key) { return layers.at(key).time(key); };
  const auto size = [&](std::string_view key) { return layers.at(key).size(key); };
  const auto count = [&](std::string_view key, std::int64_t least) {
    return static_cast<std::uint32_t>(layers.at(key).count(key, least, 1 << 16));
  };
  MpiLibrary library;
  library.name = name;
  library.rails = read_rails(layers, network);
  library.split_from = size("split_from");
  if (layers.at("rails_in_turn").has("rails_in_turn")) library.rails_in_turn = count("rails_in_turn", 1);
  library.send = time("send");
  library.receive = time("receive");
  library.gpu = time("gpu");
  library.read_start = time("read_start");
  library.stage = time("stage");
  library.inline_limit = inline_limit(layers, "inline_limit");
  library.host_inline_limit = layers.at("host_inline_limit").has("host_inline_limit")
                                  ? inline_limit(layers, "host_inline_limit")
                                  : library.inline_limit;
  library.eager_limit = size("eager_limit");
  if (const MachineTable& table = layers.at("eager_copy"); table.has("eager_copy"))
    library.eager_copy_bytes_per_s = table.rate("eager_copy");
  library.read_direct_limit = size("read_direct_limit");
  library.write_direct_limit = size("write_direct_limit");
  library.pipeline_from = size("pipeline_from");
  library.block = small(layers, "block");
  library.control_bytes = small(layers, "control");
  library.packet_bytes = small(layers, "packet");
  library.request_bytes = small(layers, "request");
  library.requests = count("requests", 1);
  if (layers.at("tree").has("tree")) library.collectives = read_collectives(layers);
  return library;
}

}  // namespace

std::map<std::string, MpiLibrary> read_mpi(const MachineTable& table, const Description& network) {
  std::map<std::string, MpiLibrary> libraries;
  for (const std::string& name : table.tables()) libraries.emplace(name, read_library(table, name, network));
  return libraries;
}

}  // namespace tca::net
