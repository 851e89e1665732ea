#include "qcd/faces.hpp"

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
Faces<T>::Faces(World& world, const Lattice& lattice, const std::string& name, int reals, bool by_parity)
    : lattice_(lattice), reals_(reals), window_(world.window<T>(2 * lattice.slots() * reals)) {
  if (by_parity) lattice.require_even();
  if (lattice.faces().empty()) return;
  if (by_parity) {
    chains_[static_cast<std::size_t>(Sites::even)] = make_chain(world, name + " even", Sites::even);
    chains_[static_cast<std::size_t>(Sites::odd)] = make_chain(world, name + " odd", Sites::odd);
  } else {
    chains_[static_cast<std::size_t>(Sites::all)] = make_chain(world, name, Sites::all);
  }
}

template <class T>
Chain Faces<T>::make_chain(World& world, const std::string& name, Sites sent) {
  Chain chain = world.chain(name);
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

template <class T>
void Faces<T>::start(Sites sent) {
  if (!lattice_.faces().empty()) chain(sent).start();
}

template <class T>
void Faces<T>::wait(Sites sent) {
  if (!lattice_.faces().empty()) chain(sent).wait();
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
  return {};
}

template class Faces<float>;
template class Faces<double>;

}  // namespace tca::qcd
