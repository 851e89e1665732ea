// The halves of spinors that cross between ranks: a window with what is sent and what arrives, and committed chains.
//
// What is to be sent is written straight into the window, and read by the neighbour straight from where it arrives.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "qcd/lattice.hpp"
#include "qcd/peer.hpp"
#include "tca/chain.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

template <class T>
class Faces {
 public:
  // Collective. `reals` travel for each site of a face. By parity: a chain for the sites of each parity, half the
  // face, which requires even local extents; otherwise one chain for all sites. Unguarded chains would be wrong here: a
  // rank may start the next step while its neighbour still reads this one's ghosts. With a peer, which must outlive this,
  // the same bytes go through its messages.
  Faces(World& world, const Lattice& lattice, const std::string& name, int reals, bool by_parity,
        const Peer* peer = nullptr);

  // Where the sites of a face are written, slot by slot, before `start`; and what `wait` brings.
  T* outgoing() const { return window_.data(); }
  const T* ghosts() const { return window_.data() + lattice_.slots() * reals_; }

  // For the sites that are sent. Nothing happens on a rank without neighbours.
  void start(Sites sent);
  void wait(Sites sent);
  // The same ordered on a stream, where the window is a GPU's.
  void start(Sites sent, Stream stream);
  void wait(Sites sent, Stream stream);

  std::int64_t bytes(Sites sent) const;  // this rank sends in a step
  std::string explain() const;           // how, a line for each put of a step

 private:
  void connect(World& world, const std::string& name, Sites sent);
  Chain make_chain(World& world, const std::string& name, Sites sent);
  std::unique_ptr<Peer::Exchange> make_exchange(Sites sent) const;

  const Lattice& lattice_;
  int reals_;
  Window<T> window_;
  const Peer* peer_;
  // By Sites; of each one or the other.
  std::array<std::optional<Chain>, 3> chains_;
  std::array<std::unique_ptr<Peer::Exchange>, 3> exchanges_;
};

// The slots of a face that hold sites of a set.
Range slots_of(const Face& face, Sites sites);

}  // namespace tca::qcd
