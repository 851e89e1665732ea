#include "mpi/p2p/slot.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tca::interposer {

namespace {

struct Slots {
  std::deque<Slot> all;
  std::vector<Slot*> free;
  std::vector<Slot*> left;  // the program has freed them, and they are under way
  std::unordered_map<MPI_Request, Slot*> by_handle;
};
Slots& slots() {
  static auto* const all = new Slots;
  return *all;
}

int no_status(void*, MPI_Status* status) {
  write_empty_status(status);
  return MPI_SUCCESS;
}
int nothing(void*) { return MPI_SUCCESS; }
int nothing_to_cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

Slot* Slot::find(MPI_Request handle) {
  const auto found = slots().by_handle.find(handle);
  return found == slots().by_handle.end() ? nullptr : found->second;
}

bool Slot::are_there() { return slots().free.size() < slots().all.size(); }

void Slot::drop_all() {
  for (Slot& slot : slots().all) {
    PMPI_Grequest_complete(slot.handle_);
    PMPI_Wait(&slot.handle_, MPI_STATUS_IGNORE);
  }
  slots() = {};
}

Slot& Slot::make(std::shared_ptr<Channel> channel, const Transfer& transfer, const Elements& elements,
                 bool is_persistent) {
  Slots& all = slots();
  // Rarely many.
  std::erase_if(all.left, [](Slot* slot) {
    const bool is_done = slot->test();
    if (is_done) slot->give_back();
    return is_done;
  });
  if (all.free.empty()) {
    Slot& fresh = all.all.emplace_back();
    PMPI_Grequest_start(no_status, nothing, nothing_to_cancel, nullptr, &fresh.handle_);
    all.by_handle[fresh.handle_] = &fresh;
    all.free.push_back(&fresh);
  }
  Slot& slot = *all.free.back();
  all.free.pop_back();
  slot.channel_ = std::move(channel);
  slot.transfer_ = transfer;
  slot.elements_ = elements;
  slot.elements_.keep();
  slot.is_persistent_ = is_persistent;
  slot.is_active_ = false;
  return slot;
}

void Slot::start() {
  p2p::Engine& engine = *Channel::engine();
  is_active_ = true;
  is_taken_in_ = false;
  if (transfer_.is_send) {
    if (!elements_.are_in_a_row()) packed_ = elements_.packed();
    const void* const data = packed_ ? packed_.get() : elements_.data();
    engine.start_send(request_, channel_->context(), transfer_.peer, transfer_.tag, {data, elements_.bytes()},
                      transfer_.mode);
    return;
  }
  if (!elements_.are_in_a_row()) packed_ = std::make_unique_for_overwrite<std::byte[]>(elements_.bytes());
  void* const data = packed_ ? packed_.get() : elements_.data();
  engine.start_receive(request_, channel_->context(), transfer_.peer, transfer_.tag,
                       {data, elements_.bytes()});
}

void Slot::start(p2p::Arrival& message) {
  is_active_ = true;
  is_taken_in_ = false;
  if (!elements_.are_in_a_row()) packed_ = std::make_unique_for_overwrite<std::byte[]>(elements_.bytes());
  void* const data = packed_ ? packed_.get() : elements_.data();
  Channel::engine()->start_receive(request_, message, {data, elements_.bytes()});
}

void Slot::take_in() {
  if (is_taken_in_) return;
  is_taken_in_ = true;
  if (packed_ && !transfer_.is_send && !request_.is_cancelled)
    elements_.unpack(packed_.get(), request_.envelope.bytes);
  packed_.reset();
}

int Slot::read_status(MPI_Status* status) {
  if (!is_active_) {
    write_empty_status(status);
    return MPI_SUCCESS;
  }
  take_in();
  if (transfer_.is_send || request_.is_cancelled)
    write_empty_status(status, request_.is_cancelled);
  else
    channel_->write_status(status, request_.envelope);
  switch (request_.failure) {
    case p2p::Failure::none:
      return MPI_SUCCESS;
    case p2p::Failure::truncated:
      return MPI_ERR_TRUNCATE;
    case p2p::Failure::unreadable:
      return MPI_ERR_OTHER;
  }
  return MPI_ERR_INTERN;
}

int Slot::complete(MPI_Request* handle, MPI_Status* status) {
  const int code = read_status(status);
  is_active_ = false;
  if (is_persistent_) return code;
  *handle = MPI_REQUEST_NULL;
  give_back();
  return code;
}

int Slot::complete_or_fail(MPI_Request* handle, MPI_Status* status) {
  const std::shared_ptr<Channel> channel = channel_;
  const int code = complete(handle, status);
  return code == MPI_SUCCESS ? code : channel->fail(code);
}

void Slot::free(MPI_Request* handle) {
  *handle = MPI_REQUEST_NULL;
  is_persistent_ = false;
  if (test())
    give_back();
  else
    slots().left.push_back(this);
}

void Slot::give_back() {
  if (is_active_) take_in();
  is_active_ = false;
  elements_.let_go();
  channel_.reset();
  slots().free.push_back(this);
}

}  // namespace tca::interposer
