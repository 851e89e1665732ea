// The hardware by hand: what a programmer gets from shared memory for exactly one case, without a library.
// OpenTCA's own figures are compared with these limits, which are for stores that stay in the caches.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

#include "contender.hpp"
#include "tca/error.hpp"

namespace tca::bench {

namespace {

using Flag = std::atomic<std::uint32_t>;
constexpr std::size_t line = 64;

// A piece of memory for each rank, mapped by all ranks. It is an anonymous file of rank 0, found through
// /proc.
class Shared {
 public:
  Shared(World& world, std::size_t bytes_per_rank)
      : pitch_((bytes_per_rank + 4095) / 4096 * 4096),
        bytes_(pitch_ * static_cast<std::size_t>(world.size())) {
    struct Place {
      int pid, fd;
    } mine{getpid(), -1};
    if (world.rank() == 0) {
      mine.fd = memfd_create("opentca-bench", MFD_CLOEXEC);
      if (ftruncate(mine.fd, static_cast<off_t>(bytes_)) != 0) mine.fd = -1;
    }
    const Place place = world.all_gather(mine)[0];
    const std::string path = "/proc/" + std::to_string(place.pid) + "/fd/" + std::to_string(place.fd);
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    world.barrier();
    if (mine.fd >= 0) close(mine.fd);
    if (data == MAP_FAILED)
      throw Error(Errc::out_of_memory, "no shared memory for the hand-written exchange");
    close(fd);
    data_ = static_cast<std::byte*>(data);
    std::memset(of(world.rank()), 0, pitch_);
    world.barrier();
  }
  Shared(const Shared&) = delete;
  ~Shared() { munmap(data_, bytes_); }

  std::byte* of(int rank) const { return data_ + pitch_ * static_cast<std::size_t>(rank); }

 private:
  std::size_t pitch_, bytes_;
  std::byte* data_;
};

Flag& flag_at(std::byte* memory) { return *reinterpret_cast<Flag*>(memory); }

void await(const Flag& flag, std::uint32_t step) {
  while (static_cast<std::int32_t>(flag.load(std::memory_order_acquire) - step) < 0) {
  }
}

// Signals by a flag on a cache line of its own. If the message has bytes, a memcpy into the other's memory
// precedes it.
class HandPingPong final : public PingPong {
 public:
  HandPingPong(World& world, std::size_t bytes)
      : bytes_(bytes), shared_(world, line + 2 * bytes), me_(world.rank()) {
    fabric = "hand";
    protocol = bytes == 0 ? "flag" : "memcpy and flag";
    peer = bytes == 0 ? "flag" : "memcpy";
  }

  std::span<std::byte> sent() override { return {shared_.of(me_) + line + bytes_, bytes_}; }
  std::span<const std::byte> arrived() const override { return {shared_.of(me_) + line, bytes_}; }

  void send() override {
    if (me_ == 0) ++step_;
    std::byte *mine = shared_.of(me_), *theirs = shared_.of(1 - me_);
    std::memcpy(theirs + line, mine + line + bytes_, bytes_);
    flag_at(theirs).store(step_, std::memory_order_release);
  }
  void receive() override {
    if (me_ == 1) ++step_;
    await(flag_at(shared_.of(me_)), step_);
  }

 private:
  std::size_t bytes_;
  Shared shared_;
  int me_;
  std::uint32_t step_ = 0;
};

void copy_rows(double* to, std::size_t to_pitch, const double* from, std::size_t from_pitch,
               const Face& face) {
  for (std::size_t row = 0; row < face.rows; ++row, to += to_pitch, from += from_pitch) {
    if (face.run == 1) {
      *to = *from;
    } else {
      std::memcpy(to, from, face.run * sizeof(double));
    }
  }
}

// A rank's memory holds four flags (arrived from the left and the right, fetched by the left and the right),
// the cube, and two pairs of staging buffers.
class HandFaces : public FaceExchange {
 public:
  HandFaces(World& world, const Face& face, const std::string& way)
      : face_(face),
        shared_(world, 4 * line + (face.cube() + 4 * face.elements()) * sizeof(double)),
        me_(world.rank()),
        left_((me_ + world.size() - 1) % world.size()),
        right_((me_ + 1) % world.size()) {
    fabric = "hand";
    protocol = way;
    peer = "hand-" + way;
    guarded = way != "direct";
  }

