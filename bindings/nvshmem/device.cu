// What kernels call in the library: copies, collectives, and how a wait in vain ends.
#include <cstdio>
#include <type_traits>

#include "nvshmem/meeting.hpp"
#include "tca/device/groups.cuh"
#include "tca/device/puts.hpp"
#include "tca_nvshmem/kernel.cuh"

namespace tca_nvshmem {

__constant__ State state;
__constant__ tca::DeviceTeam team_of[3];

namespace {

using tca::device::Word;
using tca::nvshmem::Meeting;
using tca::nvshmem::nobody;
using tca::nvshmem::somebody;

// The thread, warp or block that makes a call, in the terms of the protocols.
struct Thread {
  __device__ Word lane() const { return 0; }
  __device__ Word lanes() const { return 1; }
  __device__ void sync() const { asm volatile("" ::: "memory"); }
  __device__ bool all(bool mine) const { return mine; }
};
struct Warp {
  __device__ Word lane() const { return tca::device::thread_number() % 32; }
  __device__ Word lanes() const { return 32; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool all(bool mine) const {
    __syncwarp();  // a vote orders no memory
    return __all_sync(0xffffffffu, mine) != 0;
  }
};

template <Scope scope>
using GroupOf = std::conditional_t<scope == by_block, tca::device::Block,
                                   std::conditional_t<scope == by_warp, Warp, Thread>>;
template <Scope scope>
__device__ GroupOf<scope> group_of() {
  if constexpr (scope == by_block)
    return tca::device::Block(0, 1);
  else
    return {};
}

template <class Body>
__device__ void by(Scope scope, const Body& body) {
  if (scope == by_block) body(group_of<by_block>());
  if (scope == by_warp) body(group_of<by_warp>());
  if (scope == by_thread) body(group_of<by_thread>());
}

// One thread of a kernel tells what is wrong; the others wait until it has, and then end the kernel all the same.
__device__ unsigned told = 0;
__device__ void let_tell() {
  const std::uint64_t begin = tca::device::now_ns();
  while (tca::device::now_ns() - begin < 1'000'000'000) __nanosleep(1'000'000);
}
__device__ bool may_tell() {
  if (atomicExch(&told, 1) == 0) return true;
  let_tell();
  return false;
}
// How long this PE waits; every team that kernels meet in says the same.
__device__ const tca::device::WaitLimits& limits() { return team_of[NVSHMEMX_TEAM_NODE].limits; }

__device__ void end_kernel() {
  tca::device::end_wait_in_vain(limits());
  tca::device::fence_system();
  __trap();
}

__device__ Word lost_pe() {
  for (int number = 0; number < state.node_pes; ++number)
    if (tca::device::is_gone(limits(), static_cast<Word>(number)))
      return static_cast<Word>(state.node[number]);
  return nobody;
}

__device__ double seconds() { return static_cast<double>(limits().limit_ns) * 1e-9; }

__device__ __noinline__ void fail_team(nvshmem_team_t team, Word missing, const char* call) {
  if (missing == somebody) {
    let_tell();
  } else if (may_tell()) {
    if (const Word lost = lost_pe(); lost != nobody)
      printf("nvshmem: PE %d: %s: PE %u is lost\n", state.pe, call, lost);
    else
      printf("nvshmem: PE %d: %s on team %d: PE %d has not come within %g s\n", state.pe, call, team,
             state.node[missing], seconds());
  }
  end_kernel();
}
__device__ __noinline__ void fail_no_team(nvshmem_team_t team, const char* call) {
  if (may_tell()) printf("nvshmem: PE %d: %s: there is no team %d\n", state.pe, call, team);
  end_kernel();
}

__device__ __noinline__ void fail_across_hosts(const char* call) {
  if (may_tell())
    printf(
        "nvshmem: PE %d: %s: the %d PEs are on several hosts, and kernels meet within one; use "
        "NVSHMEMX_TEAM_NODE, or make the call on the host or on a stream\n",
        state.pe, call, state.pes);
  end_kernel();
}
__device__ __noinline__ void fail_root(int root, Word pes, const char* call) {
  if (may_tell()) printf("nvshmem: PE %d: %s: there is no PE %d; there are %u\n", state.pe, call, root, pes);
  end_kernel();
}

__device__ void check_team(nvshmem_team_t team, const char* call) {
  if (static_cast<unsigned>(team) >= 3) fail_no_team(team, call);
}

__device__ const tca::DeviceTeam& find_team(nvshmem_team_t team, const char* call) {
  check_team(team, call);
  if (team_of[team].size == 0) fail_across_hosts(call);
  return team_of[team];
}

template <class Body>
__device__ int meet(nvshmem_team_t team, const char* call, const Body& body) {
  const Word missing = body(find_team(team, call));
  if (missing != nobody) fail_team(team, missing, call);
  return 0;
}

// The address at a PE of a team that kernels meet in, by its number there.
template <class T>
__device__ T* there(T* here, Word pe) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(here) +
                              static_cast<std::uintptr_t>(state.node_apart[pe]));
}

// Each PE adds up its share of the elements, over all PEs' memory, and stores it at all of them. Its share is nobody else's,
// so `to` may be `from`.
template <class T, class Group>
__device__ __noinline__ Word sum_shares(const tca::DeviceTeam& team, Group group, T* to, const T* from,
                                        std::size_t count) {
  Word missing = Meeting(team, group).barrier();
  if (missing != nobody) return missing;
  const std::size_t begin = count * team.rank / team.size, end = count * (team.rank + 1) / team.size;
  for (std::size_t i = begin + group.lane(); i < end; i += group.lanes()) {
    T total = there(from, 0)[i];
    for (Word pe = 1; pe < team.size; ++pe) total += there(from, pe)[i];
    for (Word pe = 0; pe < team.size; ++pe) there(to, pe)[i] = total;
  }
  return Meeting(team, group).barrier();
}

template <tca_nvshmem_kind kind>
struct NumberOf;
template <>
struct NumberOf<tca_nvshmem_float32> {
  using Type = float;
};
template <>
struct NumberOf<tca_nvshmem_float64> {
  using Type = double;
};
template <>
struct NumberOf<tca_nvshmem_word32> {
  using Type = std::uint32_t;
};
template <>
struct NumberOf<tca_nvshmem_word64> {
  using Type = std::uint64_t;
};

template <class Atom, class Group>
__device__ void copy_elements(Atom* to, const Atom* from, std::ptrdiff_t to_stride,
                              std::ptrdiff_t from_stride, std::size_t count, const Group& group) {
  for (std::size_t i = group.lane(); i < count; i += group.lanes()) {
    const auto k = static_cast<std::ptrdiff_t>(i);
    to[k * to_stride] = from[k * from_stride];
  }
}

}  // namespace

__device__ void require_reached(const void* here, int pe, const char* call) {
  if (address(here, pe) != nullptr) return;
  if (may_tell()) {
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.pes))
      printf("nvshmem: PE %d: %s: there is no PE %d; there are %d\n", state.pe, call, pe, state.pes);
    else if (is_elsewhere(state.apart[pe]))
      printf("nvshmem: PE %d: %s: PE %d is on another host, and kernels reach the PEs of one\n", state.pe,
             call, pe);
    else
      printf("nvshmem: PE %d: %s to PE %d: %p is not symmetric memory; nvshmem_malloc gives it\n", state.pe,
             call, pe, here);
  }
  end_kernel();
}

