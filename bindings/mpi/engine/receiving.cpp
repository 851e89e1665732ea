#include <algorithm>
#include <bit>
#include <cstring>

#include "mpi/engine/engine.hpp"

namespace tca::p2p {

// A line is the writer's again after `next`. What is taken from it may lead to lines for others, but to nothing else that is read
// of this source.
void Engine::take(int source, const Line& line) {
  RingReader& reader = readers_[static_cast<std::size_t>(source)];
  switch (line.kind) {
    case Kind::whole:
      take_whole(source, line);
      break;
    case Kind::first:
      take_first(source, line);
      break;
    case Kind::more:
      take_fragment(source, line.body.fragment);
      break;
    case Kind::offered:
      take_offer(source, line);
      break;
    case Kind::done:
      sent(source, line.body.sender);
      break;
    case Kind::wanted:
      give(source, line.body.wanted);
      break;
    case Kind::moved:
      take_moved(source, line.context, line.body.moved);
      break;
    case Kind::let_go:
      let_go(*std::bit_cast<Request*>(line.body.sender));
      break;
    case Kind::grown:
      reader.follow(Growth(line.body.growth));
      return;
  }
  reader.next();
}

void Engine::take_whole(int source, const Line& line) {
  Context& context = context_locked(line.context);
  const Envelope envelope{source, line.tag, line.bytes};
  if (Request* const receive = context.take_posted(source, line.tag)) {
    accept(*receive, envelope);
    store(*receive, 0, line.body.payload, line.bytes);
    finish(*receive);
  } else {
    std::memcpy(keep(context, envelope).bytes(), line.body.payload, line.bytes);
  }
}

void Engine::take_first(int source, const Line& line) {
  Context& context = context_locked(line.context);
  const Envelope envelope{source, line.tag, line.bytes};
  Inflow& inflow = inflows_[static_cast<std::size_t>(source)];
  inflow = {context.take_posted(source, line.tag), nullptr, 0, line.bytes};
  const std::uint64_t sender = line.body.fragment.sender;
  if (inflow.request != nullptr) {
    accept(*inflow.request, envelope);
    inflow.request->told = sender;
  } else {
    inflow.arrival = &keep(context, envelope);
    inflow.arrival->sender = sender;
  }
  take_fragment(source, line.body.fragment);
}

void Engine::take_fragment(int source, const Fragment& fragment) {
  RingReader& reader = readers_[static_cast<std::size_t>(source)];
  Inflow& inflow = inflows_[static_cast<std::size_t>(source)];
  const std::byte* const data = reader.data(fragment.position);
  if (inflow.request != nullptr)
    store(*inflow.request, inflow.here, data, fragment.bytes);
  else
    std::memcpy(inflow.arrival->bytes() + inflow.here, data, fragment.bytes);
  reader.release(fragment);
  inflow.here += fragment.bytes;
  if (inflow.here < inflow.bytes) return;
  Request* const receive = inflow.request;
  inflow = {};
  if (receive != nullptr) received(*receive, receive->told);
}

void Engine::take_offer(int source, const Line& line) {
  Context& context = context_locked(line.context);
  const Envelope envelope{source, line.tag, line.bytes};
  const Offer offer = line.body.offer;
  if (Request* const receive = context.take_posted(source, line.tag)) {
    accept(*receive, envelope);
    fetch_or_want(*receive, offer);
    return;
  }
  Arrival& message = keep(context, envelope, false);
  message.is_offered = true;
  message.address = offer.address;
  message.reach_bytes = offer.reach_bytes;
  message.sender = offer.sender;
}

// A message of a sender that would wait no longer, or the copy that this rank has wanted.
void Engine::take_moved(int source, std::uint32_t context, const Moved& moved) {
  if (moved.receiver != 0) {
    Request& request = *std::bit_cast<Request*>(moved.receiver);
    if (!fetch(request, {moved.address, moved.sender, 0})) request.failure = Failure::unreadable;
    received(request, moved.sender);
    return;
  }
  Arrival* const message = context_locked(context).find_sent_by(source, moved.sender);
  if (message == nullptr) return;  // it has been received meanwhile, and its sender is told so
  message->address = moved.address;
  message->reach_bytes = 0;
  message->sender = moved.copy;
  answer(source, Kind::let_go).body.sender = moved.sender;
  writer(source).publish();
}

Arrival& Engine::keep(Context& context, const Envelope& envelope, bool with_bytes) {
  Arrival& message = arrivals_.take();
  message.envelope = envelope;
  message.context = &context;
  message.is_offered = false;
  message.reach_bytes = 0;
  message.sender = 0;
  if (with_bytes && envelope.bytes > sizeof message.short_message)
    message.long_message = std::make_unique_for_overwrite<std::byte[]>(envelope.bytes);
  context.arrive(message);
  return message;
}

void Engine::accept(Request& request, const Envelope& envelope) {
  request.envelope = envelope;
  request.told = 0;
  if (envelope.bytes <= request.target.bytes) return;
  request.envelope.bytes = request.target.bytes;
  request.failure = Failure::truncated;
}

void Engine::store(const Request& request, std::size_t at, const std::byte* from, std::size_t bytes) {
  const Target& target = request.target;
  if (at >= target.bytes) return;
  const std::size_t stored = std::min(bytes, target.bytes - at);
  auto* const data = static_cast<std::byte*>(target.data);
  if (target.scattering != nullptr)
    target.scattering->scatter(data, at, stored, from);
  else if (stored > 0)
    std::memcpy(data + at, from, stored);
}

void Engine::fetch_or_want(Request& request, const Offer& offer) {
  if (fetch(request, offer)) {
    received(request, offer.sender);
    return;
  }
  const int source = request.envelope.source;
  if (source == peers_.rank()) {
    request.failure = Failure::unreadable;
    received(request, offer.sender);
    return;
  }
  answer(source, Kind::wanted).body.wanted = {offer.sender, std::bit_cast<std::uint64_t>(&request)};
  writer(source).publish();
}

bool Engine::fetch(Request& request, const Offer& offer) {
  const std::size_t bytes = request.envelope.bytes;
  const pid_t process = peers_.process(request.envelope.source);
  if (offer.reach_bytes > 0) {
    std::vector<std::byte> reach(offer.reach_bytes);
    return options_.fetch && read_from(process, offer.address, reach.data(), reach.size()) &&
           options_.fetch(request.envelope.source, reach, bytes, request.target);
  }
  if (request.target.scattering == nullptr)
    return read_from(process, offer.address, request.target.data, bytes);
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (!read_from(process, offer.address, copy.get(), bytes)) return false;
  store(request, 0, copy.get(), bytes);
  return true;
}

// The message is in no queue any more.
void Engine::bind(Request& request, Arrival& message) {
  accept(request, message.envelope);
  Inflow& inflow = inflows_[static_cast<std::size_t>(message.envelope.source)];
  const bool is_coming = inflow.arrival == &message, is_offered = message.is_offered;
  const Offer offer{message.address, message.sender, message.reach_bytes};
  if (!is_offered) store(request, 0, message.bytes(), is_coming ? inflow.here : message.envelope.bytes);
  const std::uint64_t sender = message.sender;
  message.long_message.reset();
  arrivals_.give_back(message);
  if (is_offered) {
    fetch_or_want(request, offer);
  } else if (is_coming) {
    inflow.arrival = nullptr;
    inflow.request = &request;
    request.told = sender;
  } else {
    received(request, sender);
  }
}

void Engine::received(Request& request, std::uint64_t sender) {
  // Before the request is done: its rank may end then.
  if (sender != 0) tell(request.envelope.source, sender);
  finish(request);
}

}  // namespace tca::p2p
