// The messages of a search. OpenTCA and MPI send the same, so that the two can be compared in one job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/channels.hpp"
#include "tca/chain.hpp"
#include "tca/raw.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

enum class Message {
  out,   // after a level: which vertices it has reached
  flag,  // after a level: whether it has reached any
  tree   // at the end: the parents of all vertices
};
inline constexpr std::array messages{Message::out, Message::flag, Message::tree};
// "OUT", "FLAG" and "TREE", as publications about the TCA architecture call them.
std::string_view name_of(Message message);

// Of some arrays each rank's block, which goes to the same place in the arrays of others.
struct Sending {
  struct Part {
    raw::Window window;
    std::int64_t count;  // of elements in a block
    // Where this rank's block lies, at the beginning, if it is not in its place in the array. Then it does not
    // come there on this rank itself.
    std::optional<raw::Window> own = {};
  };

  Message message;
  // To every rank, each of which has an array of all blocks; there are two such sendings, with arrays of
  // their own, which take turns, and what came with one has been read before the other is sent. Otherwise to
  // rank 0, which has the array; the others have their block alone.
  bool to_all;
  std::vector<Part> parts;

  std::int64_t bytes() const;  // of the block of all parts
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Collective. Sends one of the sendings, by its position.
  virtual void send(std::size_t which) = 0;

  virtual std::string explain(Message message) const = 0;  // how it travels, a line for each put
};

// Both are collective, and throw Error{refused} where a channel does not reach those that a message goes to.
// A chain that sends one of the sendings, and an exchange that sends them all:
Chain make_chain(World& world, const Sending& sending, const apps::Channels& channels = {});
std::unique_ptr<Exchange> direct_exchange(World& world, std::span<const Sending> sendings,
                                          const apps::Channels& channels = {});

// Makes an exchange that sends the same by MPI, by persistent requests, one for each pair of ranks. It
// initialises MPI and finalises it at the end, so a process can make only one. Returns null when this was
// built without MPI. Throws Error{invalid_argument} when MPI's ranks are not the world's.
std::unique_ptr<Exchange> mpi_exchange(World& world, std::span<const Sending> sendings);

}  // namespace tca::bfs
