#include "tca/raw/collective.hpp"

#include "base/fail.hpp"
#include "coll/state.hpp"

namespace tca::raw {

Collective::Collective(World& world, Request request)
    : state_(std::make_unique<coll::State>(world, request, coll::Elements::with_own_memory(world, request))) {
}
Collective::Collective(World& world, Request request, Window window)
    : state_(
          std::make_unique<coll::State>(world, request, coll::Elements(world, request, std::move(window)))) {}
Collective::Collective(World& world, Request request, Window from, Window to)
    : state_(std::make_unique<coll::State>(world, request,
                                           coll::Elements(request, std::move(from), std::move(to)))) {}

Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&&) noexcept = default;
Collective::~Collective() = default;

const Window& Collective::from() const { return state().elements().input(); }
const Window& Collective::to() const { return state().elements().output(); }
void Collective::require_startable() const { state().require_startable(); }
void Collective::start() { state().start(); }
bool Collective::test() { return state().test(); }
void Collective::wait() { state().wait(); }
bool Collective::wait_for(std::chrono::nanoseconds duration) { return state().wait_for(duration); }
void Collective::start(Stream stream) { state().start_on(stream); }
void Collective::wait(Stream stream) { state().wait_on(stream); }
void Collective::run(Stream stream) { state().run_on(stream); }
const std::string& Collective::algorithm() const { return state().algorithm(); }
std::string Collective::explain() const { return state().explain(); }
bool Collective::on_host() const { return state().on_host(); }

void Collective::fail_size(std::size_t have, std::size_t want) const {
  base::fail(Errc::invalid_argument, "{} was made for {} values and is given {}", state().title(), want,
             have);
}

}  // namespace tca::raw
