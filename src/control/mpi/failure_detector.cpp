#include "control/mpi/failure_detector.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/codec.hpp"
#include "control/mpi/call.hpp"

namespace tca::mpi {

namespace {

constexpr int connect_within_ms = 500;           // per address; the next one may be the one that answers
constexpr std::chrono::seconds hello_within{3};  // a rank sends it with its very next call

// Returns the IPv4 addresses of this host in network order, the loopback last. Between ranks of one host
// the loopback may be the only one.
std::vector<std::uint32_t> own_addresses() {
  std::vector<std::uint32_t> addresses, loopback;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    if ((entry->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, entry->ifa_addr, sizeof address);
    auto& into = (entry->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : addresses;
    into.push_back(address.sin_addr.s_addr);
  }
  freeifaddrs(list);
  addresses.insert(addresses.end(), loopback.begin(), loopback.end());
  return addresses;
}

sockaddr_in address_of(std::uint32_t address, std::uint16_t port) {
  sockaddr_in full{};
  full.sin_family = AF_INET;
  full.sin_addr.s_addr = address;
  full.sin_port = port;
  return full;
}

// Returns a connected socket, or -1.
int connect_within(std::uint32_t address, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const sockaddr_in full = address_of(address, port);
  int error = connect(fd, reinterpret_cast<const sockaddr*>(&full), sizeof full) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd ready{fd, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (poll(&ready, 1, connect_within_ms) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = ETIMEDOUT;
  }
  if (error == 0) return fd;
  close(fd);
  return -1;
}

// Returns the ranks that `rank` is connected to.
std::set<int> neighbours(int rank, int size) {
  std::set<int> all;
  for (int distance = 1; distance < size; distance *= 2) {
    all.insert((rank + distance) % size);
    all.insert((rank + size - distance) % size);
  }
  all.erase(rank);
  return all;
}

}  // namespace

// A message over a connection. All have the same size, and the first one says which rank is speaking.
struct FailureDetector::Notice {
  std::int32_t rank = 0;
  Presence how = Presence::here;
  std::uint64_t secret = 0;
  std::int32_t origin = -1;  // see control::Trouble; -1: the rank itself
  char reason[236] = {};
};

FailureDetector::FailureDetector(int rank, int size, std::chrono::milliseconds time_limit)
    : rank_(rank), size_(size), time_limit_(time_limit), gone_(static_cast<std::size_t>(size)) {
  if (getrandom(&secret_, sizeof secret_, 0) != sizeof secret_ || size == 1) return;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  wake_ = eventfd(0, EFD_CLOEXEC);
  const sockaddr_in any = address_of(INADDR_ANY, 0);
  if (listener_ >= 0 && bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
      listen(listener_, SOMAXCONN) == 0 && wake_ >= 0)
    return;
  if (listener_ >= 0) close(listener_);
  listener_ = -1;
}

FailureDetector::~FailureDetector() {
  thread_.stop();
  for (const Connection& connection : connections_)
    if (connection.fd >= 0) close(connection.fd);
  if (listener_ >= 0) close(listener_);
  if (wake_ >= 0) close(wake_);
}

std::string FailureDetector::card() const {
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  const bool listens =
      listener_ >= 0 && getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &length) == 0;
  const std::vector<std::uint32_t> addresses = listens ? own_addresses() : std::vector<std::uint32_t>();
  base::Writer writer;
  writer.put(secret_).put(bound.sin_port).put(addresses.size());
  for (const std::uint32_t address : addresses) writer.put(address);
  const base::Blob& blob = writer.blob();
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

void FailureDetector::begin(const std::vector<std::string>& cards) {
  for (const std::string& text : cards) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    const base::Blob blob(first, first + text.size());
    base::Reader reader(blob);
    Card& card = cards_.emplace_back();
    card.secret = reader.get<std::uint64_t>();
    card.port = reader.get<std::uint16_t>();
    for (auto n = reader.get<std::size_t>(); n > 0; --n)
      card.addresses.push_back(reader.get<std::uint32_t>());
    world_secret_ += card.secret;
  }
  if (listener_ < 0) return;
  thread_ = {"watching the other ranks", [this](const std::stop_token& stop) { run(stop); }};
}

std::optional<Gone> FailureDetector::gone(int rank) const {
  const std::lock_guard lock(mutex_);
  return gone_[static_cast<std::size_t>(rank)];
}

void FailureDetector::leave(Presence how, const control::Trouble& trouble) {
  const std::lock_guard lock(mutex_);
  if (farewell_) return;
  farewell_.emplace(Gone{how, trouble, {}});
  tell(notice_of(rank_, *farewell_));
}

// Of two ranks the higher one connects. Everybody was listening before the cards were exchanged.
void FailureDetector::run(const std::stop_token& stop) {
  const std::stop_callback wakes(stop, [this] { eventfd_write(wake_, 1); });
  for (const int other : neighbours(rank_, size_))
    if (other < rank_) connect_to(other);
  // While there is no file descriptor left for a rank that connects, the listener would wake this thread at
  // once, again and again. So it is then left out of one poll.
  bool accepts = true;
  for (;;) {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}, {accepts ? listener_ : -1, POLLIN, 0}};
    bool looks_for_stuck = false, looks_again = !accepts;
    {
      const std::lock_guard lock(mutex_);
      for (const std::optional<Gone>& gone : gone_) looks_for_stuck |= gone && gone->how != Presence::left;
      for (const Connection& connection : connections_) {
        polled.push_back({connection.fd, POLLIN, 0});
        looks_again |= connection.rank < 0;
      }
    }
    const int patience_ms = looks_for_stuck || looks_again ? static_cast<int>(look_again.count()) : -1;
    if (poll(polled.data(), polled.size(), patience_ms) < 0) continue;
    if (polled[0].revents != 0) {
      // Ranks that have connected meanwhile are told why this rank has gone.
      const std::lock_guard lock(mutex_);
      while (accept_one()) {
      }
      return;
    }
    if (looks_for_stuck) look_for_stuck();
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 2; i < polled.size(); ++i)
      if (polled[i].revents != 0) listen_to(i - 2);
    drop_strangers();
    accepts = polled[1].revents == 0 || accept_one();
  }
}

