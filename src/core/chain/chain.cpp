#include "tca/chain.hpp"

#include <atomic>

#include "base/fail.hpp"
#include "core/chain/chain_state.hpp"
#include "core/words.hpp"
#include "tca/device/counted.hpp"

namespace tca {

namespace {

// Returns the bytes from the start of the window to the first element moved.
std::int64_t byte_offset(const char* side, const core::WindowState& window, std::int64_t offset,
                         const Layout& layout, std::size_t element_bytes) {
  std::int64_t elements, bytes, end;
  const auto size = static_cast<std::int64_t>(element_bytes);
  if (offset < 0 || __builtin_add_overflow(offset, layout.first(), &elements) ||
      __builtin_mul_overflow(elements, size, &bytes) || __builtin_add_overflow(offset, layout.end(), &end) ||
      __builtin_mul_overflow(end, size, &end)) {
    base::fail(Errc::invalid_argument, "a {} at element {} of the {}, {}, is negative or overflows",
               layout.describe(), offset, side, window.title());
  }
  return bytes;
}

void check_end(const core::WindowState& window, std::int64_t offset, const Layout& layout,
               std::size_t element_bytes) {
  const std::int64_t end = offset + layout.end();
  const auto have = static_cast<std::int64_t>(window.bytes(window.world().rank()) / element_bytes);
  if (end > have) {
    base::fail(Errc::invalid_argument,
               "the source, a {} at element {}, ends behind element {} of {}, which has {} here",
               layout.describe(), offset, end - 1, window.title(), core::count_in_words(have));
  }
}

device::Counted view_of(const core::CountedEnd& end) {
  if (end.view != nullptr && end.view->length != nullptr) return *end.view;
  base::fail(Errc::invalid_argument, {.chain = end.chain},
             "device() of a counted put between this rank and rank {} in chain '{}': {}", end.partner,
             end.chain,
             end.view == nullptr   ? "the chain is not committed yet"
             : end.view->unit == 0 ? "its layout is empty, and its length always 0"
                                   : "no kernel reaches it; choose the fabric cuda (option fabric or "
                                     "OPENTCA_FABRIC) and a rank of the same sub-cluster");
}

}  // namespace

DeviceCountedPut CountedPut::device() const {
  core::CountedEnd& end = core::present(end_, "counted put");
  const device::Counted view = view_of(end);
  end.by_kernels = true;
  return {view};
}

DeviceCountedArrival CountedArrival::device() const {
  return {view_of(core::present(end_, "counted arrival"))};
}

// Relaxed: the wait for the step, or for its stream, has ordered it.
std::uint64_t core::landed_length(const CountedEnd& arrival) {
  return std::atomic_ref(const_cast<std::uint32_t&>(*arrival.landed)).load(std::memory_order_relaxed);
}

void core::fail_length(const CountedEnd& put, Count elements) {
  const std::int64_t asked = elements.value();
  const ErrorFields about{.chain = put.chain};
  const std::string what = fmt::format("length {} of put {} of chain '{}', a counted one to rank {}", asked,
                                       put.put, put.chain, put.partner);
  if (asked < 0) base::fail(Errc::invalid_argument, about, "{}: a length is 0 or more", what);
  if (static_cast<std::uint64_t>(asked) > put.capacity) {
    base::fail(
        Errc::invalid_argument, about,
        "{}: it was committed for {} at most; send the rest in further steps (tca/rounds.hpp), or give "
        "the put a longer layout",
        what, count_in_words(static_cast<std::int64_t>(put.capacity)));
  }
  base::fail(Errc::invalid_argument, about,
             "{}: a repetition of its outermost loop moves {} elements, and a length is a multiple of that",
             what, put.unit);
}

Chain::Chain(std::unique_ptr<core::ChainState> state) : state_(std::move(state)) {}
Chain::Chain(Chain&&) noexcept = default;
Chain& Chain::operator=(Chain&&) noexcept = default;
Chain::~Chain() = default;

Chain& Chain::put(const raw::Remote& to, const Layout& to_layout, const raw::Local& from,
                  const Layout& from_layout) {
  const core::Descriptor put = describe("put", to, to_layout, from, from_layout);
  state_->add(put, from.window_);
  return *this;
}

CountedPut Chain::put_counted(const raw::Remote& to, const Layout& to_layout, const raw::Local& from,
                              const Layout& from_layout) {
  core::Descriptor put = describe("put_counted", to, to_layout, from, from_layout);
  put.counted = true;
  return CountedPut(state_->add_counted(put, from.window_));
}

core::Descriptor Chain::describe(const char* call, const raw::Remote& target, const Layout& to_layout,
                                 const raw::Local& from, const Layout& from_layout) const {
  state().require_uncommitted(call);
  core::Descriptor put;
  try {
    const core::WindowState& to = core::present(target.window_, "target");
    const core::WindowState& source = core::present(from.window_, "source");
    for (const core::WindowState* window : {&to, &source}) {
      if (&window->world() != &state_->world())
        base::fail(Errc::invalid_argument,
                   "the {} is a window of another world; put between windows of the chain's own",
                   window == &to ? "target" : "source");
    }
    const std::size_t size = source.element_bytes();
    if (to.element_bytes() != size) {
      base::fail(Errc::invalid_argument, "{} has elements of {} bytes and {} of {}; they must be of one size",
                 to.title(), to.element_bytes(), source.title(), size);
    }
    put.to = target.rank_;
    put.to_window = to.id();
    put.from_window = source.id();
    put.to_offset = byte_offset("target", to, target.offset_, to_layout, size);
    put.from_offset = byte_offset("source", source, from.offset_, from_layout, size);
    const bool is_empty = to_layout.elements() == 0 && from_layout.elements() == 0;
    if (!is_empty) put.shape = state_->world().intern(base::pair_up(to_layout, from_layout, size));
    check_end(source, from.offset_, from_layout, size);
  } catch (const Error& error) {
    base::fail(error.code(), {.rank = state_->world().rank(), .chain = state_->name()},
               "{} of chain '{}' to rank {}: {}", call, state_->name(), target.rank_, error.what());
  }
  return put;
}

std::shared_ptr<core::ProducedEnd> Chain::add_produced(int rank, std::int64_t elements,
                                                       std::size_t element_bytes) {
  return state().add_produced(rank, elements, element_bytes);
}
std::shared_ptr<core::ProducedEnd> Chain::add_expected_produced(int rank, std::int64_t elements,
                                                                std::size_t element_bytes) {
  return state().expect_produced(rank, elements, element_bytes);
}

const device::Produced& core::produced_view(const std::shared_ptr<ProducedEnd>& end) {
  const ProducedEnd& present = core::present(end, "produced put");
  if (!present.committed) {
    base::fail(Errc::invalid_argument, {.chain = present.chain},
               "device() of a produced put between this rank and rank {} in chain '{}' before its commit",
               present.partner, present.chain);
  }
  return present.view;
}
DeviceProducedSignal ProducedSignal::device() const { return {core::produced_view(end_).acks}; }
DeviceExpectedSignal ExpectedSignal::device() const {
  const device::Produced& view = core::produced_view(end_);
  return {view.acks, view.link};
}
std::int64_t core::produced_elements(const std::shared_ptr<ProducedEnd>& end) {
  return core::present(end, "produced put").elements;
}
int core::produced_partner(const std::shared_ptr<ProducedEnd>& end) {
  return core::present(end, "produced put").partner;
}

Chain& Chain::signal(int rank) {
  state().signal(rank);
  return *this;
}

Chain& Chain::expect(int rank) {
  state().expect(rank);
  return *this;
}

CountedArrival Chain::expect_counted(int rank) { return CountedArrival(state().expect_counted(rank)); }

void Chain::commit() { state().commit(); }
void Chain::start() { state().start(); }
bool Chain::test() { return state().test(); }
void Chain::wait() { state().wait(); }
bool Chain::wait_for(std::chrono::nanoseconds duration) { return state().wait_for(duration); }
void Chain::start(Stream stream) { state().start_on(stream); }
void Chain::wait(Stream stream) { state().wait_on(stream); }
void Chain::run(Stream stream) { state().run_on(stream); }
const DeviceChain& Chain::device() const { return state().device(); }
const DeviceProducedChain& Chain::device_produced() const { return state().device_produced(); }
const DeviceTimedChain& Chain::device_timed() const { return state().device_timed(); }
const DeviceDoorbell& Chain::doorbell() const { return state().doorbell(); }
std::string Chain::explain() const { return state().explain(); }
Timing Chain::timing() const { return state().timing(); }
void Chain::clear_timing() { state().clear_timing(); }
const std::string& Chain::name() const { return state().name(); }

}  // namespace tca
