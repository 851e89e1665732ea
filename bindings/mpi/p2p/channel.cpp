#include "mpi/p2p/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mpi/callers.hpp"
#include "mpi/freed.hpp"
#include "mpi/gpu/gpu.hpp"
#include "mpi/p2p/elements.hpp"
#include "mpi/p2p/names.hpp"
#include "mpi/progress.hpp"
#include "mpi/session.hpp"
#include "mpi/threads.hpp"

namespace tca::interposer {

namespace {

// For as long as the process lives, as programs call MPI until its end.
struct State {
  std::unique_ptr<p2p::Engine> engine;
  MPI_Comm host = MPI_COMM_NULL;        // the ranks of the engine
  std::atomic<std::uint32_t> made = 0;  // communicators that this rank has numbered
  p2p::Lock lock;                       // what threads have in common is below
  std::unordered_map<MPI_Comm, std::shared_ptr<Channel>> channels;
  MPI_Comm last_comm = MPI_COMM_NULL;
  const std::shared_ptr<Channel>* last = nullptr;
};
State& state() {
  static auto* const all = new State;
  return *all;
}

// MPI calls it when the communicator is freed, in whatever way.
int forget(MPI_Comm comm, int, void*, void*) {
  State& all = state();
  std::shared_ptr<Channel> freed;
  const Guard guard(all.lock);
  all.last_comm = MPI_COMM_NULL;
  const auto found = all.channels.find(comm);
  if (found == all.channels.end()) return MPI_SUCCESS;
  freed = std::move(found->second);
  all.channels.erase(found);
  freed->leave();
  return MPI_SUCCESS;
}

// Why this rank cannot serve messages; empty where it can. Messages are served all or none.
std::string obstacle_here() {
  for (const std::string_view call : message_calls)
    if (!Settings::get().allows(call))
      return fmt::format("OPENTCA_MPI_DENY has {}, and one such call cannot go another way than the others",
                         call);
  if (const std::string caller = message_call_past_hooks(); !caller.empty())
    return caller + ", past the library";
  if (!packs_plainly()) return "this MPI packs datatypes in a form of its own";
  return {};
}

// The ranks of a communicator by their numbers on this host; empty where some are elsewhere.
std::vector<int> processes_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL, host = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(state().host, &host);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), processes(ranks);
  for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  PMPI_Group_translate_ranks(group, size, ranks.data(), host, processes.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&host);
  if (std::ranges::find(processes, MPI_UNDEFINED) != processes.end()) processes.clear();
  return processes;
}

// The first rank gives the number: one of its own, since ranks make communicators in an order of their own.
void serve(MPI_Comm comm) {
  State& all = state();
  std::vector<int> processes = processes_of(comm);
  if (processes.empty()) return;
  int ranks = 1;
  PMPI_Comm_size(all.host, &ranks);
  std::uint32_t number = 0;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank == 0)
    number = all.made++ * static_cast<std::uint32_t>(ranks) + static_cast<std::uint32_t>(processes[0]);
  PMPI_Bcast(&number, 1, MPI_UINT32_T, 0, comm);
  auto channel = std::make_shared<Channel>(comm, all.engine->context(number), std::move(processes));
  {
    const Guard guard(all.lock);
    all.last_comm = MPI_COMM_NULL;
    all.channels[comm] = std::move(channel);
  }
  call_when_freed<forget>(comm);
}

void make_engine() {
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &state().host);
  progress_mpi();  // makes its communicator while no other thread makes one
  int rank = 0, size = 1;
  PMPI_Comm_rank(state().host, &rank);
  PMPI_Comm_size(state().host, &size);
  const p2p::Gather gather = [](std::span<const std::byte> mine, std::span<std::byte> all) {
    const int bytes = static_cast<int>(mine.size());
    PMPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, state().host);
  };
  state().engine = p2p::Engine::make(rank, size, gather, {.idle = progress_mpi, .fetch = gpu::fetch});
}

}  // namespace

Channel::Channel(MPI_Comm comm, p2p::Context& context, std::vector<int> processes)
    : comm_(comm), context_(context), processes_(std::move(processes)) {
  int size = 0;
  PMPI_Comm_size(state().host, &size);
  ranks_.resize(static_cast<std::size_t>(size), MPI_UNDEFINED);
  for (std::size_t rank = 0; rank < processes_.size(); ++rank)
    ranks_[static_cast<std::size_t>(processes_[rank])] = static_cast<int>(rank);
}

Channel::~Channel() {
  if (state().engine) state().engine->close(context_);
}

void Channel::begin() {
  const std::string obstacle = obstacle_here();
  int is_served = obstacle.empty() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &is_served, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (is_served) make_engine();
  are_served_ = state().engine != nullptr;
  if (are_served_) {
    serve(MPI_COMM_WORLD);
    return;
  }
  const char* const elsewhere =
      is_served ? "the system does not let processes read each other's memory (ptrace_scope)"
                : "another rank cannot serve them";
  Session::get().say(
      fmt::format("point-to-point calls are left to MPI: {}", obstacle.empty() ? elsewhere : obstacle));
}

void Channel::end() {
  if (!state().engine) return;
  // Nobody who has come here waits for a message. Until all have, somebody may fetch one from this rank.
  MPI_Request all_here = MPI_REQUEST_NULL;
  PMPI_Ibarrier(state().host, &all_here);
  int are_here = 0;
  state().engine->wait_until([&] {
    PMPI_Test(&all_here, &are_here, MPI_STATUS_IGNORE);
    return are_here != 0;
  });
  are_served_ = false;
  state().last_comm = MPI_COMM_NULL;
  state().channels.clear();
  state().engine.reset();
  gpu::end();
  PMPI_Comm_free(&state().host);
}

p2p::Engine* Channel::engine() { return state().engine.get(); }

void Channel::adopt(MPI_Comm parent, MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && find(parent) != nullptr) serve(comm);
}

const std::shared_ptr<Channel>& Channel::look_up(MPI_Comm comm) {
  State& all = state();
  const Guard guard(all.lock);
  if (comm == all.last_comm && comm != MPI_COMM_NULL) return *all.last;
  const auto found = all.channels.find(comm);
  if (found == all.channels.end()) return none_;
  all.last_comm = comm;
  all.last = &found->second;
  return found->second;
}

void Channel::write_status(MPI_Status* status, const p2p::Envelope& envelope) const {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = rank(envelope.source);
  status->MPI_TAG = envelope.tag;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(envelope.bytes));
  PMPI_Status_set_cancelled(status, 0);
}

int Channel::fail(int code) const {
  PMPI_Comm_call_errhandler(comm_, code);
  return code;
}

int Channel::fail(p2p::Failure failure) const {
  if (failure == p2p::Failure::none) return MPI_SUCCESS;
  return fail(failure == p2p::Failure::truncated ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER);
}

void write_empty_status(MPI_Status* status, bool is_cancelled) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, is_cancelled);
}

}  // namespace tca::interposer
