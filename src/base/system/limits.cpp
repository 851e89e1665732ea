#include "base/system/limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>

#include "base/fail.hpp"
#include "base/system/proc.hpp"
#include "base/system/quota.hpp"

namespace tca::base {

namespace {

// A limit that was hit, in words; nothing if it was not.
using Met = std::optional<std::string>;

constexpr std::uint64_t mebibyte = 1 << 20;

std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : no_limit;
}

// Returns whether `used` plus `more` is over `limit`.
bool is_over(std::uint64_t used, std::uint64_t more, std::uint64_t limit) {
  return limit != no_limit && (used >= limit || limit - used < more);
}

// The kernel allows one mapping more than it says, and splits one into three at most.
Met mappings() {
  constexpr std::uint64_t margin = 2;
  const std::uint64_t allowed = read_number("/proc/sys/vm/max_map_count");
  std::ifstream file("/proc/self/maps");
  std::uint64_t used = 0;
  for (std::string line; std::getline(file, line);) ++used;
  if (!is_over(used, margin, allowed)) return std::nullopt;
  return fmt::format(
      "this process has {} mappings of memory, and vm.max_map_count allows {}; raise it (sysctl -w "
      "vm.max_map_count={}, as root)",
      used, allowed, 4 * allowed);
}

Met address_space(std::uint64_t bytes) {
  const std::uint64_t used = read_sum("/proc/self/status", "VmSize:") * 1024, limit = limit_of(RLIMIT_AS);
  if (!is_over(used, bytes, limit)) return std::nullopt;
  return fmt::format("this process has {} MiB of address space, and `ulimit -v` allows {} MiB; raise it",
                     used / mebibyte, limit / mebibyte);
}

Met data(std::uint64_t bytes) {
  const std::uint64_t used = read_sum("/proc/self/status", "VmData:") * 1024, limit = limit_of(RLIMIT_DATA);
  if (!is_over(used, bytes, limit)) return std::nullopt;
  return fmt::format("this process has {} MiB of data, and `ulimit -d` allows {} MiB; raise it",
                     used / mebibyte, limit / mebibyte);
}

// Counts only if the process has locked its memory.
Met locked(std::uint64_t bytes) {
  const std::uint64_t used = read_sum("/proc/self/status", "VmLck:") * 1024, limit = limit_of(RLIMIT_MEMLOCK);
  if (used == 0 || !is_over(used, bytes, limit)) return std::nullopt;
  return fmt::format("this process has locked {} MiB in memory, and `ulimit -l` allows {} MiB; raise it",
                     used / mebibyte, limit / mebibyte);
}

Met promised(std::uint64_t bytes) {
  constexpr std::uint64_t strict = 2;
  if (read_number("/proc/sys/vm/overcommit_memory") != strict) return std::nullopt;
  const std::uint64_t used = read_sum("/proc/meminfo", "Committed_AS:") * 1024,
                      limit = read_sum("/proc/meminfo", "CommitLimit:") * 1024;
  if (!is_over(used, bytes, limit)) return std::nullopt;
  return fmt::format(
      "the system has promised {} MiB of memory and promises {} MiB at most, as vm.overcommit_memory is 2; "
      "raise vm.overcommit_ratio, or set vm.overcommit_memory to 0",
      used / mebibyte, limit / mebibyte);
}

Met memory_of_cgroup(std::uint64_t bytes) {
  const Quota quota = memory_quota();
  if (quota.left == no_limit || quota.left > bytes) return std::nullopt;
  return fmt::format(
      "of the {} MiB that {} allows, {} MiB are left; raise the memory limit of the container or job",
      quota.limit / mebibyte, quota.file, quota.left / mebibyte);
}

Met memory_of_host(std::uint64_t bytes) {
  const std::uint64_t left = read_sum("/proc/meminfo", "MemAvailable:") * 1024;
  if (left > bytes) return std::nullopt;
  return fmt::format("this host has {} MiB of memory left (MemAvailable)", left / mebibyte);
}

Met processes_of_cgroup() {
  const Quota quota = process_quota();
  if (quota.left > 0) return std::nullopt;
  return fmt::format(
      "{} allows {} processes and threads, and all of them are there; raise the limit of the "
      "container or job (docker: --pids-limit)",
      quota.file, quota.limit);
}

// Processes in /proc that are not shown to this user are not counted.
Met processes_of_user() {
  const std::uint64_t limit = limit_of(RLIMIT_NPROC);
  std::uint64_t used = 0;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", unreadable)) {
    const std::string status = entry.path().string() + "/status";
    const std::uint64_t threads = read_sum(status, "Threads:");
    if (threads > 0 && read_sum(status, "Uid:") == getuid()) used += threads;
  }
  if (!is_over(used, 1, limit)) return std::nullopt;
  return fmt::format("user {} has {} processes and threads, and `ulimit -u` allows {}; raise it", getuid(),
                     used, limit);
}

// The second number of "3/417" in /proc/loadavg is that of all threads.
Met processes_of_system() {
  std::ifstream file("/proc/loadavg");
  std::string skipped, of_threads;
  file >> skipped >> skipped >> skipped >> of_threads;
  const std::uint64_t used = std::strtoull(of_threads.c_str() + of_threads.find('/') + 1, nullptr, 10);
  for (const char* name : {"threads-max", "pid_max"}) {
    const std::uint64_t limit = read_number(std::string("/proc/sys/kernel/") + name);
    if (is_over(used, 1, limit))
      return fmt::format("the system has {} threads, and kernel.{} allows {}; raise it", used, name, limit);
  }
  return std::nullopt;
}

Met first_of(std::initializer_list<Met> all) {
  const auto met = std::ranges::find_if(all, [](const Met& one) { return one.has_value(); });
  return met == all.end() ? std::nullopt : *met;
}

Met open_files(int error) {
  if (error == EMFILE)
    return fmt::format("this process may have {} files open (`ulimit -n`); raise it",
                       limit_of(RLIMIT_NOFILE));
  return fmt::format("the system may have {} files open (fs.file-max); raise it",
                     read_number("/proc/sys/fs/file-max"));
}

Met find(int error, std::uint64_t bytes) {
  switch (error) {
    case ENOMEM:
      return first_of({mappings(), address_space(bytes), data(bytes), promised(bytes),
                       memory_of_cgroup(bytes), memory_of_host(bytes)});
    case ENOSPC:  // for an unnamed file in memory; others are on a file system that is full
      return promised(bytes);
    case EAGAIN:  // also for a thread whose stack there is no memory for
      return first_of({locked(bytes), processes_of_cgroup(), processes_of_user(), processes_of_system(),
                       mappings(), address_space(bytes)});
    case EFBIG:
      return fmt::format("files may have {} KiB here (`ulimit -f`); raise it", limit_of(RLIMIT_FSIZE) / 1024);
    case EMFILE:
    case ENFILE:
      return open_files(error);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string limit_met(int error, std::uint64_t bytes) {
  const Met met = find(error, bytes);
  return std::strerror(error) + (met ? ": " + *met : std::string());
}

std::string thread_limit_met(int error) {
  constexpr std::uint64_t without_limit = 2 * mebibyte;  // the stack size that the C library then uses
  const std::uint64_t stack = limit_of(RLIMIT_STACK);
  return limit_met(error, stack == no_limit ? without_limit : stack);
}

}  // namespace tca::base
