#include "mpi/p2p/slot.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/threads.hpp"

namespace tca::interposer {

namespace {

// What threads have in common: a request itself is one thread's at a time.
struct Slots {
  p2p::Lock lock;
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

Slot* Slot::look_up(MPI_Request handle) {
  Slots& all = slots();
  const Guard guard(all.lock);
  const auto found = all.by_handle.find(handle);
  return found == all.by_handle.end() ? nullptr : found->second;
}

bool Slot::are_in_use() {
  Slots& all = slots();
  const Guard guard(all.lock);
  return all.free.size() < all.all.size();
}

void Slot::drop_all() {
  Slots& all = slots();
  for (Slot& slot : all.all) {
    PMPI_Grequest_complete(slot.handle_);
    PMPI_Wait(&slot.handle_, MPI_STATUS_IGNORE);
  }
  all.free.clear();
  all.left.clear();
  all.by_handle.clear();
  all.all.clear();
}

// Rarely many.
void Slot::give_back_those_left() {
  std::vector<Slot*> left;
  {
    const Guard guard(slots().lock);
    if (slots().left.empty()) return;
    left.swap(slots().left);
  }
  std::erase_if(left, [](Slot* slot) {
    const bool is_done = slot->test();
    if (is_done) slot->give_back();
    return is_done;
  });
  const Guard guard(slots().lock);
  slots().left.insert(slots().left.end(), left.begin(), left.end());
}

Slot& Slot::take_free() {
  Slots& all = slots();
  {
    const Guard guard(all.lock);
    if (!all.free.empty()) {
      Slot& slot = *all.free.back();
      all.free.pop_back();
      return slot;
    }
  }
  MPI_Request handle = MPI_REQUEST_NULL;
  PMPI_Grequest_start(no_status, nothing, nothing_to_cancel, nullptr, &handle);
  const Guard guard(all.lock);
  Slot& slot = all.all.emplace_back();
  slot.handle_ = handle;
  all.by_handle[handle] = &slot;
  return slot;
}

Slot& Slot::make(std::shared_ptr<Channel> channel, const Transfer& transfer, const Elements& elements,
                 bool is_persistent) {
  give_back_those_left();
  Slot& slot = take_free();
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
  if (transfer_.is_send)
    engine.start_send(request_, channel_->context(), transfer_.peer, transfer_.tag, elements_.source(packed_),
                      transfer_.mode);
  else
    engine.start_receive(request_, channel_->context(), transfer_.peer, transfer_.tag,
                         elements_.target(packed_));
  if (sends_ != nullptr) sends_->start();
}

void Slot::start(p2p::Arrival& message) {
  is_active_ = true;
  is_taken_in_ = false;
  Channel::engine()->start_receive(request_, message, elements_.target(packed_));
}

void Slot::take_in() {
  if (is_taken_in_) return;
  is_taken_in_ = true;
  if (!transfer_.is_send && !request_.is_cancelled) elements_.take_in(packed_, request_.envelope.bytes);
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
  if (test()) {
    give_back();
    return;
  }
  const Guard guard(slots().lock);
  slots().left.push_back(this);
}

void Slot::give_back() {
  if (is_active_) take_in();
  is_active_ = false;
  elements_.let_go();
  channel_.reset();
  owned_.reset();
  if (Slot* const sends = std::exchange(sends_, nullptr)) sends->give_back();
  const Guard guard(slots().lock);
  slots().free.push_back(this);
}

}  // namespace tca::interposer
