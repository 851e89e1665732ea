// The receiving end of a link: a UDP socket of this host alone, whose datagrams the operating system writes into the ring.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trigger/link.hpp"
#include "trigger/ring.hpp"

namespace tca::trigger {

class Socket {
 public:
  // Port 0 takes any that is free. Throws Error{invalid_argument} where the port is in use.
  Socket(int port, std::size_t slot_bytes);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  int port() const { return port_; }
  int fd() const { return fd_; }
  // What the operating system keeps for datagrams that have not been received yet.
  std::size_t buffer_bytes() const { return buffer_bytes_; }

  static constexpr unsigned most = 32;  // datagrams of a call

  // Receives datagrams that have come, without waiting for any: into free slots of the ring, behind those that are
  // filled, or, where none is free, elsewhere. Returns how many; `bytes(i)` says how long one is, 0 if it was too long, and
  // `datagram(i)` where it is.
  unsigned receive(const SlotRing& ring);
  std::size_t bytes(unsigned i) const;
  const Header& datagram(unsigned i) const { return *static_cast<const Header*>(pieces_[i].iov_base); }
  bool is_in_ring() const { return is_in_ring_; }
  // Whether there were fewer datagrams than the last call would have received.
  bool is_empty() const { return is_empty_; }

 private:
  void enlarge_buffer();

  int fd_ = -1, port_ = 0;
  std::size_t buffer_bytes_ = 0, slot_bytes_;
  bool is_in_ring_ = true, is_empty_ = true;
  std::array<iovec, most> pieces_{};
  std::array<mmsghdr, most> messages_{};
  std::vector<std::byte> elsewhere_;
};

// That much is asked for: a tenth of a second of 600 MB/s.
inline constexpr std::size_t wanted_buffer = std::size_t{64} << 20;

}  // namespace tca::trigger
