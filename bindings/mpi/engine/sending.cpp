#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "mpi/engine/engine.hpp"

namespace tca::p2p {
namespace {

void gather(const Source& source, std::size_t at, std::size_t bytes, std::byte* into) {
  const auto* const data = static_cast<const std::byte*>(source.data);
  if (source.scattering != nullptr)
    source.scattering->gather(data, at, bytes, into);
  else if (bytes > 0)
    std::memcpy(into, data + at, bytes);
}

// A copy of a message in a row, where it is not, or where the program's may change.
const void* in_a_row(const Source& source, bool is_copied, std::unique_ptr<std::byte[]>& copy) {
  if (source.scattering == nullptr && !is_copied) return source.data;
  copy = std::make_unique_for_overwrite<std::byte[]>(source.bytes);
  gather(source, 0, source.bytes, copy.get());
  return copy.get();
}

}  // namespace

// Gives a receiver that is just slow the time to make room. One that does not look at all costs each growth of its ring so much,
// and a ring doubles.
void Engine::make_room(int to, std::size_t bytes) {
  constexpr auto patience = std::chrono::microseconds(50);
  if (writer(to).has_room(bytes)) return;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!writer(to).has_room(bytes) && std::chrono::steady_clock::now() < until) progress_locked();
  if (!writer(to).has_room(bytes)) writer(to).grow(bytes);
}

void Engine::send_at_once(const Context& context, int to, std::int32_t tag, const Source& source) {
  if (source.bytes > sizeof(Body::payload)) {
    send_fragments(context, to, tag, source, nullptr);
    return;
  }
  make_room(to, 0);
  Line& line = writer(to).line();
  line.kind = Kind::whole;
  line.context = context.number();
  line.tag = tag;
  line.bytes = source.bytes;
  gather(source, 0, source.bytes, line.body.payload);
  writer(to).publish();
}

// The receiver copies a fragment while this rank copies the next one.
void Engine::send_fragments(const Context& context, int to, std::int32_t tag, const Source& source,
                            Request* told) {
  if (told != nullptr) owe(to);
  std::size_t at = 0;
  do {
    const std::size_t bytes = std::min(options_.fragment_bytes, source.bytes - at);
    make_room(to, bytes);
    const std::uint64_t position = writer(to).take(bytes);
    gather(source, at, bytes, writer(to).data(position));
    Line& line = writer(to).line();
    line.kind = at == 0 ? Kind::first : Kind::more;
    line.context = context.number();
    line.tag = tag;
    line.bytes = source.bytes;
    line.body.fragment = {position, bytes, std::bit_cast<std::uint64_t>(told)};
    writer(to).publish();
    at += bytes;
  } while (at < source.bytes);
}

void Engine::offer(Request& request, const Source& source, Mode mode) {
  const bool is_copied = mode == Mode::buffered, is_reached = is_far(source) && !is_copied;
  Offer offer{0, std::bit_cast<std::uint64_t>(&request), 0};
  if (is_reached) {
    const std::span<const std::byte> reach = source.scattering->reach();
    offer.address = std::bit_cast<std::uint64_t>(reach.data());
    offer.reach_bytes = reach.size();
  } else {
    offer.address = std::bit_cast<std::uint64_t>(in_a_row(source, is_copied, request.gathered));
  }
  request.source = source;
  // As one that is copied, such a send may not wait for its receiver for ever.
  request.is_impatient = is_reached && mode == Mode::standard && source.bytes < options_.offered_from;
  if (request.is_impatient) request.begun = std::chrono::steady_clock::now();
  make_room(request.peer, 0);
  owe(request.peer);
  Line& line = writer(request.peer).line();
  line.kind = Kind::offered;
  line.context = request.context->number();
  line.tag = request.tag;
  line.bytes = source.bytes;
  line.body.offer = offer;
  writer(request.peer).publish();
}

void Engine::owe(int to) {
  ++owing_[static_cast<std::size_t>(to)];
  ++all_owing_;
}

