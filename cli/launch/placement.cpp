// Decides on which processors the ranks of a launch run.
#include "cli/launch/placement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "base/system/cgroup.hpp"
#include "base/text/ranks.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// From the kernel's include/linux/sched.h, as field 9 of /proc/PID/stat has them.
constexpr unsigned long is_io_worker = 0x10, is_kernel_thread = 0x200000;

// Whether a thread belongs to a program that is running. The kernel's own threads are bound to each
// processor.
bool is_of_a_program(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  std::string all;
  std::getline(file, all, '\0');  // an iterator would throw where the thread ends meanwhile
  char state = 0;
  unsigned long flags = 0;
  // Behind the name, which may hold any characters: state, five numbers, flags.
  const std::size_t name_ends = all.rfind(") ");
  if (name_ends == std::string::npos) return false;
  std::sscanf(all.c_str() + name_ends, ") %c %*s %*s %*s %*s %*s %lu", &state, &flags);
  return state != 'Z' && state != 'X' && (flags & (is_io_worker | is_kernel_thread)) == 0;
}

// Adds the processors of `mine` to which a thread is bound. One that may run on all of them is not.
void add_bound(const fs::path& thread, const std::vector<int>& mine, std::set<int>& taken) {
  const std::vector<int> theirs = affinity_of(std::atoi(thread.filename().c_str()));
  std::vector<int> both;
  std::set_intersection(mine.begin(), mine.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
  if (both.empty() || both.size() == mine.size() || !is_of_a_program(thread)) return;
  taken.insert(both.begin(), both.end());
}

// Returns the processors of `mine` to which threads of any program on this host are bound.
std::vector<int> find_taken(const std::vector<int>& mine) {
  std::set<int> taken;
  std::error_code gone;
  for (fs::directory_iterator process("/proc", gone), end; !gone && process != end; process.increment(gone)) {
    if (std::atoi(process->path().filename().c_str()) == 0) continue;
    std::error_code ended;
    fs::directory_iterator thread(process->path() / "task", ended);
    for (; !ended && thread != fs::directory_iterator(); thread.increment(ended))
      add_bound(thread->path(), mine, taken);
  }
  return {taken.begin(), taken.end()};
}

bool is_number_above_1(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number > 1;
}

// A variable of somebody else's, or null where it is unset or empty.
const char* foreign(const char* name) {
  const char* const set = std::getenv(name);
  return set != nullptr && *set != '\0' ? set : nullptr;
}

std::string asked_threads() {
  // OMP_NUM_THREADS may be a list, one number for each level.
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    if (const char* set = foreign(name))
      if (is_number_above_1(set) || std::strchr(set, ',') != nullptr) return fmt::format("{}={}", name, set);
  for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (const char* set = foreign(name))
      if (std::string_view(set) != "false") return fmt::format("{}={}", name, set);
  return {};
}

// Returns the processors of cores on which nobody is bound, before or without the others.
std::vector<int> in_order(const Host& host, bool others_too) {
  std::set<int> taken_cores;
  for (const Cpu& cpu : host.cpus)
    if (std::binary_search(host.taken.begin(), host.taken.end(), cpu.number)) taken_cores.insert(cpu.core);
  std::vector<int> order;
  for (const bool taken : {false, true})
    for (const Cpu& cpu : host.cpus)
      if (taken_cores.contains(cpu.core) == taken && (!taken || others_too)) order.push_back(cpu.number);
  return order;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Returns why ranks are not bound where the user leaves it open; empty where they are.
std::string reason_against(int ranks, const Host& host, std::size_t free) {
  const auto count = static_cast<std::size_t>(ranks);
  if (ranks == 1) return "a single rank competes with nobody for a core";
  if (!host.threads.empty()) return host.threads + " asks for threads, and a bound rank has one processor";
  if (count > host.cpus.size())
    return fmt::format("{} ranks are more than the {} that they may use", ranks,
                       counted(host.cpus.size(), "processor"));
  if (ranks > host.allowed)
    return fmt::format("{} ranks share the time of {:.3g} processors, all that their cgroup allows", ranks,
                       host.allowed);
  if (count > free)
    return fmt::format("others are bound to processor{} {}, so that {} ranks find {} free",
                       host.taken.size() == 1 ? "" : "s", base::list_ranks(host.taken), ranks,
                       counted(free, "processor"));
  return {};
}

}  // namespace

Host look_at_host() {
  Host host{
      .cpus = usable_cpus(), .taken = {}, .allowed = base::processors_allowed(), .threads = asked_threads()};
  host.taken = find_taken(affinity_of(0));
  return host;
}

Placement place(Bind bind, int ranks, const Host& host) {
  if (bind == Bind::none || host.cpus.empty()) return {};
  Placement placement;
  const std::vector<int> free = in_order(host, false);
  if (bind == Bind::automatic) placement.why = reason_against(ranks, host, free.size());
  if (!placement.why.empty()) return placement;
  const std::vector<int> order = bind == Bind::automatic ? free : in_order(host, true);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    placement.cpus.push_back(order[rank % order.size()]);
  if (placement.cpus.size() > order.size())
    placement.why = fmt::format("{} ranks share {}", ranks, counted(order.size(), "processor"));
  else if (placement.cpus.size() > free.size())
    placement.why = "others are bound there too";
  return placement;
}

// Joins ranks whose processors are equally far apart, and says once what starts over.
std::string Placement::describe() const {
  if (!binds()) return why.empty() ? "not bound" : "not bound: " + why;
  const auto again = std::find(cpus.begin() + 1, cpus.end(), cpus.front());
  const auto once = static_cast<std::size_t>(again - cpus.begin());
  std::string text;
  for (std::size_t first = 0, last = 0; first < once; first = last + 1) {
    const int step = first + 1 < once ? cpus[first + 1] - cpus[first] : 0;
    for (last = first; step > 0 && last + 1 < once && cpus[last + 1] == cpus[last] + step;) ++last;
    text += text.empty() ? "" : ", ";
    if (first == last)
      text += fmt::format("rank {} on processor {}", first, cpus[first]);
    else
      text += fmt::format("ranks {} to {} on processors {}{} to {}", first, last, cpus[first],
                          step == 1 ? "" : fmt::format(", {}", cpus[first + 1]), cpus[last]);
  }
  if (once < cpus.size()) text += fmt::format(", and so on from rank {}", once);
  return why.empty() ? text : text + "; " + why;
}

// The lock is on the folder /proc, which is the same one for all who see each other's processes. It is gone
// with the last process that holds it. A program that holds it for long is not waited for.
PlacementTurn::PlacementTurn() : lock_(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto until = std::chrono::steady_clock::now() + 2s;
  while (lock_.is_open() && flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(2ms);
}

}  // namespace tca::tool