__device__ void fail_wait(const void* address, int cmp, unsigned long long want, unsigned long long have,
                          const char* call) {
  if (may_tell()) {
    const char* const signs[] = {"==", "!=", ">", "<=", "<", ">="};
    const char* const sign = static_cast<unsigned>(cmp) < 6 ? signs[cmp] : "?";
    if (lost_pe() != nobody)
      printf("nvshmem: PE %d: %s: PE %u is lost; byte %llu of the heap is %lld, %s %lld was waited for\n",
             state.pe, call, lost_pe(),
             static_cast<unsigned long long>(static_cast<const char*>(address) - state.heap), have, sign,
             want);
    else
      printf("nvshmem: PE %d: %s: byte %llu of the heap has been %lld for %g s, %s %lld was waited for\n",
             state.pe, call, static_cast<unsigned long long>(static_cast<const char*>(address) - state.heap),
             have, seconds(), sign, want);
  }
  end_kernel();
}

__device__ unsigned long long go_on(unsigned long long begin) {
  constexpr unsigned long long last_polls =
      1;  // in place of a time: a PE is lost, and its last signal may just have come
  if (tca::device::load_relaxed(limits().over) != 0 || tca::device::load_relaxed(limits().abort) != 0)
    return 0;
  if (lost_pe() != nobody) return begin == last_polls ? 0 : last_polls;
  const unsigned long long now = tca::device::now_ns();
  if (begin <= last_polls) return now;
  return now - begin < limits().limit_ns ? begin : 0;
}