// A message to this rank itself is like one that has been offered: it waits where the program has it, unless the send is to be
// complete before it is received.
void Engine::send_to_self(Request& request, const Source& source, Mode mode) {
  const Envelope envelope{peers_.rank(), request.tag, source.bytes};
  const bool is_copied =
      mode == Mode::buffered || (mode == Mode::standard && source.bytes < options_.offered_from);
  Request* const receive = request.context->take_posted(envelope.source, envelope.tag);
  if (receive != nullptr) {
    const void* const data = in_a_row(source, false, request.gathered);
    accept(*receive, envelope);
    store(*receive, 0, static_cast<const std::byte*>(data), source.bytes);
    finish(*receive);
    finish(request);
    return;
  }
  Arrival& message = keep(*request.context, envelope);
  if (is_copied) {
    gather(source, 0, source.bytes, message.bytes());
    finish(request);
    return;
  }
  message.is_offered = true;
  message.address = std::bit_cast<std::uint64_t>(in_a_row(source, false, request.gathered));
  message.sender = std::bit_cast<std::uint64_t>(&request);
  owe(peers_.rank());
}

// A line to a rank in the middle of what has come from others, where nothing can be taken in while there is no room.
Line& Engine::answer(int to, Kind kind) {
  if (!writer(to).has_room(0)) writer(to).grow(0);
  Line& line = writer(to).line();
  line.kind = kind;
  return line;
}

void Engine::tell(int rank, std::uint64_t sender) {
  if (rank == peers_.rank()) {
    sent(rank, sender);
    return;
  }
  answer(rank, Kind::done).body.sender = sender;
  writer(rank).publish();
}

void Engine::sent(int to, std::uint64_t sender) {
  --owing_[static_cast<std::size_t>(to)];
  --all_owing_;
  Request& request = *std::bit_cast<Request*>(sender);
  // It was received before the news of a copy came.
  if (Request* const twin = std::exchange(request.twin, nullptr)) {
    twin->gathered.reset();
    requests_.give_back(*twin);
  }
  finish(request);
}

void Engine::move_if_late(Request& request) {
  constexpr auto patience = std::chrono::microseconds(100);
  if (std::chrono::steady_clock::now() - request.begun < patience) return;
  const std::lock_guard<Lock> inside(lock_);
  if (request.is_impatient && !request.done.load(std::memory_order_relaxed)) move(request);
}

// The receiver learns of the copy without receiving: by its helper, if it is elsewhere.
void Engine::move(Request& request) {
  request.is_impatient = false;
  Request& twin = requests_.take();
  twin.done.store(false, std::memory_order_relaxed);
  twin.is_impatient = false;
  twin.twin = nullptr;
  twin.peer = request.peer;
  twin.gathered = std::make_unique_for_overwrite<std::byte[]>(request.source.bytes);
  gather(request.source, 0, request.source.bytes, twin.gathered.get());
  request.twin = &twin;
  Line& line = answer(request.peer, Kind::moved);
  line.context = request.context->number();
  line.body.moved = {std::bit_cast<std::uint64_t>(&request), 0,
                     std::bit_cast<std::uint64_t>(twin.gathered.get()), std::bit_cast<std::uint64_t>(&twin)};
  writer(request.peer).publish();
}

void Engine::let_go(Request& request) {
  std::exchange(request.twin, nullptr)->is_detached = true;
  finish(request);
}

void Engine::give(int to, const Wanted& wanted) {
  Request& request = *std::bit_cast<Request*>(wanted.sender);
  if (!request.gathered) {
    request.gathered = std::make_unique_for_overwrite<std::byte[]>(request.source.bytes);
    gather(request.source, 0, request.source.bytes, request.gathered.get());
  }
  answer(to, Kind::moved).body.moved = {wanted.sender, wanted.receiver,
                                        std::bit_cast<std::uint64_t>(request.gathered.get()), 0};
  writer(to).publish();
}

}  // namespace tca::p2p
