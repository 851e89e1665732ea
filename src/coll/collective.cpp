#include <limits>

#include "base/fail.hpp"
#include "coll/agree.hpp"
#include "coll/state.hpp"
#include "tca/coll.hpp"

namespace tca {

namespace coll {

std::int64_t elements_of(Count count, int blocks, std::size_t element_bytes) {
  const auto most = static_cast<std::int64_t>(std::numeric_limits<std::int64_t>::max() / element_bytes);
  std::int64_t all;
  if (count.value() < 0 || __builtin_mul_overflow(count.value(), blocks, &all) || all > most) return 0;
  return all;
}

std::string title_of(const char* part, CollectiveKind kind, const std::string& name) {
  return fmt::format("the {} of {} '{}'", part, to_string(kind), name);
}

namespace {

// The buffers of a barrier, which have no elements.
std::unique_ptr<Elements> nothing(World& world, const std::string& name) {
  const auto window = Memory::make<std::byte>(world, 0, title_of("memory", CollectiveKind::barrier, name));
  return std::make_unique<ElementsOf<std::byte>>(window, window);
}

}  // namespace

}  // namespace coll

Collective::Collective(World& world, coll::Request request, std::unique_ptr<coll::Elements> elements)
    : state_(std::make_unique<coll::State>(world, std::move(request), std::move(elements))) {}
Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&&) noexcept = default;
Collective::~Collective() = default;

void Collective::require_startable() const { state().require_startable(); }
void Collective::start() { state().start(); }
bool Collective::test() { return state().test(); }
void Collective::wait() { state().wait(); }
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

Barrier::Barrier(World& world, std::string name, CollOptions options)
    : Collective(world, {CollectiveKind::barrier, name, 0, 0, true, std::move(options)},
                 coll::nothing(world, name)) {}

}  // namespace tca
