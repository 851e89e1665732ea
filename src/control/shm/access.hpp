// Finds out why one process may not open another's files through /proc: the system only reports EACCES.
#pragma once

#include <cstdint>
#include <string>

namespace tca::shm {

// The kernel compares these between the two processes (ptrace(2), "Ptrace access mode checking").
struct Identity {
  std::int32_t pid = 0;
  std::uint32_t user = 0, group = 0;  // effective
  std::uint32_t user_namespace = 0;
  std::uint32_t is_dumpable = 1;
  std::uint64_t capabilities = 0;  // permitted
};

Identity own_identity();

// Says why this process could not open another's file through /proc, given the errno, and what to do about
// it.
std::string why_no_access(const Identity& other, int error);

}  // namespace tca::shm
