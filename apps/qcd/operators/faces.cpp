#include "qcd/operators/faces.hpp"

#include <vector>

namespace tca::qcd {

Range slots_of(const Face& face, Sites sites) {
  switch (sites) {
    case Sites::even:
      return face.even;
    case Sites::odd:
      return {face.even.end, face.slots.end};
    default:
      return face.slots;
  }
}

template <class T>
Faces<T>::Faces(World& world, const Lattice& lattice, const std::string& name, int reals, bool by_parity,
                const Peer* peer, const std::string& channel)
    : lattice_(lattice),
      reals_(reals),
      window_(world.window<T>(2 * lattice.slots() * reals, "half spinors")),
      peer_(peer) {
  if (by_parity) lattice.require_even();
  if (lattice.faces().empty()) return;
  if (by_parity) {
    connect(world, name + " even", Sites::even, channel);
    connect(world, name + " odd", Sites::odd, channel);
  } else {
    connect(world, name, Sites::all, channel);
  }
}

template <class T>
void Faces<T>::connect(World& world, const std::string& name, Sites sent, const std::string& channel) {
  const auto which = static_cast<std::size_t>(sent);
  if (peer_ != nullptr) {
    exchanges_[which] = make_exchange(sent);
  } else {
    chains_[which] = make_chain(world, name, sent, channel);
  }
}

template <class T>
Chain Faces<T>::make_chain(World& world, const std::string& name, Sites sent, const std::string& channel) {
  Chain chain = world.chain(name, {.channel = channel});
  for (const Face& face : lattice_.faces()) {
    const Range slots = slots_of(face, sent);
    const std::int64_t target = lattice_.slots() + face.to + (slots.begin - face.slots.begin);
    chain.put(window_.on(face.neighbour).at(target * reals_), window_.at(slots.begin * reals_),
              block(slots.size() * reals_));
    chain.expect(face.neighbour);
  }
  chain.commit();
  return chain;
}

// Messages are tagged with the direction in which they travel.
template <class T>
std::unique_ptr<Peer::Exchange> Faces<T>::make_exchange(Sites sent) const {
  std::vector<Message> messages;
  for (const Face& face : lattice_.faces()) {
    const Range slots = slots_of(face, sent);
    messages.push_back(
        {.neighbour = face.neighbour,
         .tag = face.direction,
         .back_tag = face.direction ^ 1,
         .from = reinterpret_cast<const std::byte*>(outgoing() + slots.begin * reals_),
         .to = reinterpret_cast<std::byte*>(window_.data() + (lattice_.slots() + slots.begin) * reals_),
         .bytes = static_cast<std::size_t>(slots.size() * reals_) * sizeof(T)});
  }
  return peer_->exchange(messages);
}

template <class T>
void Faces<T>::start(Sites sent) {
  const auto which = static_cast<std::size_t>(sent);
  if (chains_[which]) chains_[which]->start();
  if (exchanges_[which]) exchanges_[which]->start(nullptr);
}

template <class T>
void Faces<T>::wait(Sites sent) {
  const auto which = static_cast<std::size_t>(sent);
  if (chains_[which]) chains_[which]->wait();
  if (exchanges_[which]) exchanges_[which]->wait(nullptr);
}

template <class T>
void Faces<T>::start(Sites sent, Stream stream) {
  const auto which = static_cast<std::size_t>(sent);
  if (chains_[which]) chains_[which]->start(stream);
  if (exchanges_[which]) exchanges_[which]->start(stream);
}

template <class T>
void Faces<T>::wait(Sites sent, Stream stream) {
  const auto which = static_cast<std::size_t>(sent);
  if (chains_[which]) chains_[which]->wait(stream);
  if (exchanges_[which]) exchanges_[which]->wait(stream);
}

template <class T>
std::int64_t Faces<T>::bytes(Sites sent) const {
  std::int64_t slots = 0;
  for (const Face& face : lattice_.faces()) slots += slots_of(face, sent).size();
  return slots * reals_ * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
std::string Faces<T>::explain() const {
  for (const std::optional<Chain>& chain : chains_)
    if (chain) return chain->explain();
  return peer_ != nullptr ? peer_->explain() : std::string();
}

template class Faces<float>;
template class Faces<double>;

}  // namespace tca::qcd
