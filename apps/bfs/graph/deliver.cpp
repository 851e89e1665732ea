#include "bfs/graph/deliver.hpp"

#include <algorithm>
#include <cstddef>

#include "tca/coll.hpp"

namespace tca::bfs {

namespace {

// A round's packets, one for each rank. All are sent whole. A packet begins with how many edges it holds, and
// whether its sender has more for anybody.
class Packets {
 public:
  Packets(World& world, const Partition& partition)
      : partition_(partition),
        capacity_(capacity(world.size())),
        exchange_(world, "EDGES", capacity_ + 1),
        out_(exchange_.from().size()),
        in_(exchange_.to().size()),
        filled_(static_cast<std::size_t>(world.size())) {}

  // Returns whether both ends found room.
  bool add(const Edge& edge) {
    const auto from = static_cast<std::size_t>(partition_.owner(edge.from));
    const auto to = static_cast<std::size_t>(partition_.owner(edge.to));
    if (std::max(filled_[from], filled_[to]) + 2 > capacity_) return false;
    put(from, edge);
    if (edge.from != edge.to) put(to, {edge.to, edge.from});
    return true;
  }

  // Collective. Appends what came to `received`; returns whether anybody has more.
  bool exchange(bool has_more, std::vector<Edge>& received) {
    for (std::size_t rank = 0; rank < filled_.size(); ++rank)
      out_[rank * slot()] = {static_cast<Vertex>(filled_[rank]), has_more ? 1 : 0};
    exchange_.from().write(0, out_);
    exchange_.run();
    exchange_.to().read(0, in_);
    std::ranges::fill(filled_, 0);
    bool anybody = false;
    for (std::size_t rank = 0; rank < filled_.size(); ++rank) {
      const Edge* const packet = in_.data() + rank * slot();
      received.insert(received.end(), packet + 1, packet + 1 + packet->from);
      anybody = anybody || packet->to != 0;
    }
    return anybody;
  }

 private:
  // So that the packets of all ranks together take some megabytes.
  static std::int64_t capacity(int ranks) { return std::max<std::int64_t>(256, 262'144 / ranks); }
  std::size_t slot() const { return static_cast<std::size_t>(capacity_) + 1; }

  void put(std::size_t rank, const Edge& edge) {
    out_[rank * slot() + 1 + static_cast<std::size_t>(filled_[rank]++)] = edge;
  }

  const Partition& partition_;
  std::int64_t capacity_;
  AllToAll<Edge> exchange_;
  std::vector<Edge> out_, in_;  // its windows' elements, which may be on GPUs
  std::vector<std::int64_t> filled_;
};

}  // namespace

std::vector<Edge> deliver(World& world, const Partition& partition, std::span<const Edge> edges,
                          const Progress& progress) {
  Packets packets(world, partition);
  std::vector<Edge> received;
  received.reserve(2 * edges.size());
  std::size_t next = 0;
  for (bool more = true; more;) {
    while (next < edges.size() && packets.add(edges[next])) ++next;
    more = packets.exchange(next < edges.size(), received);
    if (progress)
      progress("delivering edges", static_cast<std::int64_t>(next), static_cast<std::int64_t>(edges.size()));
  }
  return received;
}

}  // namespace tca::bfs
