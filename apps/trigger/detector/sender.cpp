#include "trigger/detector/sender.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>
#include <vector>

#include "tca/device/memory.hpp"
#include "trigger/detector/spoken.hpp"

namespace tca::trigger {
namespace {

// The payloads of a link until they repeat, and that of a last datagram which has fewer events.
class Payloads {
 public:
  Payloads(const Run& run, const Link& link) : run_(run), link_(link), distinct_(link.distinct(run)) {
    for (std::uint64_t index = 0; index < distinct_; ++index) all_.push_back(made(index, run.batch));
    const std::uint64_t last = link.datagrams(run) - 1;
    if (const std::uint32_t events = events_of(run, link.sequence(last)); events < run.batch)
      short_ = made(last, events);
  }

  const std::vector<std::byte>& of(std::uint64_t index) const {
    const bool is_short = events_of(run_, link_.sequence(index)) < run_.batch;
    return is_short ? short_ : all_[index % distinct_];
  }

 private:
  std::vector<std::byte> made(std::uint64_t index, std::uint32_t events) const {
    std::vector<std::vector<Hit>> hits;
    for (std::uint32_t event = 0; event < events; ++event)
      hits.push_back(make_event(run_.physics, link_.physical_event(run_, index, event)).hits);
    return pack(hits);
  }

  const Run& run_;
  const Link& link_;
  std::uint64_t distinct_;
  std::vector<std::vector<std::byte>> all_;
  std::vector<std::byte> short_;
};

// Sends up to so many datagrams in a call.
class Outbox {
 public:
  explicit Outbox(int port) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    is_open_ = fd_ >= 0 && connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() { close(fd_); }

  bool is_open() const { return is_open_; }

  void add(const Header& header, const std::vector<std::byte>& payload) {
    if (count_ == most) flush();
    headers_[count_] = header;
    headers_[count_].stamp_ns = device::now_ns();
    pieces_[count_] = {iovec{&headers_[count_], sizeof header},
                       iovec{const_cast<std::byte*>(payload.data()), payload.size()}};
    messages_[count_].msg_hdr = {};
    messages_[count_].msg_hdr.msg_iov = pieces_[count_].data();
    messages_[count_].msg_hdr.msg_iovlen = 2;
    ++count_;
  }
  // The kernel may take fewer than it is given.
  void flush() {
    for (unsigned sent = 0; sent < count_ && is_open_;) {
      const int taken = sendmmsg(fd_, messages_.data() + sent, count_ - sent, 0);
      if (taken > 0) sent += static_cast<unsigned>(taken);
      is_open_ = taken > 0 || errno == EINTR || errno == ENOBUFS || errno == EAGAIN;
    }
    count_ = 0;
  }

 private:
  static constexpr unsigned most = 32;

  int fd_;
  bool is_open_;
  unsigned count_ = 0;
  std::array<Header, most> headers_{};
  std::array<std::array<iovec, 2>, most> pieces_{};
  std::array<mmsghdr, most> messages_{};
};

// Sleeps as far as sleep is precise, and then looks at the clock.
void wait_until(std::uint64_t when_ns) {
  constexpr std::uint64_t imprecise_ns = 80000;
  for (std::uint64_t now = device::now_ns(); now < when_ns; now = device::now_ns()) {
    if (when_ns - now > imprecise_ns)
      std::this_thread::sleep_for(std::chrono::nanoseconds(when_ns - now - imprecise_ns));
    else
      std::this_thread::yield();
  }
}

void send_all(const Run& run, const Link& link, const Payloads& payloads, Outbox& outbox) {
  const std::uint64_t begin = device::now_ns();
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t delayed = none;
  const auto add = [&](std::uint64_t index) {
    const std::uint64_t sequence = link.sequence(index);
    const std::vector<std::byte>& payload = payloads.of(index);
    const Header header{.magic = Header::right_magic,
                        .run = run.number,
                        .sequence = sequence,
                        .first_event = sequence * run.batch,
                        .stamp_ns = 0,
                        .events = events_of(run, sequence),
                        .bytes = static_cast<std::uint32_t>(sizeof(Header) + payload.size())};
    outbox.add(header, payload);
    if (run.faults.doubles(run.physics.seed, sequence)) outbox.add(header, payload);
  };
  for (std::uint64_t index = 0; index < link.datagrams(run) && outbox.is_open(); ++index) {
    const std::uint64_t sequence = link.sequence(index);
    const double seconds = static_cast<double>((sequence + 1) * run.batch) / run.rate;
    if (const std::uint64_t due = begin + static_cast<std::uint64_t>(1e9 * seconds); due > device::now_ns()) {
      outbox.flush();
      wait_until(due);
    }
    if (run.faults.loses(run.physics.seed, sequence)) continue;
    if (delayed == none && run.faults.delays(run.physics.seed, sequence)) {
      delayed = index;
      continue;
    }
    add(index);
    if (delayed != none) add(std::exchange(delayed, none));
  }
  if (delayed != none) add(delayed);
  outbox.flush();
}

// It runs beside the rank, which may be bound to one processor and would have bound this process as well.
void run_anywhere() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

int run_detector(const Run& run, const Link& link, int port) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  run_anywhere();
  const Payloads payloads(run, link);
  Outbox outbox(port);
  char word = 0;
  if (!outbox.is_open() || write(STDOUT_FILENO, &ready, 1) != 1) return 1;
  if (read(STDIN_FILENO, &word, 1) != 1) return 1;  // nobody is there who could say so
  send_all(run, link, payloads, outbox);
  return outbox.is_open() ? 0 : 1;
}

}  // namespace tca::trigger
