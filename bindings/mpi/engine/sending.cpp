#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

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
  const bool is_copied = mode == Mode::buffered;
  const void* const data = in_a_row(source, is_copied, request.gathered);
  make_room(request.peer, 0);
  owe(request.peer);
  Line& line = writer(request.peer).line();
  line.kind = Kind::offered;
  line.context = request.context->number();
  line.tag = request.tag;
  line.bytes = source.bytes;
  line.body.offer = {std::bit_cast<std::uint64_t>(data), std::bit_cast<std::uint64_t>(&request)};
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

void Engine::tell(int rank, std::uint64_t sender) {
  if (rank == peers_.rank()) {
    sent(rank, sender);
    return;
  }
  // This rank is in the middle of what has come, and cannot take in more while it waits for room.
  if (!writer(rank).has_room(0)) writer(rank).grow(0);
  Line& line = writer(rank).line();
  line.kind = Kind::done;
  line.body.sender = sender;
  writer(rank).publish();
}

void Engine::sent(int to, std::uint64_t sender) {
  --owing_[static_cast<std::size_t>(to)];
  --all_owing_;
  finish(*std::bit_cast<Request*>(sender));
}

}  // namespace tca::p2p