void FailureDetector::look_for_stuck() {
  const std::uint32_t calls = InMpi::count();
  if (calls % 2 == 0 || calls != calls_) stuck_ = base::Waited(most_between_looks);
  calls_ = calls;
  stuck_.look();
  if (stuck_.so_far() < time_limit_) return;
  std::fprintf(
      stderr,
      "rank %d: another rank has died or failed, and MPI has not returned from a call for %.1f s since, so "
      "this process ends\n",
      rank_, std::chrono::duration<double>(stuck_.so_far()).count());
  std::fflush(stderr);
  _exit(static_cast<int>(Errc::rank_lost));
}

void FailureDetector::connect_to(int rank) {
  const Card& card = cards_[static_cast<std::size_t>(rank)];
  for (const std::uint32_t address : card.addresses) {
    const int fd = connect_within(address, card.port);
    if (fd < 0) continue;
    const Notice hello{rank_, Presence::here, world_secret_};
    const std::lock_guard lock(mutex_);
    send(fd, &hello, sizeof hello, MSG_NOSIGNAL);
    return add({fd, rank});
  }
}

bool FailureDetector::accept_one() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) add({fd});
  return fd >= 0;
}

// Tells a new connection again what it has missed.
void FailureDetector::add(Connection connection) {
  const auto say = [&](int rank, const std::optional<Gone>& gone) {
    if (!gone) return;
    const Notice notice = notice_of(rank, *gone);
    send(connection.fd, &notice, sizeof notice, MSG_NOSIGNAL | MSG_DONTWAIT);
  };
  for (int rank = 0; rank < size_; ++rank) say(rank, gone_[static_cast<std::size_t>(rank)]);
  say(rank_, farewell_);
  connections_.push_back(std::move(connection));
}

FailureDetector::Notice FailureDetector::notice_of(int rank, const Gone& gone) const {
  Notice notice{rank, gone.how, world_secret_};
  notice.origin = gone.trouble.origin.value_or(-1);
  gone.trouble.reason.copy(notice.reason, sizeof notice.reason - 1);
  return notice;
}

void FailureDetector::listen_to(std::size_t index) {
  Connection& connection = connections_[index];
  char bytes[4096];
  const ssize_t got = recv(connection.fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return lose(connection);
  connection.heard.insert(connection.heard.end(), bytes, bytes + got);
  while (connection.fd >= 0 && connection.heard.size() >= sizeof(Notice)) {
    Notice notice;
    std::memcpy(&notice, connection.heard.data(), sizeof notice);
    connection.heard.erase(connection.heard.begin(),
                           connection.heard.begin() + static_cast<std::ptrdiff_t>(sizeof notice));
    take(connection, notice);
  }
}

void FailureDetector::take(Connection& from, const Notice& notice) {
  if (notice.secret != world_secret_ || notice.rank < 0 || notice.rank >= size_) {
    from.rank = -1;  // a stranger, whose loss means nothing
    return lose(from);
  }
  if (notice.how == Presence::here)
    from.rank = notice.rank;
  else if (note(notice))
    tell(notice);
}

// Drops connections that say nothing, which belong to no rank, and removes the lost ones from the list.
void FailureDetector::drop_strangers() {
  for (Connection& connection : connections_) {
    if (connection.fd < 0 || connection.rank >= 0) continue;
    connection.silent.look();
    if (connection.silent.so_far() >= hello_within) lose(connection);
  }
  std::erase_if(connections_, [](const Connection& connection) { return connection.fd < 0; });
}

// The connection keeps its place in the list for now, since later ones are still to be looked at.
void FailureDetector::lose(Connection& connection) {
  close(connection.fd);
  connection.fd = -1;
  if (connection.rank < 0 || farewell_) return;
  const Notice notice{connection.rank, Presence::died, world_secret_};
  if (note(notice)) tell(notice);
}

// Notes that a rank has gone; returns whether this is news.
bool FailureDetector::note(const Notice& notice) {
  std::optional<Gone>& gone = gone_[static_cast<std::size_t>(notice.rank)];
  if (gone) return false;
  gone = {notice.how,
          {std::string(notice.reason, strnlen(notice.reason, sizeof notice.reason)),
           notice.origin < 0 ? std::nullopt : std::optional<int>(notice.origin)},
          std::chrono::steady_clock::now()};
  return true;
}

// No send has to block: so little is ever said that it fits into the socket's buffer.
void FailureDetector::tell(const Notice& notice) {
  for (const Connection& connection : connections_)
    if (connection.fd >= 0) send(connection.fd, &notice, sizeof notice, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace tca::mpi