  double* cube() override { return cube_of(me_); }

 protected:
  enum Side { low, high };

  double* cube_of(int rank) const { return reinterpret_cast<double*>(shared_.of(rank) + 4 * line); }
  double* buffer(int rank, Side side) const {
    return cube_of(rank) + face_.cube() + (step_ % 2 * 2 + static_cast<std::size_t>(side)) * face_.elements();
  }
  Flag& arrived(int rank, Side side) const {
    return flag_at(shared_.of(rank) + static_cast<std::size_t>(side) * line);
  }
  Flag& fetched(int rank, Side side) const {
    return flag_at(shared_.of(rank) + (2 + static_cast<std::size_t>(side)) * line);
  }

  void tell_neighbours() const {
    arrived(left_, high).store(step_, std::memory_order_release);
    arrived(right_, low).store(step_, std::memory_order_release);
  }
  void await_neighbours() const {
    await(arrived(me_, low), step_);
    await(arrived(me_, high), step_);
  }

  Face face_;
  Shared shared_;
  int me_, left_, right_;
  std::uint32_t step_ = 0;
};

class HandDirect final : public HandFaces {
  using HandFaces::HandFaces;
  void exchange() override {
    ++step_;
    const double* mine = cube();
    copy_rows(cube_of(left_) + face_.high_ghost(), face_.pitch, mine + face_.low_edge(), face_.pitch, face_);
    copy_rows(cube_of(right_) + face_.low_ghost(), face_.pitch, mine + face_.high_edge(), face_.pitch, face_);
    tell_neighbours();
    await_neighbours();
  }
};

class HandPull final : public HandFaces {
  using HandFaces::HandFaces;
  void exchange() override {
    ++step_;
    tell_neighbours();
    await_neighbours();
    double* mine = cube();
    copy_rows(mine + face_.low_ghost(), face_.pitch, cube_of(left_) + face_.high_edge(), face_.pitch, face_);
    copy_rows(mine + face_.high_ghost(), face_.pitch, cube_of(right_) + face_.low_edge(), face_.pitch, face_);
    fetched(left_, high).store(step_, std::memory_order_release);
    fetched(right_, low).store(step_, std::memory_order_release);
    await(fetched(me_, low), step_);
    await(fetched(me_, high), step_);
  }
};

class HandStaged final : public HandFaces {
  using HandFaces::HandFaces;
  void exchange() override {
    ++step_;
    double* mine = cube();
    copy_rows(buffer(me_, low), face_.run, mine + face_.low_edge(), face_.pitch, face_);
    copy_rows(buffer(me_, high), face_.run, mine + face_.high_edge(), face_.pitch, face_);
    tell_neighbours();
    await_neighbours();
    copy_rows(mine + face_.low_ghost(), face_.pitch, buffer(left_, high), face_.run, face_);
    copy_rows(mine + face_.high_ghost(), face_.pitch, buffer(right_, low), face_.run, face_);
  }
};

}  // namespace

std::unique_ptr<PingPong> hand_ping_pong(World& world, std::size_t bytes) {
  return std::make_unique<HandPingPong>(world, bytes);
}

std::unique_ptr<FaceExchange> hand_faces(World& world, const Face& face, const std::string& way) {
  if (way == "direct") return std::make_unique<HandDirect>(world, face, way);
  if (way == "pull") return std::make_unique<HandPull>(world, face, way);
  return std::make_unique<HandStaged>(world, face, way);
}

}  // namespace tca::bench