__device__ int team_my_pe(nvshmem_team_t team, const char* call) {
  check_team(team, call);
  return team == NVSHMEM_TEAM_WORLD ? state.pe : state.node_pe;
}
__device__ int team_n_pes(nvshmem_team_t team, const char* call) {
  check_team(team, call);
  return team == NVSHMEM_TEAM_WORLD ? state.pes : state.node_pes;
}

__device__ void check_collectives(const char* call) {
  if (tca::device::load_relaxed(limits().over) == 0) return;
  if (may_tell()) printf("nvshmem: PE %d: %s: not all PEs have come\n", state.pe, call);
  end_kernel();
}

__device__ void copy(Scope scope, void* to, const void* from, size_t bytes, unsigned atom) {
  by(scope, [&](const auto& group) {
    group.sync();  // sends what any lane has stored
    if (atom >= 4)
      tca::device::copy_bytes<std::uint32_t>(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                                             bytes, group);
    else
      tca::device::copy_bytes<std::uint8_t>(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                                            bytes, group);
    group.sync();  // any lane may overwrite it
  });
}

__device__ void copy_strided(Scope scope, void* to, const void* from, ptrdiff_t to_stride,
                             ptrdiff_t from_stride, size_t count, unsigned element_bytes) {
  by(scope, [&](const auto& group) {
    group.sync();
    const auto elements = [&](auto atom) {
      using Atom = decltype(atom);
      copy_elements(static_cast<Atom*>(to), static_cast<const Atom*>(from), to_stride, from_stride, count,
                    group);
    };
    if (element_bytes == 8) elements(std::uint64_t{});
    if (element_bytes == 4) elements(std::uint32_t{});
    if (element_bytes == 2) elements(std::uint16_t{});
    if (element_bytes == 1) elements(std::uint8_t{});
    group.sync();
  });
}

template <Scope scope>
__device__ int barrier(nvshmem_team_t number, const char* call) {
  return meet(number, call,
              [&](const tca::DeviceTeam& team) { return Meeting(team, group_of<scope>()).barrier(); });
}

template <Scope scope, tca_nvshmem_kind kind>
__device__ int sum(nvshmem_team_t number, void* to_numbers, const void* from_numbers, size_t count,
                   const char* call) {
  using T = typename NumberOf<kind>::Type;
  T* const to = static_cast<T*>(to_numbers);
  const T* const from = static_cast<const T*>(from_numbers);
  return meet(number, call, [&](const tca::DeviceTeam& team) {
    const auto group = group_of<scope>();
    if (count <= team.max_values) return Meeting(team, group).sum(to, from, static_cast<Word>(count));
    at(to, state.pe, call);
    at(from, state.pe, call);
    return sum_shares(team, group, to, from, count);
  });
}

template <Scope scope>
__device__ int broadcast(nvshmem_team_t number, void* to, const void* from, size_t bytes, int root,
                         const char* call) {
  return meet(number, call, [&](const tca::DeviceTeam& team) {
    if (static_cast<unsigned>(root) >= team.size) fail_root(root, team.size, call);
    const auto group = group_of<scope>();
    if (bytes <= 8 * team.max_values)
      return Meeting(team, group)
          .broadcast(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                     static_cast<Word>(bytes), static_cast<Word>(root));
    at(static_cast<char*>(to), state.node[root], call);
    if (team.rank == static_cast<Word>(root))
      for (Word pe = 0; pe < team.size; ++pe) copy(scope, there(static_cast<char*>(to), pe), from, bytes, 1);
    return Meeting(team, group).barrier();
  });
}

#define TCA_NVSHMEM_SUM(scope, kind) \
  template __device__ int sum<scope, kind>(nvshmem_team_t, void*, const void*, size_t, const char*);
#define TCA_NVSHMEM_COLLECTIVES(scope)                                                                    \
  template __device__ int barrier<scope>(nvshmem_team_t, const char*);                                    \
  template __device__ int broadcast<scope>(nvshmem_team_t, void*, const void*, size_t, int, const char*); \
  TCA_NVSHMEM_SUM(scope, tca_nvshmem_float32)                                                             \
  TCA_NVSHMEM_SUM(scope, tca_nvshmem_float64)                                                             \
  TCA_NVSHMEM_SUM(scope, tca_nvshmem_word32)                                                              \
  TCA_NVSHMEM_SUM(scope, tca_nvshmem_word64)
TCA_NVSHMEM_COLLECTIVES(by_thread)
TCA_NVSHMEM_COLLECTIVES(by_warp)
TCA_NVSHMEM_COLLECTIVES(by_block)

}  // namespace tca_nvshmem
