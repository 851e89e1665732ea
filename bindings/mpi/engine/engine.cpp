#include "mpi/engine/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

namespace tca::p2p {

using Inside = std::lock_guard<Lock>;

namespace {

constexpr unsigned looks_between_calls = 64;  // some 2 us

}  // namespace

std::unique_ptr<Engine> Engine::make(int rank, int ranks, const Gather& gather, Options options) {
  std::optional<Peers> peers = Peers::meet(rank, ranks, options.ring_bytes, gather);
  if (!peers) return nullptr;
  return std::unique_ptr<Engine>(new Engine(std::move(*peers), std::move(options)));
}

Engine::Engine(Peers peers, Options options)
    : peers_(std::move(peers)),
      options_(std::move(options)),
      is_crowded_(peers_.size() > sysconf(_SC_NPROCESSORS_ONLN)),
      inflows_(static_cast<std::size_t>(peers_.size())),
      owing_(static_cast<std::size_t>(peers_.size())) {
  for (int rank = 0; rank < peers_.size(); ++rank) {
    writers_.emplace_back(peers_.ring(rank, peers_.rank()));
    readers_.emplace_back(peers_.ring(peers_.rank(), rank), peers_.process(rank));
  }
  if (peers_.size() > 1)
    helper_ = std::make_unique<Helper>(peers_.door(peers_.rank()), [this] {
      while (progress())
        ;
    });
}

Engine::~Engine() = default;

Context& Engine::context(std::uint32_t number) {
  const Inside inside(lock_);
  return context_locked(number);
}

Context& Engine::context_locked(std::uint32_t number) {
  if (last_context_ != nullptr && last_context_->number() == number) return *last_context_;
  std::unique_ptr<Context>& context = contexts_[number];
  if (!context) context = std::make_unique<Context>(number, peers_.size());
  last_context_ = context.get();
  return *context;
}

void Engine::close(Context& context) {
  const Inside inside(lock_);
  if (!context.is_empty()) return;
  last_context_ = nullptr;
  contexts_.erase(context.number());
}

void Engine::start_send(Request& request, Context& context, int to, std::int32_t tag, const Source& source,
                        Mode mode) {
  const Inside inside(lock_);
  request.done.store(false, std::memory_order_relaxed);
  request.is_send = true;
  request.is_cancelled = request.is_detached = request.is_impatient = false;
  request.failure = Failure::none;
  request.context = &context;
  request.peer = to;
  request.tag = tag;
  if (to == peers_.rank()) {
    send_to_self(request, source, mode);
  } else if (is_offered(to, source)) {
    offer(request, source, mode);
  } else if (mode == Mode::synchronous) {
    send_fragments(context, to, tag, source, &request);
  } else {
    send_at_once(context, to, tag, source);
    finish(request);
  }
}

void Engine::start_receive(Request& request, Context& context, int source, std::int32_t tag,
                           const Target& target) {
  const Inside inside(lock_);
  prepare(request, context, target);
  request.peer = source;
  request.tag = tag;
  Arrival* const message = context.find(source, tag);
  if (message == nullptr) {
    context.post(request);
    return;
  }
  context.remove(*message);
  bind(request, *message);
}

void Engine::start_receive(Request& request, Arrival& message, const Target& target) {
  const Inside inside(lock_);
  prepare(request, *message.context, target);
  bind(request, message);
}

void Engine::prepare(Request& request, Context& context, const Target& target) {
  request.done.store(false, std::memory_order_relaxed);
  request.is_send = request.is_cancelled = request.is_detached = false;
  request.failure = Failure::none;
  request.context = &context;
  request.target = target;
}

void Engine::send(Context& context, int to, std::int32_t tag, const Source& source, Mode mode) {
  if (mode != Mode::synchronous && to != peers_.rank() && !is_offered(to, source)) {
    const Inside inside(lock_);
    send_at_once(context, to, tag, source);
    return;
  }
  if (mode == Mode::buffered) {
    Request& request = make_request();
    start_send(request, context, to, tag, source, mode);
    release(request);
    return;
  }
  Request request;
  start_send(request, context, to, tag, source, mode);
  wait(request);
}

bool Engine::test(Request& request) {
  if (request.done.load(std::memory_order_acquire)) return true;
  progress();
  if (request.is_impatient) move_if_late(request);
  return request.done.load(std::memory_order_acquire);
}

void Engine::wait(Request& request) {
  wait_until([&] {
    if (request.is_impatient) move_if_late(request);
    return request.done.load(std::memory_order_acquire);
  });
}

void Engine::cancel(Request& request) {
  const Inside inside(lock_);
  if (!request.is_posted) return;
  request.context->withdraw(request);
  request.is_cancelled = true;
  request.envelope = {};
  finish(request);
}

std::optional<Envelope> Engine::probe(Context& context, int source, std::int32_t tag) {
  const Inside inside(lock_);
  progress_locked();
  const Arrival* const message = context.find(source, tag);
  return message == nullptr ? std::nullopt : std::optional(message->envelope);
}

Arrival* Engine::match(Context& context, int source, std::int32_t tag) {
  const Inside inside(lock_);
  progress_locked();
  Arrival* const message = context.find(source, tag);
  if (message != nullptr) context.remove(*message);
  return message;
}

Request& Engine::make_request() {
  const Inside inside(lock_);
  return requests_.take();
}

void Engine::release(Request& request) {
  const Inside inside(lock_);
  if (request.done.load(std::memory_order_relaxed))
    requests_.give_back(request);
  else
    request.is_detached = true;
}

void Engine::finish(Request& request) {
  request.gathered.reset();
  if (request.is_detached) {
    request.done.store(true, std::memory_order_relaxed);
    requests_.give_back(request);
    return;
  }
  // Pairs with the loads of those who wait. From here on the request is theirs.
  request.done.store(true, std::memory_order_release);
}

bool Engine::progress() {
  if (!lock_.try_lock()) return false;
  const bool anything = progress_locked();
  lock_.unlock();
  return anything;
}

bool Engine::progress_locked() {
  bool anything = false;
  for (int source = 0; source < peers_.size(); ++source) {
    // What comes without end from one source leaves others their turn.
    constexpr int in_a_row = 32;
    for (int lines = 0; lines < in_a_row; ++lines) {
      const Line* const line = readers_[static_cast<std::size_t>(source)].look();
      if (line == nullptr) break;
      take(source, *line);
      anything = true;
    }
  }
  // A rank that owes this one a receive, and has not been here for some 20 us, may be busy elsewhere.
  constexpr unsigned looks_between_knocks = 1024;
  idle_ = anything ? 0 : idle_ + 1;
  if (all_owing_ > 0 && idle_ % looks_between_knocks == looks_between_knocks - 1) knock();
  return anything;
}

void Engine::remind() {
  const Inside inside(lock_);
  if (all_owing_ > 0) knock();
}

void Engine::knock() {
  for (int rank = 0; rank < peers_.size(); ++rank) {
    if (owing_[static_cast<std::size_t>(rank)] == 0 || rank == peers_.rank()) continue;
    Door& door = peers_.door(rank);
    if (door.attending.load(std::memory_order_relaxed) == 0) door.knock();
  }
}

bool Engine::is_drained() {
  progress();
  const Inside inside(lock_);
  bool is_drained = all_owing_ == 0;
  for (RingWriter& writer : writers_) is_drained = writer.is_followed() && is_drained;
  return is_drained;
}

void Engine::Patience::pause() {
  constexpr unsigned spinning = 100'000;  // some milliseconds: who yields may be gone for as long
  ++looks_;
  if (looks_ == looks_between_calls) door().attending.fetch_add(1, std::memory_order_relaxed);
  if (looks_ % looks_between_calls == 0 && engine_.options_.idle) engine_.options_.idle();
  if (looks_ <= (engine_.is_crowded_ ? 8 : spinning)) return;
  std::this_thread::yield();
  // Each look may take as long as others compute.
  constexpr unsigned yields_between_knocks = 8;
  if (looks_ % yields_between_knocks == 0) engine_.remind();
}

Engine::Patience::~Patience() {
  if (looks_ >= looks_between_calls) door().attending.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tca::p2p
