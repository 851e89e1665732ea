// An Ethernet switch for hosts that are network namespaces, whose cables have a delay and a rate:
//   host_switch DELAY_US RATE_MBIT PORT...
// PORT is a network device. A frame that comes in by it occupies the cable for bytes / rate after the frames
// before it, and leaves the switch a delay later. The switch prints "ready" and runs until its standard input
// ends. It exists because many kernels lack the queueing disciplines for this, netem and tbf.
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Address = std::array<unsigned char, ETH_ALEN>;

// The packet socket gives and takes frames with a virtio_net_hdr in front. So segments that the sender's
// system has left to its card to split, and their checksums, pass unchanged.
constexpr std::size_t header_bytes = 10;  // of a virtio_net_hdr, whose own header file is not valid C++
constexpr std::size_t most_bytes = header_bytes + ETH_HLEN + 65536;
constexpr std::size_t most_queued = std::size_t{4} << 20;  // further frames are lost, as in any switch

struct Frame {
  Clock::time_point due;
  std::vector<char> bytes;

  Address to() const { return address(0); }
  Address from() const { return address(ETH_ALEN); }

 private:
  Address address(std::size_t at) const {
    Address found;
    std::memcpy(found.data(), bytes.data() + header_bytes + at, found.size());
    return found;
  }
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "host_switch: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

class Port {
 public:
  explicit Port(const char* device)
      : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL))) {
    if (socket_ < 0) fail("a packet socket");
    const int on = 1, room = most_queued;
    if (setsockopt(socket_, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) fail("whole segments");
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(socket_, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    sockaddr_ll place{};
    place.sll_family = AF_PACKET;
    place.sll_protocol = htons(ETH_P_ALL);
    place.sll_ifindex = static_cast<int>(if_nametoindex(device));
    if (place.sll_ifindex == 0) fail(device);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) fail(device);
  }

  int socket() const { return socket_; }

  // Sends a frame. Errors are ignored: an unplugged cable loses what is sent.
  void send(const Frame& frame) const { (void)!write(socket_, frame.bytes.data(), frame.bytes.size()); }

  // Takes in the frames that have arrived. `learn` is told each sender's address.
  template <class Learn>
  void take_in(std::chrono::nanoseconds delay, double ns_a_byte, Learn learn) {
    std::array<char, most_bytes> room;
    while (true) {
      sockaddr_ll source{};
      socklen_t length = sizeof source;
      const ssize_t bytes =
          recvfrom(socket_, room.data(), room.size(), 0, reinterpret_cast<sockaddr*>(&source), &length);
      if (bytes < 0) return;
      if (source.sll_pkttype == PACKET_OUTGOING || static_cast<std::size_t>(bytes) < header_bytes + ETH_HLEN)
        continue;
      if (queued_ + static_cast<std::size_t>(bytes) > most_queued) continue;
      const auto lasts = std::chrono::nanoseconds(static_cast<long>(ns_a_byte * static_cast<double>(bytes)));
      free_ = std::max(free_, Clock::now()) + lasts;
      queue_.push_back({free_ + delay, {room.data(), room.data() + bytes}});
      queued_ += static_cast<std::size_t>(bytes);
      learn(queue_.back().from());
    }
  }

  const Frame* next() const { return queue_.empty() ? nullptr : &queue_.front(); }
  void pop() {
    queued_ -= queue_.front().bytes.size();
    queue_.pop_front();
  }

 private:
  int socket_;
  std::deque<Frame> queue_;
  std::size_t queued_ = 0;
  Clock::time_point free_{};  // when the cable will have carried all frames received so far
};

class Switch {
 public:
  Switch(std::chrono::nanoseconds delay, double ns_a_byte) : delay_(delay), ns_a_byte_(ns_a_byte) {}

  void plug_in(const char* device) { ports_.emplace_back(device); }

  void run() {
    std::vector<pollfd> ready{{STDIN_FILENO, POLLIN, 0}};
    for (const Port& port : ports_) ready.push_back({port.socket(), POLLIN, 0});
    while ((ready[0].revents & (POLLIN | POLLHUP)) == 0) {
      const Clock::time_point due = deliver();
      const auto left = std::max(due - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      const timespec wait{seconds.count(), (left - seconds).count()};
      ppoll(ready.data(), ready.size(), &wait, nullptr);
      for (std::size_t i = 0; i < ports_.size(); ++i)
        ports_[i].take_in(delay_, ns_a_byte_, [&](const Address& sender) { where_[sender] = i; });
    }
  }

 private:
  // Forwards the frames that are due. Returns when the next one will be.
  Clock::time_point deliver() {
    Clock::time_point next = Clock::now() + std::chrono::seconds(1);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const Frame* frame = ports_[i].next();
      for (; frame != nullptr && frame->due <= Clock::now(); frame = ports_[i].next()) {
        forward(i, *frame);
        ports_[i].pop();
      }
      if (frame != nullptr) next = std::min(next, frame->due);
    }
    return next;
  }

  void forward(std::size_t from, const Frame& frame) const {
    const auto known = where_.find(frame.to());
    for (std::size_t i = 0; i < ports_.size(); ++i)
      if (known == where_.end() ? i != from : i == known->second) ports_[i].send(frame);
  }

  std::chrono::nanoseconds delay_;
  double ns_a_byte_;
  std::vector<Port> ports_;
  std::map<Address, std::size_t> where_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: host_switch DELAY_US RATE_MBIT PORT...\n");
    return 2;
  }
  const double megabits = std::atof(arguments[2]);
  Switch all(std::chrono::microseconds(std::atol(arguments[1])), 8e3 / megabits);
  for (int i = 3; i < count; ++i) all.plug_in(arguments[i]);
  std::puts("ready");
  std::fflush(stdout);
  all.run();
  return 0;
}
