#include "mpi/engine/context.hpp"

namespace tca::p2p {
namespace {

Request* first_for(const List<Request>& posted, std::int32_t tag) {
  for (Request* receive = posted.first(); receive != nullptr; receive = List<Request>::next(receive))
    if (receive->tag == tag || receive->tag == any_tag) return receive;
  return nullptr;
}

}  // namespace

void Context::post(Request& receive) {
  receive.order = next_++;
  ++waiting_;
  receive.is_posted = true;
  posted_for(receive.peer).add(receive);
}

void Context::withdraw(Request& receive) {
  --waiting_;
  receive.is_posted = false;
  posted_for(receive.peer).remove(receive);
}

Request* Context::take_posted(int source, std::int32_t tag) {
  Request* const by_source = first_for(posted_for(source), tag);
  Request* const by_any = first_for(posted_.back(), tag);
  Request* const first =
      by_source == nullptr || (by_any != nullptr && by_any->order < by_source->order) ? by_any : by_source;
  if (first != nullptr) withdraw(*first);
  return first;
}

void Context::arrive(Arrival& message) {
  message.order = next_++;
  ++waiting_;
  ++messages_;
  arrived_[static_cast<std::size_t>(message.envelope.source)].add(message);
}

void Context::remove(Arrival& message) {
  --waiting_;
  --messages_;
  arrived_[static_cast<std::size_t>(message.envelope.source)].remove(message);
}

Arrival* Context::find(int source, std::int32_t tag) const {
  if (messages_ == 0) return nullptr;
  if (source != any_source) return find_from(static_cast<std::size_t>(source), tag);
  Arrival* first = nullptr;
  for (std::size_t each = 0; each < arrived_.size(); ++each) {
    Arrival* const message = find_from(each, tag);
    if (message != nullptr && (first == nullptr || message->order < first->order)) first = message;
  }
  return first;
}

Arrival* Context::find_from(std::size_t source, std::int32_t tag) const {
  Arrival* message = arrived_[source].first();
  while (message != nullptr && tag != any_tag && message->envelope.tag != tag)
    message = List<Arrival>::next(message);
  return message;
}

Arrival* Context::find_sent_by(int source, std::uint64_t sender) const {
  Arrival* message = arrived_[static_cast<std::size_t>(source)].first();
  while (message != nullptr && message->sender != sender) message = List<Arrival>::next(message);
  return message;
}

}  // namespace tca::p2p
