#include "tca/fold.hpp"

#include <utility>

#include "base/fail.hpp"
#include "halo/fold_state.hpp"
#include "halo/geometry.hpp"

namespace tca {

// What the halo sends is received, and what it receives is sent.
Fold::Fold(World& world, std::string name, const Halo& halo, ChainOptions options) {
  if (&halo.world() != &core::WorldState::of(world)) {
    base::fail(Errc::invalid_argument, "fold '{}': {} is of another world; give the one that it was made in",
               name, halo.title());
  }
  std::vector<halo::FoldState::Face> faces;
  for (const Halo::Face& face : halo.faces_) faces.push_back({face.neighbour, face.side, face.from});
  std::vector<halo::FoldState::Ghosts> ghosts;
  for (const Halo::Ghosts& held : halo.ghosts_)
    ghosts.push_back({held.neighbour, halo::opposite(held.side), held.layout});
  state_ = std::make_unique<halo::FoldState>(world, std::move(name), options, halo.elements(),
                                             std::move(faces), std::move(ghosts));
}

Fold::Fold(Fold&&) noexcept = default;
Fold& Fold::operator=(Fold&&) noexcept = default;
Fold::~Fold() = default;

halo::FoldState& Fold::state() const { return core::present(state_, "fold"); }

Fold& Fold::add(const raw::Window& field, DataType type, Count offset, ReduceOp op) {
  state().add(field, type, offset.value(), op);
  return *this;
}

void Fold::commit() { state().commit(); }
void Fold::start() { state().start(); }
bool Fold::test() { return state().test(); }
void Fold::wait() { state().wait(); }
bool Fold::wait_for(std::chrono::nanoseconds duration) { return state().wait_for(duration); }
void Fold::start(Stream stream) { state().start(stream); }
void Fold::wait(Stream stream) { state().wait(stream); }
const DeviceChain& Fold::device() const { return state().chain().device(); }
const DeviceFold& Fold::cells(std::size_t field) const { return state().cells(field); }
std::string Fold::explain() const { return state().chain().explain(); }
std::int64_t Fold::bytes() const { return state().sent_bytes(); }

}  // namespace tca
