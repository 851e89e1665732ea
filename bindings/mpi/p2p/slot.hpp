// Requests of the program that the engine serves.
//
// Their handles are generalised requests of MPI, so that they are valid wherever a handle is. They never complete by themselves: all
// calls that take requests are hooked. A slot keeps its handle when the program is done with it, so the next request costs MPI
// nothing.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/elements.hpp"

namespace tca::interposer {

struct Transfer {
  bool is_send = false;
  int peer = 0;  // as the engine numbers it
  std::int32_t tag = 0;
  p2p::Mode mode = p2p::Mode::standard;
};

class Slot {
 public:
  // Returns null for a request that is not the engine's.
  static Slot* find(MPI_Request handle) { return Channel::are_served() ? look_up(handle) : nullptr; }
  // Whether there are any, so that calls without them lose no time.
  static bool are_there() { return Channel::are_served() && are_in_use(); }
  // Frees the handles. The program has no request any more.
  static void drop_all();

  static Slot& make(std::shared_ptr<Channel> channel, const Transfer& transfer, const Elements& elements,
                    bool is_persistent = false);
  // The request is complete with `sends` also, which nobody else knows. Both are started by `start`.
  void go_with(Slot& sends) { sends_ = &sends; }
  // Has the slot keep a buffer for as long as the request takes.
  void own(Elements::Packed buffer) { owned_ = std::move(buffer); }
  void start();
  // Receives a message that `match` has returned.
  void start(p2p::Arrival& message);

  MPI_Request handle() const { return handle_; }
  // A persistent request that is not started is complete, and has no message.
  bool is_active() const { return is_active_; }
  bool test() {
    return !is_active_ || (Channel::engine()->test(request_) && (sends_ == nullptr || sends_->test()));
  }
  void wait() {
    if (is_active_) Channel::engine()->wait(request_);
    if (sends_ != nullptr) sends_->wait();
  }
  void cancel() {
    if (is_active_ && sends_ == nullptr) Channel::engine()->cancel(request_);
  }
  // Once it is done: what MPI_Request_get_status says of it. Returns the code of the message.
  int read_status(MPI_Status* status);
  // The same, and ends it: `handle` is null then, or that of a persistent request which may be started again.
  int complete(MPI_Request* handle, MPI_Status* status);
  // The same, with the communicator's error handler called where the message failed.
  int complete_or_fail(MPI_Request* handle, MPI_Status* status);
  // The program does not want to know of it any more.
  void free(MPI_Request* handle);
  const std::shared_ptr<Channel>& channel() const { return channel_; }

 private:
  static Slot* look_up(MPI_Request handle);
  static bool are_in_use();
  static Slot& take_free();
  static void give_back_those_left();
  void take_in();
  void give_back();

  MPI_Request handle_ = MPI_REQUEST_NULL;
  p2p::Request request_;
  std::shared_ptr<Channel> channel_;
  Transfer transfer_;
  Elements elements_;
  Elements::Packed packed_, owned_;
  Slot* sends_ = nullptr;
  bool is_persistent_ = false, is_active_ = false, is_taken_in_ = false;
};

}  // namespace tca::interposer
