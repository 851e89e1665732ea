// Calls that look whether requests are done, of both kinds, and leave them as they are.
#include "mpi/p2p/requests.hpp"
#include "mpi/p2p/serve.hpp"

namespace tca::interposer {

int Served<Call::Request_get_status>::serve(MPI_Request request, int* done, MPI_Status* status) {
  Slot* const slot = Slot::find(request);
  if (slot == nullptr) return next<Call::Request_get_status>()(request, done, status);
  *done = slot->test() ? 1 : 0;
  if (!*done) return MPI_SUCCESS;
  const int code = slot->read_status(status);
  return code == MPI_SUCCESS ? code : slot->channel()->fail(code);
}

#if TCA_HAS_MPI_4_1
namespace {

Requests taken_apart(int count, const MPI_Request* requests) {
  return {count, const_cast<MPI_Request*>(requests)};
}

}  // namespace

int Served<Call::Request_get_status_all>::serve(int count, const MPI_Request* requests, int* done,
                                                MPI_Status* statuses) {
  if (are_left_to_mpi(count, requests))
    return next<Call::Request_get_status_all>()(count, requests, done, statuses);
  Requests apart = taken_apart(count, requests);
  *done =
      std::ranges::all_of(apart.slots(), [](const Requests::Own& own) { return own.slot->test(); }) ? 1 : 0;
  if (*done) PMPI_Request_get_status_all(apart.others(), apart.first_other(), done, MPI_STATUSES_IGNORE);
  if (!*done) return MPI_SUCCESS;
  Codes codes(statuses);
  for (const Requests::Own& own : apart.slots())
    codes.set(own.index, own.slot->read_status(status_of(statuses, own.index)), own.slot->channel());
  for (int other = 0; other < apart.others(); ++other) {
    const int place = apart.place(other);
    codes.set(place, PMPI_Request_get_status(requests[place], done, status_of(statuses, place)));
  }
  return codes.result();
}

int Served<Call::Request_get_status_any>::serve(int count, const MPI_Request* requests, int* index, int* done,
                                                MPI_Status* status) {
  if (are_left_to_mpi(count, requests))
    return next<Call::Request_get_status_any>()(count, requests, index, done, status);
  Requests apart = taken_apart(count, requests);
  for (const Requests::Own& own : apart.slots()) {
    if (!own.slot->is_active() || !own.slot->test()) continue;
    *index = own.index;
    *done = 1;
    const int code = own.slot->read_status(status);
    return code == MPI_SUCCESS ? code : own.slot->channel()->fail(code);
  }
  int other = MPI_UNDEFINED;
  const int code = PMPI_Request_get_status_any(apart.others(), apart.first_other(), &other, done, status);
  if (other != MPI_UNDEFINED)
    *index = apart.place(other);
  else if (apart.has_active())
    *done = 0;
  else
    *index = MPI_UNDEFINED;
  return code;
}

int Served<Call::Request_get_status_some>::serve(int count, const MPI_Request* requests, int* done,
                                                 int* indices, MPI_Status* statuses) {
  if (are_left_to_mpi(count, requests))
    return next<Call::Request_get_status_some>()(count, requests, done, indices, statuses);
  Requests apart = taken_apart(count, requests);
  Codes codes(statuses);
  *done = 0;
  for (const Requests::Own& own : apart.slots()) {
    if (!own.slot->is_active() || !own.slot->test()) continue;
    codes.set(*done, own.slot->read_status(status_of(statuses, *done)), own.slot->channel());
    indices[(*done)++] = own.index;
  }
  int others = MPI_UNDEFINED;
  const int code =
      PMPI_Request_get_status_some(apart.others(), apart.first_other(), &others, indices + *done,
                                   statuses == MPI_STATUSES_IGNORE ? statuses : statuses + *done);
  apart.add_others(others, apart.has_active(), done, indices);
  return code != MPI_SUCCESS ? code : codes.result();
}
#endif

}  // namespace tca::interposer
