#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mpi/p2p/pass.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/p2p/slot.hpp"
#include "mpi/threads.hpp"

namespace tca::interposer {

namespace {

struct Matched {
  std::shared_ptr<Channel> channel;
  p2p::Arrival* message = nullptr;
};
// By the handles that the program has.
struct Messages {
  p2p::Lock lock;
  std::unordered_map<MPI_Message, Matched> by_handle;
};
Messages& matched() {
  static auto* const all = new Messages;
  return *all;
}

bool is_matched(MPI_Message handle) {
  const Guard guard(matched().lock);
  return matched().by_handle.contains(handle);
}

// A communicator of this rank alone, for messages that nobody but `message_handle` sends.
MPI_Comm alone() {
  static const MPI_Comm made = [] {
    MPI_Comm copy = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &copy);
    return copy;
  }();
  return made;
}

// A handle that is valid wherever one is: of an empty message of this rank to itself. One at a time: MPICH 4.0 crashes
// where threads match messages of a rank to itself at once.
MPI_Message message_handle() {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> turn(one_at_a_time);
  MPI_Message made = MPI_MESSAGE_NULL;
  MPI_Request sent = MPI_REQUEST_NULL;
  PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, alone(), &sent);
  PMPI_Mprobe(0, 0, alone(), &made, MPI_STATUS_IGNORE);
  PMPI_Request_free(&sent);
  return made;
}

// Takes the message of a handle out of the books, or returns none for one of MPI's.
Matched take(MPI_Message* handle) {
  Matched taken;
  {
    const Guard guard(matched().lock);
    const auto found = matched().by_handle.find(*handle);
    if (found == matched().by_handle.end()) return {};
    taken = std::move(found->second);
    matched().by_handle.erase(found);
  }
  PMPI_Mrecv(nullptr, 0, MPI_BYTE, handle, MPI_STATUS_IGNORE);
  return taken;
}

bool is_served(const std::shared_ptr<Channel>& channel, int from, int tag) {
  return channel != nullptr && channel->can_receive(from, tag);
}

bool probe(const Channel& channel, int from, int tag, MPI_Status* status) {
  const auto envelope = Channel::engine()->probe(channel.context(), channel.source(from), Channel::tag(tag));
  if (envelope) channel.write_status(status, *envelope);
  return envelope.has_value();
}

bool match(const std::shared_ptr<Channel>& channel, int from, int tag, MPI_Message* message,
           MPI_Status* status) {
  p2p::Arrival* const found =
      Channel::engine()->match(channel->context(), channel->source(from), Channel::tag(tag));
  if (found == nullptr) return false;
  channel->write_status(status, found->envelope);
  *message = message_handle();
  const Guard guard(matched().lock);
  matched().by_handle[*message] = {channel, found};
  return true;
}

}  // namespace

int Served<Call::Probe>::serve(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  return serve_or_pass<Call::Probe>(
      channel, is_served(channel, from, tag), [&] { return next<Call::Probe>()(from, tag, comm, status); },
      [&] {
        Channel::engine()->wait_until([&] { return probe(*channel, from, tag, status); });
        return MPI_SUCCESS;
      });
}

int Served<Call::Iprobe>::serve(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  return serve_or_pass<Call::Iprobe>(
      channel, is_served(channel, from, tag),
      [&] { return next<Call::Iprobe>()(from, tag, comm, found, status); },
      [&] {
        *found = probe(*channel, from, tag, status) ? 1 : 0;
        return MPI_SUCCESS;
      });
}

int Served<Call::Mprobe>::serve(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  return serve_or_pass<Call::Mprobe>(
      channel, is_served(channel, from, tag),
      [&] { return next<Call::Mprobe>()(from, tag, comm, message, status); },
      [&] {
        Channel::engine()->wait_until([&] { return match(channel, from, tag, message, status); });
        return MPI_SUCCESS;
      });
}

int Served<Call::Improbe>::serve(int from, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                                 MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  return serve_or_pass<Call::Improbe>(
      channel, is_served(channel, from, tag),
      [&] { return next<Call::Improbe>()(from, tag, comm, found, message, status); },
      [&] {
        *found = match(channel, from, tag, message, status) ? 1 : 0;
        return MPI_SUCCESS;
      });
}

namespace {

template <Call call, class Count>
int start_receive(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const Elements elements(buffer, count, type);
  const Matched taken = elements.is_valid() ? take(message) : Matched();
  if (taken.channel == nullptr) return next<call>()(buffer, count, type, message, request);
  return guarded(*taken.channel, [&] {
    Slot& slot = Slot::make(taken.channel, {}, elements);
    slot.start(*taken.message);
    *request = slot.handle();
    return MPI_SUCCESS;
  });
}

template <Call call, Call starting, class Count>
int receive(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (!is_matched(*message)) return next<call>()(buffer, count, type, message, status);
  const int code = start_receive<starting>(buffer, count, type, message, &request);
  return code != MPI_SUCCESS ? code : Served<Call::Wait>::serve(&request, status);
}

}  // namespace

#define TCA_RECEIVES(Count, c)                                                                           \
  int Served<Call::Imrecv##c>::serve(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, \
                                     MPI_Request* request) {                                             \
    return start_receive<Call::Imrecv##c>(buffer, count, type, message, request);                        \
  }                                                                                                      \
  int Served<Call::Mrecv##c>::serve(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,  \
                                    MPI_Status* status) {                                                \
    return receive<Call::Mrecv##c, Call::Imrecv##c>(buffer, count, type, message, status);               \
  }
TCA_FOR_COUNTS(TCA_RECEIVES)

}  // namespace tca::interposer
