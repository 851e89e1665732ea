#include "control/shm/passing.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/system/limits.hpp"

namespace tca::shm {

namespace {

// A rank sends to this many others between two meetings of all. A quick rank may be one round ahead of a
// slow one, and the system queues at least ten messages per socket (net.unix.max_dgram_qlen).
constexpr int at_once = 4;

struct Message {
  std::uint64_t secret;  // the receiver's
  std::int32_t rank;     // the sender's
};

// A message and room for one descriptor beside it.
struct Parcel {
  Message message{};
  alignas(cmsghdr) char descriptor[CMSG_SPACE(sizeof(int))] = {};
  iovec data{&message, sizeof message};
  msghdr header{};

  Parcel() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = descriptor;
    header.msg_controllen = sizeof descriptor;
  }
  Parcel(const Parcel&) = delete;
};

// Returns the descriptor that arrived with a message; -1 if there is none.
int descriptor_in(msghdr& header) {
  int descriptor = -1;
  const cmsghdr* const part = CMSG_FIRSTHDR(&header);
  if (part != nullptr && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
      part->cmsg_len == CMSG_LEN(sizeof descriptor))
    std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
  return descriptor;
}

}  // namespace

Passing::Passing(control::Control& control) : rank_(control.rank()) {
  open();
  addresses_ = control.all_gather_value(own_, "start-up (sockets)");
  come_.resize(addresses_.size());
}

// A name that consists of the family alone makes the system choose one.
void Passing::open() {
  socket_ = File(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  socklen_t length = sizeof name;
  if (socket_.ok() && getrandom(&own_.secret, sizeof own_.secret, 0) == sizeof own_.secret &&
      bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name.sun_family) == 0 &&
      getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &length) == 0 &&
      length - offsetof(sockaddr_un, sun_path) <= sizeof own_.name) {
    own_.length = static_cast<std::uint32_t>(length - offsetof(sockaddr_un, sun_path));
    std::memcpy(own_.name, name.sun_path, own_.length);
  } else {
    problem_ = "it gets no socket: " + base::limit_met(errno);
  }
}

// In each round a rank sends to the next ones, and takes what earlier ones have sent. In between is a
// meeting, so nobody has to wait for a message: either it is there, or it will never arrive.
std::vector<File> Passing::pass(const control::Members& members, int descriptor, const Reach& reach,
                                std::string_view what) {
  control::Control& control = members.control();
  const int count = control.size();
  for (int first = 1; first < count; first += at_once) {
    for (int distance = first; distance < std::min(first + at_once, count); ++distance) {
      const int to = members[(control.rank() + distance) % count];
      if (descriptor >= 0 && reach[static_cast<std::size_t>(to)]) send(to, descriptor);
    }
    control.barrier(what);
    receive();
  }
  std::vector<File> files(reach.size());
  for (const int rank : members.ranks())
    files[static_cast<std::size_t>(rank)] = std::move(come_[static_cast<std::size_t>(rank)]);
  return files;
}

void Passing::send(int to, int descriptor) {
  const Address& address = addresses_[static_cast<std::size_t>(to)];
  if (!socket_.ok() || address.length == 0) return;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, address.name, address.length);
  Parcel parcel;
  parcel.message = {address.secret, rank_};
  parcel.header.msg_name = &name;
  parcel.header.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.length);
  cmsghdr* const part = CMSG_FIRSTHDR(&parcel.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  if (sendmsg(socket_.get(), &parcel.header, MSG_NOSIGNAL) >= 0) return;
  problem_ = errno == ECONNREFUSED
                 ? "no socket of this name is there; the ranks have to be in one network namespace"
                 : std::strerror(errno);
}

// What a rank sends in a call of a different group stays queued until this rank gets there. It sends
// nothing more before that, since all attach to each other's memory together.
void Passing::receive() {
  for (;;) {
    Parcel parcel;
    const ssize_t got = recvmsg(socket_.get(), &parcel.header, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    File file(descriptor_in(parcel.header));
    const Message& message = parcel.message;
    if (got == sizeof message && message.secret == own_.secret && message.rank >= 0 &&
        static_cast<std::size_t>(message.rank) < come_.size())
      come_[static_cast<std::size_t>(message.rank)] = std::move(file);
  }
}

}  // namespace tca::shm
