// What programs that make NVSHMEM's calls check with: `wrong` counts what was not as expected.
#pragma once

#include <nvshmem.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int wrong = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++wrong;
  std::printf("PE %d: WRONG: %s\n", nvshmem_my_pe(), what);
}
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::fflush(nullptr);
  std::_Exit(1);
}
void settle(const char* what) {
  check(cudaGetLastError(), what);
  check(cudaDeviceSynchronize(), what);
}

template <class T>
T* symmetric(std::size_t count) {
  auto* const memory = static_cast<T*>(nvshmem_calloc(count, sizeof(T)));
  if (memory == nullptr) std::_Exit(1);
  return memory;
}
template <class T>
std::vector<T> read(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDefault), "reading");
  return values;
}
// A copy of pageable memory may return before its bytes are there, and the host's calls have a stream of their own.
template <class T>
void write(T* memory, const std::vector<T>& values) {
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyDefault), "writing");
  check(cudaDeviceSynchronize(), "writing");
}

}  // namespace
