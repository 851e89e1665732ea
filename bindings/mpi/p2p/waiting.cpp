// Calls that wait for requests of both kinds, the engine's and MPI's. While one waits for MPI's, the engine's are received by its
// helper; while it waits for the engine's, MPI is called now and then.
#include <algorithm>

#include "mpi/p2p/requests.hpp"
#include "mpi/p2p/serve.hpp"

namespace tca::interposer {

namespace {

// Completes one of an array that is done, and returns whether there was one. `index` is MPI_UNDEFINED where none is active.
bool complete_any(Requests& requests, int* index, MPI_Status* status, int* code) {
  for (const Requests::Own& own : requests.slots()) {
    if (!own.slot->is_active() || !own.slot->test()) continue;
    *index = own.index;
    *code = own.slot->complete_or_fail(requests.handle(own), status);
    return true;
  }
  int other = MPI_UNDEFINED, is_done = 1;
  *code = PMPI_Testany(requests.others(), requests.first_other(), &other, &is_done, status);
  requests.return_others();
  if (!is_done || (other == MPI_UNDEFINED && requests.has_active())) return false;
  *index = other == MPI_UNDEFINED ? MPI_UNDEFINED : requests.place(other);
  if (other == MPI_UNDEFINED) write_empty_status(status);
  return true;
}

// The same for all that are done; `done` is MPI_UNDEFINED where none is active.
int complete_some(Requests& requests, int* done, int* indices, MPI_Status* statuses) {
  const bool has_active = requests.has_active();
  Codes codes(statuses);
  *done = 0;
  for (const Requests::Own& own : requests.slots()) {
    if (!own.slot->is_active() || !own.slot->test()) continue;
    codes.complete(*done, *own.slot, requests.handle(own));
    indices[(*done)++] = own.index;
  }
  int others = MPI_UNDEFINED;
  const int code = PMPI_Testsome(requests.others(), requests.first_other(), &others, indices + *done,
                                 statuses == MPI_STATUSES_IGNORE ? statuses : statuses + *done);
  requests.return_others();
  requests.add_others(others, has_active, done, indices);
  return code != MPI_SUCCESS ? code : codes.result();
}

}  // namespace

int Served<Call::Start>::serve(MPI_Request* request) {
  Slot* const slot = Slot::find(*request);
  if (slot == nullptr) return next<Call::Start>()(request);
  slot->start();
  return MPI_SUCCESS;
}

int Served<Call::Startall>::serve(int count, MPI_Request* requests) {
  if (are_left_to_mpi(count, requests)) return next<Call::Startall>()(count, requests);
  for (int index = 0; index < count; ++index) {
    const int code = Served<Call::Start>::serve(requests + index);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Served<Call::Wait>::serve(MPI_Request* request, MPI_Status* status) {
  Slot* const slot = Slot::find(*request);
  if (slot == nullptr) return next<Call::Wait>()(request, status);
  slot->wait();
  return slot->complete_or_fail(request, status);
}

int Served<Call::Test>::serve(MPI_Request* request, int* done, MPI_Status* status) {
  Slot* const slot = Slot::find(*request);
  if (slot == nullptr) return next<Call::Test>()(request, done, status);
  *done = slot->test() ? 1 : 0;
  return *done ? slot->complete_or_fail(request, status) : MPI_SUCCESS;
}

int Served<Call::Waitall>::serve(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (are_left_to_mpi(count, requests)) return next<Call::Waitall>()(count, requests, statuses);
  Codes codes(statuses);
  for (int index = 0; index < count; ++index) {
    Slot* const slot = Slot::find(requests[index]);
    if (slot == nullptr) {
      codes.set(index, PMPI_Wait(requests + index, status_of(statuses, index)));
      continue;
    }
    slot->wait();
    codes.complete(index, *slot, requests + index);
  }
  return codes.result();
}

int Served<Call::Testall>::serve(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (are_left_to_mpi(count, requests)) return next<Call::Testall>()(count, requests, done, statuses);
  Requests apart(count, requests);
  *done =
      std::ranges::all_of(apart.slots(), [](const Requests::Own& own) { return own.slot->test(); }) ? 1 : 0;
  for (int other = 0; other < apart.others() && *done; ++other)
    PMPI_Request_get_status(apart.first_other()[other], done, MPI_STATUS_IGNORE);
  return *done ? Served<Call::Waitall>::serve(count, requests, statuses) : MPI_SUCCESS;
}

int Served<Call::Waitany>::serve(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (are_left_to_mpi(count, requests)) return next<Call::Waitany>()(count, requests, index, status);
  Requests apart(count, requests);
  int code = MPI_SUCCESS;
  Channel::engine()->wait_until([&] { return complete_any(apart, index, status, &code); });
  return code;
}

int Served<Call::Testany>::serve(int count, MPI_Request* requests, int* index, int* done,
                                 MPI_Status* status) {
  if (are_left_to_mpi(count, requests)) return next<Call::Testany>()(count, requests, index, done, status);
  Requests apart(count, requests);
  int code = MPI_SUCCESS;
  *done = complete_any(apart, index, status, &code) ? 1 : 0;
  if (!*done) *index = MPI_UNDEFINED;
  return code;
}

int Served<Call::Waitsome>::serve(int count, MPI_Request* requests, int* done, int* indices,
                                  MPI_Status* statuses) {
  if (are_left_to_mpi(count, requests))
    return next<Call::Waitsome>()(count, requests, done, indices, statuses);
  Requests apart(count, requests);
  int code = MPI_SUCCESS;
  Channel::engine()->wait_until([&] {
    code = complete_some(apart, done, indices, statuses);
    return *done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

int Served<Call::Testsome>::serve(int count, MPI_Request* requests, int* done, int* indices,
                                  MPI_Status* statuses) {
  if (are_left_to_mpi(count, requests))
    return next<Call::Testsome>()(count, requests, done, indices, statuses);
  Requests apart(count, requests);
  return complete_some(apart, done, indices, statuses);
}

int Served<Call::Request_free>::serve(MPI_Request* request) {
  Slot* const slot = Slot::find(*request);
  if (slot == nullptr) return next<Call::Request_free>()(request);
  slot->free(request);
  return MPI_SUCCESS;
}

int Served<Call::Cancel>::serve(MPI_Request* request) {
  Slot* const slot = Slot::find(*request);
  if (slot == nullptr) return next<Call::Cancel>()(request);
  slot->cancel();
  return MPI_SUCCESS;
}

}  // namespace tca::interposer
