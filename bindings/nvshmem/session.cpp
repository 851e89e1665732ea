#include "nvshmem/session.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "nvshmem/device.hpp"
#include "tca/error.hpp"
#ifdef OPENTCA_HAVE_MPI
#include "tca/mpi.hpp"
#endif

namespace tca::nvshmem {
void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw Error(Errc::device_failed, fmt::format("{}: {}", what, cudaGetErrorString(error)));
}

namespace {

// The GPU that the program has chosen, if it has: a context of its own is current then. Otherwise the one of this PE's
// position among those of the host, which is what programs choose that ask for it after init.
int chosen_device() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 4000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint("cuCtxGetCurrent", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return -1;
  void* context = nullptr;
  int device = -1;
  if (reinterpret_cast<int (*)(void**)>(function)(&context) != 0 || context == nullptr) return -1;
  check(cudaGetDevice(&device), "asking for the GPU");
  return device;
}

// PEs are on one host unless OPENTCA_FABRIC says otherwise; of its other fabrics none has windows in memory of GPUs.
const char* chosen_fabric() {
  constexpr const char* of_hosts = "cuda+mpi";
  const char* const set = std::getenv("OPENTCA_FABRIC");
  return set != nullptr && std::string_view(set) == of_hosts ? of_hosts : "cuda";
}

World by_id(const nvshmemx_uniqueid_args_t& args, const WorldOptions& options) {
  if (options.fabric != "cuda")
    throw Misuse(
        "PEs with a unique id are those of one host, and OPENTCA_FABRIC=cuda+mpi is for several; start by "
        "nvshmem_init or with a communicator");
  if (args.id == nullptr)
    throw Misuse("the attributes have no unique id; nvshmemx_set_attr_uniqueid_args sets it");
  const std::size_t length = strnlen(args.id->internal, sizeof args.id->internal);
  if (length == 0 || length == sizeof args.id->internal)
    throw Misuse("this is no unique id; PE 0 gets it by nvshmemx_get_uniqueid and sends it to the others");
  return World::join(args.myrank, args.nranks, std::string(args.id->internal, length), options);
}

World by_mpi([[maybe_unused]] const void* comm, [[maybe_unused]] const WorldOptions& options) {
#ifdef OPENTCA_HAVE_MPI
  if (comm == nullptr) throw Misuse("mpi_comm is NULL; it is the address of a communicator");
  return World::from_mpi(*static_cast<const MPI_Comm*>(comm), options);
#else
  throw Misuse("this OpenTCA was built without MPI; start by nvshmem_init or with a unique id");
#endif
}

World make_world(unsigned flags, const nvshmemx_init_attr_t* attributes) {
  const WorldOptions options{.fabric = chosen_fabric(), .device = chosen_device()};
  if (flags == 0) return World::init(options);
  if (attributes == nullptr) throw Misuse("the attributes are NULL");
  if (flags == NVSHMEMX_INIT_WITH_MPI_COMM) return by_mpi(attributes->mpi_comm, options);
  if (flags == NVSHMEMX_INIT_WITH_UNIQUEID) return by_id(attributes->args.uid_args, options);
  throw Misuse(fmt::format(
      "flags {:#x} are neither NVSHMEMX_INIT_WITH_MPI_COMM nor NVSHMEMX_INIT_WITH_UNIQUEID", flags));
}

tca_nvshmem::State state_of(const Pe& pe) {
  const DeviceWindow<std::byte>& parts = pe.parts();
  tca_nvshmem::State state{};
  state.pe = pe.rank();
  state.pes = pe.size();
  state.near = pe.teams().span_hosts() ? 0 : pe.size();
  state.heap = reinterpret_cast<char*>(pe.heap());
  state.bytes = pe.heap_size();
  state.node_pe = pe.teams().my_pe(NVSHMEMX_TEAM_NODE);
  state.node_pes = pe.teams().size(NVSHMEMX_TEAM_NODE);
  for (std::uint32_t rank = 0; rank < parts.size; ++rank) {
    const int number = state.in_node[rank] = pe.teams().in_node()[rank];
    state.apart[rank] = tca_nvshmem::elsewhere;
    if (number < 0) continue;
    state.apart[rank] = static_cast<long long>(reinterpret_cast<std::uintptr_t>(parts.parts[rank]) -
                                               reinterpret_cast<std::uintptr_t>(pe.heap()));
    state.node[number] = static_cast<int>(rank);
    state.node_apart[number] = state.apart[rank];
  }
  return state;
}

// Copies and runs of what all PEs do together.
void copy_on(void* to, const void* from, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying values");
}
void run_on(raw::Collective& collective, Stream stream) { collective.run(stream); }

}  // namespace

Session::Session(unsigned flags, const nvshmemx_init_attr_t* attributes)
    : world_(make_world(flags, attributes)) {
  pe_.emplace(world_, heap_bytes(std::getenv("NVSHMEM_SYMMETRIC_SIZE")));
  std::vector<DeviceTeam> views;
  if (pe_->teams().span_hosts()) {
    node_.emplace(world_.split(world_.sub_cluster_of_ranks()[static_cast<std::size_t>(world_.rank())]));
    across_.emplace(world_, copy_on, run_on);
  }
  constexpr std::array names{"NVSHMEM_TEAM_WORLD", "NVSHMEM_TEAM_SHARED", "NVSHMEMX_TEAM_NODE"};
  static_assert(names.size() == team_count);
  for (nvshmem_team_t team = 0; team < team_count; ++team) {
    if (across_hosts(team) != nullptr) {
      views.emplace_back().size = 0;  // kernels do not meet in it
      continue;
    }
    constexpr int values_at_once = 64;  // that a team combines in one step
    teams_.push_back(world_of(team).team(names[static_cast<std::size_t>(team)], values_at_once));
    views.push_back(teams_.back().device());
  }
  tell_kernels(state_of(*pe_), views.data(), team_count);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  world_.barrier();
}

Session::~Session() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

namespace {

// At the end of a process that has not called nvshmem_finalize, as long as CUDA's runtime is there: what is registered last
// goes first.
struct Leaver {
  ~Leaver() { session().reset(); }
};

}  // namespace

std::unique_ptr<Session>& session() {
  static auto& current = *new std::unique_ptr<Session>;
  return current;
}

void come_up(unsigned flags, const nvshmemx_init_attr_t* attributes) {
  session() = std::make_unique<Session>(flags, attributes);
  static const Leaver leaver;
}

void make_id(nvshmemx_uniqueid_t& id) {
  std::random_device random;
  const std::string name =
      fmt::format("nvshmem-{}-{:08x}{:08x}{:08x}", getpid(), random(), random(), random());
  id = {};
  id.version = 1;
  std::memcpy(id.internal, name.data(), name.size());
}

}  // namespace tca::nvshmem
