// The calls of the host. No exception leaves them: each becomes a message with this PE and the call, and a status, a null
// pointer or the end of the process.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "nvshmem/device.hpp"
#include "nvshmem/session.hpp"
#include "tca/error.hpp"
#include "tca_nvshmem/host.h"

namespace tca::nvshmem {
namespace {

void say(const char* call, const std::string& sentence) {
  const std::string who =
      session() != nullptr ? fmt::format("PE {}: ", session()->pe().rank()) : std::string();
  fmt::print(stderr, "nvshmem: {}{}: {}\n", who, call, sentence);
  std::fflush(stderr);
}

// Says what is being handled, and returns the exit code that fits it.
int say_exception(const char* call) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    say(call, error.what());
    return error.exit_code();
  } catch (const std::exception& other) {
    say(call, other.what());
    return 2;
  } catch (...) {
    say(call, "an error of unknown type");
    return 1;
  }
}

// For calls that cannot say that they have failed.
template <class Body>
auto or_end(const char* call, const Body& body) noexcept {
  try {
    return body();
  } catch (...) {
    tca_nvshmem_exit(say_exception(call));
    std::abort();
  }
}

Session& here() {
  if (session() == nullptr) throw Misuse("nvshmem_init has not come before it, or nvshmem_finalize has");
  return *session();
}

void check_call(cudaError_t error) {
  if (error == cudaSuccess) return;
  here().pe().world().check();  // if it knows better
  throw Error(Errc::device_failed, cudaGetErrorString(error));
}

const Teams& check_team(nvshmem_team_t team) {
  const Teams& teams = here().pe().teams();
  Teams::require_team(team);
  return teams;
}

// The address at another PE of symmetric memory of this one.
void* at(const void* memory, std::size_t bytes, int pe) {
  Pe& own = here().pe();
  own.teams().require_reached(pe);
  if (!own.holds(memory, bytes))
    throw Misuse(
        fmt::format("{} bytes from {} on are not symmetric memory; nvshmem_malloc gives it", bytes, memory));
  return own.parts().parts[pe] + own.offset_of(memory);
}

void move(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes > 0) check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void settle() { check_call(cudaStreamSynchronize(here().stream())); }

// Collectives on a stream: by kernels, or across hosts. A run across hosts that has failed leaves its error with the world.
void barrier_on(nvshmem_team_t team, cudaStream_t stream) {
  check_team(team);
  if (AcrossHosts* const across = here().across_hosts(team)) return across->barrier(stream);
  launch_barrier(team, stream);
}
void sum_on(nvshmem_team_t team, int kind, void* to, const void* from, std::size_t count,
            cudaStream_t stream) {
  check_team(team);
  if (AcrossHosts* const across = here().across_hosts(team))
    return across->sum(static_cast<tca_nvshmem_kind>(kind), to, from, count, stream);
  launch_sum(team, kind, to, from, count, stream);
}
void broadcast_on(nvshmem_team_t team, void* to, const void* from, std::size_t bytes, int root,
                  cudaStream_t stream) {
  check_team(team).require_pe(team, root);
  if (AcrossHosts* const across = here().across_hosts(team))
    return across->broadcast(to, from, bytes, root, stream);
  launch_broadcast(team, to, from, bytes, root, stream);
}
void settle(nvshmem_team_t team) {
  settle();
  if (here().across_hosts(team) != nullptr) here().pe().world().check();
}
// Ends the program's next call of CUDA where a run across hosts has failed, as a kernel that waits in vain does.
void watch_over(nvshmem_team_t team, cudaStream_t stream) {
  if (here().across_hosts(team) != nullptr) launch_check(stream);
}

// The GPU that is current must be the one that the heap is on; kernels on another one would know of no PE.
void check_device() {
  int current = -1;
  check_call(cudaGetDevice(&current));
  cudaPointerAttributes attributes{};
  check_call(cudaPointerGetAttributes(&attributes, here().pe().heap()));
  if (attributes.device != current)
    throw Misuse(
        fmt::format("GPU {} is current, and this PE came up on GPU {}; call cudaSetDevice before "
                    "nvshmem_init, or choose the GPU of the "
                    "PE's position on this host (nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE))",
                    current, attributes.device));
}

void leave() {
  if (session() == nullptr) return;
  session()->pe().world().barrier();  // a PE's memory stays until all are done
  session().reset();
}

}  // namespace
}  // namespace tca::nvshmem

using namespace tca::nvshmem;

int tca_nvshmem_init(unsigned flags, const nvshmemx_init_attr_t* attributes) {
  try {
    if (session() != nullptr) return 0;
    come_up(flags, attributes);
    return 0;
  } catch (...) {
    return say_exception("nvshmem_init");
  }
}

void tca_nvshmem_finalize() {
  or_end("nvshmem_finalize", [] { leave(); });
}

void tca_nvshmem_exit(int status) {
  std::fflush(nullptr);
  std::_Exit(status);  // other PEs may wait for this one, so nothing is taken down in order
}

int tca_nvshmem_make_id(nvshmemx_uniqueid_t* id) {
  if (id == nullptr) {
    say("nvshmemx_get_uniqueid", "the id is NULL");
    return 2;
  }
  make_id(*id);
  return 0;
}

