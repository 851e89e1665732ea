#include "commit_at_scale.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <utility>

#include "tca/tca.hpp"

namespace tca::bench {

namespace {

// Returns what this process has had of a processor, which other work of the host does not change.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_since(double& last) {
  const double now = processor_seconds();
  return now - std::exchange(last, now);
}

std::uint64_t resident_bytes() {
  std::uint64_t whole = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns what the process has allocated, which pages that were freed before do not hide.
std::uint64_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::uint64_t most_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

constexpr int cells = 4;  // along each side of a rank's cube

}  // namespace

CommitAtScale measure_commit_at_scale(int ranks, const WorldOptions& options) {
  CommitAtScale costs;
  const Grid grid(ranks, {0, 0, 0}, {true, true, true});
  const std::uint64_t before = resident_bytes();
  const double begin = processor_seconds();
  double last = begin;
  const auto body = [&](World& world) {
    const bool tells = world.rank() == 0;
    world.barrier();
    if (tells) costs.up_s = seconds_since(last);
    Halo halo(world, "cube", grid, {cells, cells, cells}, {.corners = true});
    const Window<double> window = world.window<double>(halo.elements());
    halo.add(window);
    world.barrier();
    const std::uint64_t made_bytes = tells ? allocated_bytes() : 0;
    if (tells) costs.made_s = seconds_since(last);
    halo.commit();
    world.barrier();
    if (!tells) return;
    costs.commit_s = seconds_since(last);
    costs.commit_bytes = allocated_bytes() - made_bytes;
    costs.sent = static_cast<std::uint64_t>(halo.bytes());
  };
  World::run_threads(ranks, body, options);
  costs.whole_s = processor_seconds() - begin;
  costs.whole_bytes = most_resident_bytes() - before;
  return costs;
}

}  // namespace tca::bench
