// Faces exchanges the halves of spinors that cross between ranks. It has a window for what is sent and what
// arrives, and committed chains that carry it.
//
// The caller writes what it sends straight into the window, and reads what arrives from there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "qcd/lattice.hpp"
#include "qcd/peers/peer.hpp"
#include "tca/chain.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

template <class T>
class Faces {
 public:
  // Collective. Exchanges `reals` for each site of a face. With `by_parity` there is one chain for the sites
  // of each parity, which carries half of each face and requires even local extents. Otherwise there is one
  // chain for all sites. The chains are guarded, because a rank may start the next step while its neighbour
  // still reads the ghosts of this one. With a peer, which must outlive this object, the peer's messages
  // carry the same bytes. `channel` is forced for the chains, as ChainOptions::channel.
  Faces(World& world, const Lattice& lattice, const std::string& name, int reals, bool by_parity,
        const Peer* peer = nullptr, const std::string& channel = {});

  // `outgoing` is where the caller writes the sites of a face, slot by slot, before `start`. `ghosts` is
  // where it finds what arrived, after `wait`.
  T* outgoing() const { return window_.data(); }
  const T* ghosts() const { return window_.data() + lattice_.slots() * reals_; }

  // Start and wait for the exchange of the sites `sent`. On a rank without neighbours they do nothing.
  void start(Sites sent);
  void wait(Sites sent);
  // The same, ordered on a stream. The window is in GPU memory then.
  void start(Sites sent, Stream stream);
  void wait(Sites sent, Stream stream);

  std::int64_t bytes(Sites sent) const;  // what this rank sends in a step
  std::string explain() const;           // how it is sent, one line for each put of a step

 private:
  void connect(World& world, const std::string& name, Sites sent, const std::string& channel);
  Chain make_chain(World& world, const std::string& name, Sites sent, const std::string& channel);
  std::unique_ptr<Peer::Exchange> make_exchange(Sites sent) const;

  const Lattice& lattice_;
  int reals_;
  Window<T> window_;
  const Peer* peer_;
  // Indexed by Sites. Of the two, only one is used.
  std::array<std::optional<Chain>, 3> chains_;
  std::array<std::unique_ptr<Peer::Exchange>, 3> exchanges_;
};

// The slots of a face that hold sites of the given set.
Range slots_of(const Face& face, Sites sites);

}  // namespace tca::qcd
