// Sends and receives in one call. With nobody on one side it is a send, or a receive, that may not be mixed with MPI's.
#include "mpi/p2p/pass.hpp"
#include "mpi/p2p/receive.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/p2p/slot.hpp"

namespace tca::interposer {

namespace {

struct Side {
  int rank, tag;
};

// Whether both sides are ranks, or such arguments as MPI refuses.
bool can_exchange(const std::shared_ptr<Channel>& channel, Side to, Side from) {
  return channel != nullptr && channel->can_send(to.rank, to.tag) &&
         channel->can_receive(from.rank, from.tag);
}

int send_and_receive(const Channel& channel, const Elements& out, Side to, const Elements& in, Side from,
                     MPI_Status* status) {
  Receive receive(in);
  receive.start(channel, from.rank, from.tag);
  Elements::Packed packed;
  Channel::engine()->send(channel.context(), channel.process(to.rank), to.tag, out.source(packed));
  return receive.end(channel, status);
}

// Where both sides are ranks, has act(out, in) move the two messages; MPI's call is the same with `last`, a status or a request.
template <Call call, class Count, class Last, class Act>
int move_both(const std::shared_ptr<Channel>& channel, const void* sent, Count count, MPI_Datatype type,
              Side to, void* received, Count most, MPI_Datatype received_type, Side from, MPI_Comm comm,
              Last* last, const Act& act) {
  const Elements out = channel ? Elements(sent, count, type) : Elements();
  const Elements in = channel ? Elements(received, most, received_type) : Elements();
  return serve_or_pass<call>(
      channel, can_exchange(channel, to, from) && out.is_valid() && in.is_valid(),
      [&] {
        return next<call>()(sent, count, type, to.rank, to.tag, received, most, received_type, from.rank,
                            from.tag, comm, last);
      },
      [&] { return act(out, in); });
}

// The same with one buffer, of which a copy is sent, so that it may be received into meanwhile: act(copy, out, in).
template <Call call, Call with_two_buffers, class Count, class Last, class Act>
int move_both_ways(const std::shared_ptr<Channel>& channel, void* buffer, Count count, MPI_Datatype type,
                   Side to, Side from, MPI_Comm comm, Last* last, const Act& act) {
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  if (!can_exchange(channel, to, from) || !elements.is_valid()) {
    if (channel != nullptr && elements.is_valid() && (to.rank == MPI_PROC_NULL || from.rank == MPI_PROC_NULL))
      return Served<with_two_buffers>::serve(buffer, count, type, to.rank, to.tag, buffer, count, type,
                                             from.rank, from.tag, comm, last);
    return next<call>()(buffer, count, type, to.rank, to.tag, from.rank, from.tag, comm, last);
  }
  return serve_or_pass<call>(
      channel, true, [] { return MPI_SUCCESS; },
      [&] {
        Elements::Packed copy = elements.copied();
        const Elements out(copy.get(), static_cast<MPI_Count>(elements.bytes()), MPI_BYTE);
        return act(std::move(copy), out, elements);
      });
}

template <Call call, Call send, Call receive, class Count>
int exchange(const void* sent, Count count, MPI_Datatype type, Side to, void* received, Count most,
             MPI_Datatype received_type, Side from, MPI_Comm comm, MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  if (channel != nullptr && from.rank == MPI_PROC_NULL) {
    const int code = Served<send>::serve(sent, count, type, to.rank, to.tag, comm);
    return code != MPI_SUCCESS
               ? code
               : next<Call::Recv>()(received, 0, received_type, MPI_PROC_NULL, 0, comm, status);
  }
  if (channel != nullptr && to.rank == MPI_PROC_NULL)
    return Served<receive>::serve(received, most, received_type, from.rank, from.tag, comm, status);
  return move_both<call>(channel, sent, count, type, to, received, most, received_type, from, comm, status,
                         [&](const Elements& out, const Elements& in) {
                           return send_and_receive(*channel, out, to, in, from, status);
                         });
}

template <Call call, Call with_two_buffers, class Count>
int replace(void* buffer, Count count, MPI_Datatype type, Side to, Side from, MPI_Comm comm,
            MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  return move_both_ways<call, with_two_buffers>(
      channel, buffer, count, type, to, from, comm, status,
      [&](Elements::Packed copy, const Elements& out, const Elements& in) {
        const Elements::Packed kept = std::move(copy);
        return send_and_receive(*channel, out, to, in, from, status);
      });
}

#if MPI_VERSION >= 4

Slot& start_both(const std::shared_ptr<Channel>& channel, const Elements& out, Side to, const Elements& in,
                 Side from) {
  Slot& receives = Slot::make(channel, {false, channel->source(from.rank), Channel::tag(from.tag)}, in);
  receives.go_with(Slot::make(channel, {true, channel->process(to.rank), to.tag}, out));
  receives.start();
  return receives;
}

template <Call call, Call send, Call receive, class Count>
int start_exchange(const void* sent, Count count, MPI_Datatype type, Side to, void* received, Count most,
                   MPI_Datatype received_type, Side from, MPI_Comm comm, MPI_Request* request) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  if (channel != nullptr && from.rank == MPI_PROC_NULL && to.rank != MPI_PROC_NULL)
    return Served<send>::serve(sent, count, type, to.rank, to.tag, comm, request);
  if (channel != nullptr && to.rank == MPI_PROC_NULL)
    return Served<receive>::serve(received, most, received_type, from.rank, from.tag, comm, request);
  return move_both<call>(channel, sent, count, type, to, received, most, received_type, from, comm, request,
                         [&](const Elements& out, const Elements& in) {
                           *request = start_both(channel, out, to, in, from).handle();
                           return MPI_SUCCESS;
                         });
}

template <Call call, Call with_two_buffers, class Count>
int start_replace(void* buffer, Count count, MPI_Datatype type, Side to, Side from, MPI_Comm comm,
                  MPI_Request* request) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  return move_both_ways<call, with_two_buffers>(
      channel, buffer, count, type, to, from, comm, request,
      [&](Elements::Packed copy, const Elements& out, const Elements& in) {
        Slot& slot = start_both(channel, out, to, in, from);
        slot.own(std::move(copy));
        *request = slot.handle();
        return MPI_SUCCESS;
      });
}

