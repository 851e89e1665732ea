#include "trigger/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tca/error.hpp"

namespace tca::trigger {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(Errc::invalid_argument, fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

Socket::Socket(int port, std::size_t slot_bytes) : slot_bytes_(slot_bytes), elsewhere_(most * slot_bytes) {
  fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) fail("a UDP socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close(fd_);
    errno = error;
    fail(fmt::format("UDP port {} of 127.0.0.1 (--port gives another first one, and 0 any that are free)",
                     port));
  }
  socklen_t size = sizeof address;
  getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  enlarge_buffer();
}

Socket::~Socket() { close(fd_); }

// Beyond what the system allows to everybody, as far as this process may.
void Socket::enlarge_buffer() {
  const int wanted = static_cast<int>(wanted_buffer);
  if (setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0)
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  int got = 0;
  socklen_t size = sizeof got;
  getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &got, &size);
  buffer_bytes_ = static_cast<std::size_t>(got) / 2;  // Linux doubles it, for what it needs itself
}

unsigned Socket::receive(const SlotRing& ring) {
  is_in_ring_ = ring.room() > 0;
  const auto count = static_cast<unsigned>(is_in_ring_ ? std::min<std::uint64_t>(most, ring.room()) : most);
  for (unsigned i = 0; i < count; ++i) {
    void* const to = is_in_ring_ ? static_cast<void*>(ring.host().header(ring.filled() + i))
                                 : elsewhere_.data() + i * slot_bytes_;
    pieces_[i] = {to, slot_bytes_};
    messages_[i].msg_hdr = {};
    messages_[i].msg_hdr.msg_iov = &pieces_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
  }
  const int got = recvmmsg(fd_, messages_.data(), count, MSG_DONTWAIT, nullptr);
  is_empty_ = got < static_cast<int>(count);
  if (got >= 0) return static_cast<unsigned>(got);
  if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) fail("receiving datagrams");
  return 0;
}

std::size_t Socket::bytes(unsigned i) const {
  return (messages_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0 ? 0 : messages_[i].msg_len;
}

}  // namespace tca::trigger