int tca_nvshmem_is_up() { return session() != nullptr ? 1 : 0; }

int tca_nvshmem_my_pe(const char* call) {
  return or_end(call, [] { return here().pe().rank(); });
}
int tca_nvshmem_n_pes(const char* call) {
  return or_end(call, [] { return here().pe().size(); });
}
int tca_nvshmem_team_my_pe(nvshmem_team_t team, const char* call) {
  return or_end(call, [&] { return check_team(team).my_pe(team); });
}
int tca_nvshmem_team_n_pes(nvshmem_team_t team, const char* call) {
  return or_end(call, [&] { return check_team(team).size(team); });
}
int tca_nvshmem_translate_pe(nvshmem_team_t team, int pe, nvshmem_team_t other, const char* call) {
  return or_end(call, [&] { return here().pe().teams().translate(team, pe, other); });
}

void* tca_nvshmem_allocate(size_t bytes, size_t alignment, int cleared, const char* call) {
  return or_end(call, [&] {
    Session& own = here();
    check_device();
    std::string complaint;
    void* const memory = own.pe().allocate(bytes, alignment, cleared != 0, complaint);
    if (!complaint.empty()) say(call, complaint);
    return memory;
  });
}
void tca_nvshmem_free(void* memory) {
  or_end("nvshmem_free", [&] { here().pe().release(memory); });
}
void* tca_nvshmem_ptr(const void* memory, int pe) {
  if (session() == nullptr || !here().pe().holds(memory)) return nullptr;
  const bool reached = here().pe().teams().translate(NVSHMEM_TEAM_WORLD, pe, NVSHMEMX_TEAM_NODE) >= 0;
  return reached ? at(memory, 1, pe) : nullptr;
}

void tca_nvshmem_put(void* to, const void* from, size_t bytes, int pe, const char* call) {
  or_end(call, [&] {
    move(at(to, bytes, pe), from, bytes, here().stream());
    settle();
  });
}
void tca_nvshmem_get(void* to, const void* from, size_t bytes, int pe, const char* call) {
  or_end(call, [&] {
    move(to, at(from, bytes, pe), bytes, here().stream());
    settle();
  });
}
void tca_nvshmem_put_strided(void* to, const void* from, ptrdiff_t to_stride, ptrdiff_t from_stride,
                             size_t count, size_t element_bytes, int pe, const char* call) {
  or_end(call, [&] {
    at(to, element_bytes, pe);
    launch_put_strided(to, from, to_stride, from_stride, count, static_cast<unsigned>(element_bytes), pe,
                       here().stream());
    settle();
  });
}

void tca_nvshmem_barrier(nvshmem_team_t team, const char* call) {
  or_end(call, [&] {
    check_team(team);
    here().world_of(team).barrier();  // the host's own puts are complete
  });
}
int tca_nvshmem_sum(nvshmem_team_t team, int kind, void* to, const void* from, size_t count,
                    const char* call) {
  return or_end(call, [&] {
    sum_on(team, kind, to, from, count, here().stream());
    settle(team);
    return 0;
  });
}
int tca_nvshmem_broadcast(nvshmem_team_t team, void* to, const void* from, size_t bytes, int root,
                          const char* call) {
  return or_end(call, [&] {
    broadcast_on(team, to, from, bytes, root, here().stream());
    settle(team);
    return 0;
  });
}

void tca_nvshmem_put_on_stream(void* to, const void* from, size_t bytes, int pe, cudaStream_t stream,
                               const char* call) {
  or_end(call, [&] { move(at(to, bytes, pe), from, bytes, stream); });
}
void tca_nvshmem_get_on_stream(void* to, const void* from, size_t bytes, int pe, cudaStream_t stream,
                               const char* call) {
  or_end(call, [&] { move(to, at(from, bytes, pe), bytes, stream); });
}
void tca_nvshmem_signal_on_stream(uint64_t* signal, uint64_t value, int op, int pe, cudaStream_t stream,
                                  const char* call) {
  or_end(call, [&] {
    at(signal, sizeof *signal, pe);
    launch_signal(signal, value, op, pe, stream);
  });
}
void tca_nvshmem_wait_on_stream(void* number, int cmp, uint64_t value, size_t bytes, int is_signed,
                                cudaStream_t stream, const char* call) {
  or_end(call, [&] {
    here();
    launch_wait(number, cmp, value, bytes, is_signed != 0, stream);
  });
}
void tca_nvshmem_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream, const char* call) {
  or_end(call, [&] {
    barrier_on(team, stream);
    watch_over(team, stream);
  });
}
int tca_nvshmem_sum_on_stream(nvshmem_team_t team, int kind, void* to, const void* from, size_t count,
                              cudaStream_t stream, const char* call) {
  return or_end(call, [&] {
    sum_on(team, kind, to, from, count, stream);
    watch_over(team, stream);
    return 0;
  });
}
int tca_nvshmem_broadcast_on_stream(nvshmem_team_t team, void* to, const void* from, size_t bytes, int root,
                                    cudaStream_t stream, const char* call) {
  return or_end(call, [&] {
    broadcast_on(team, to, from, bytes, root, stream);
    watch_over(team, stream);
    return 0;
  });
}
