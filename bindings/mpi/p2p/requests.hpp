// Arrays of requests of both kinds, the engine's and MPI's.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/p2p/slot.hpp"

namespace tca::interposer {

inline bool are_left_to_mpi(int count, const MPI_Request* requests) {
  return !Slot::are_there() || std::none_of(requests, requests + std::max(count, 0), [](MPI_Request request) {
    return request != MPI_REQUEST_NULL && Slot::find(request) != nullptr;
  });
}

inline MPI_Status* status_of(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

// An array of requests, taken apart.
class Requests {
 public:
  Requests(int count, MPI_Request* requests) : all_(requests) {
    for (int index = 0; index < count; ++index) {
      Slot* const slot = Slot::find(requests[index]);
      if (slot != nullptr) {
        slots_.push_back({index, slot});
      } else {
        others_.push_back(requests[index]);
        places_.push_back(index);
      }
    }
  }

  struct Own {
    int index;
    Slot* slot;
  };
  const std::vector<Own>& slots() const { return slots_; }
  bool has_active() const {
    return std::ranges::any_of(slots_, [](const Own& own) { return own.slot->is_active(); });
  }
  MPI_Request* handle(const Own& own) const { return all_ + own.index; }

  int others() const { return static_cast<int>(others_.size()); }
  MPI_Request* first_other() { return others_.data(); }
  int place(int other) const { return places_[static_cast<std::size_t>(other)]; }
  // What MPI has made of its handles.
  void return_others() {
    for (std::size_t other = 0; other < others_.size(); ++other) all_[places_[other]] = others_[other];
  }
  // Appends those of MPI's whose indices it has given to the engine's. `done` is MPI_UNDEFINED where there is no active request.
  void add_others(int others, bool has_active, int* done, int* indices) const {
    if (others == MPI_UNDEFINED) {
      if (!has_active) *done = MPI_UNDEFINED;
      return;
    }
    for (int each = *done; each < *done + others; ++each) indices[each] = place(indices[each]);
    *done += others;
  }

 private:
  MPI_Request* all_;
  std::vector<Own> slots_;
  std::vector<MPI_Request> others_;
  std::vector<int> places_;
};

// The result of a call for several: statuses have the codes where one is not MPI_SUCCESS.
class Codes {
 public:
  explicit Codes(MPI_Status* statuses) : statuses_(statuses) {}

  void complete(int place, Slot& slot, MPI_Request* handle) {
    const std::shared_ptr<Channel> channel = slot.channel();
    MPI_Status* const status = status_of(statuses_, place);
    set(place, slot.complete(handle, status), channel);
  }
  void set(int place, int code, const std::shared_ptr<Channel>& channel = nullptr) {
    if (statuses_ != MPI_STATUSES_IGNORE) statuses_[place].MPI_ERROR = code;
    if (code == MPI_SUCCESS) return;
    have_failed_ = true;
    if (channel) failed_ = channel;
  }
  int result() const {
    if (!have_failed_) return MPI_SUCCESS;
    return failed_ ? failed_->fail(MPI_ERR_IN_STATUS) : MPI_ERR_IN_STATUS;
  }

 private:
  MPI_Status* statuses_;
  bool have_failed_ = false;
  std::shared_ptr<Channel>
      failed_;  // of a message of the engine's; for its own, MPI has called the error handler
};

}  // namespace tca::interposer