#endif

}  // namespace

#define TCA_EXCHANGES(Count, c)                                                                           \
  int Served<Call::Sendrecv##c>::serve(const void* sent, Count count, MPI_Datatype type, int to, int tag, \
                                       void* received, Count most, MPI_Datatype received_type, int from,  \
                                       int received_tag, MPI_Comm comm, MPI_Status* status) {             \
    return exchange<Call::Sendrecv##c, Call::Send##c, Call::Recv##c>(                                     \
        sent, count, type, {to, tag}, received, most, received_type, {from, received_tag}, comm, status); \
  }                                                                                                       \
  int Served<Call::Sendrecv_replace##c>::serve(void* buffer, Count count, MPI_Datatype type, int to,      \
                                               int tag, int from, int received_tag, MPI_Comm comm,        \
                                               MPI_Status* status) {                                      \
    return replace<Call::Sendrecv_replace##c, Call::Sendrecv##c>(buffer, count, type, {to, tag},          \
                                                                 {from, received_tag}, comm, status);     \
  }
TCA_FOR_COUNTS(TCA_EXCHANGES)

#if MPI_VERSION >= 4
#define TCA_STARTS_EXCHANGES(Count, c)                                                                     \
  int Served<Call::Isendrecv##c>::serve(const void* sent, Count count, MPI_Datatype type, int to, int tag, \
                                        void* received, Count most, MPI_Datatype received_type, int from,  \
                                        int received_tag, MPI_Comm comm, MPI_Request* request) {           \
    return start_exchange<Call::Isendrecv##c, Call::Isend##c, Call::Irecv##c>(                             \
        sent, count, type, {to, tag}, received, most, received_type, {from, received_tag}, comm, request); \
  }                                                                                                        \
  int Served<Call::Isendrecv_replace##c>::serve(void* buffer, Count count, MPI_Datatype type, int to,      \
                                                int tag, int from, int received_tag, MPI_Comm comm,        \
                                                MPI_Request* request) {                                    \
    return start_replace<Call::Isendrecv_replace##c, Call::Isendrecv##c>(                                  \
        buffer, count, type, {to, tag}, {from, received_tag}, comm, request);                              \
  }
TCA_FOR_COUNTS(TCA_STARTS_EXCHANGES)
#endif

}  // namespace tca::interposer
