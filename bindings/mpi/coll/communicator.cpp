#include "mpi/coll/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "mpi/coll/topology.hpp"
#include "mpi/freed.hpp"
#include "mpi/progress.hpp"
#include "mpi/session.hpp"
#include "mpi/threads.hpp"
#include "tca/error.hpp"
#include "tca/mpi.hpp"

namespace tca::interposer {

namespace {

constexpr std::size_t most_prepared = 64, most_shapes = 1024;

// What threads have in common: MPI leaves it to programs that a communicator has one collective at a time.
struct Communicators {
  p2p::Lock lock;
  std::unordered_map<MPI_Comm, std::unique_ptr<Communicator>> by_handle;
  MPI_Comm last_comm = MPI_COMM_NULL;
  Communicator* last = nullptr;

  std::unique_ptr<Communicator> take(MPI_Comm comm) {
    const Guard guard(lock);
    last_comm = MPI_COMM_NULL;
    const auto found = by_handle.find(comm);
    if (found == by_handle.end()) return nullptr;
    std::unique_ptr<Communicator> taken = std::move(found->second);
    by_handle.erase(found);
    return taken;
  }
  void keep(MPI_Comm comm, std::unique_ptr<Communicator> known) {
    const Guard guard(lock);
    by_handle[comm] = std::move(known);
  }
  // Returns whether it is known at all, whatever there is to say of it.
  bool look(MPI_Comm comm) {
    const auto found = by_handle.find(comm);
    if (found == by_handle.end()) return false;
    last_comm = comm;
    last = found->second->is_served() ? found->second.get() : nullptr;
    return true;
  }
};
Communicators& all() {
  static auto* const communicators = new Communicators;
  return *communicators;
}

// MPI calls it when the communicator is freed, in whatever way.
int forget(MPI_Comm comm, int, void*, void*) {
  all().take(comm);
  return MPI_SUCCESS;
}

// Whether all of its ranks were started together, so that the session knows of them. Spawned ones and those of other jobs were not.
bool are_of_this_job(MPI_Comm comm, int size) {
  MPI_Group group = MPI_GROUP_NULL, job = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &job);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_job(ranks);
  for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  PMPI_Group_translate_ranks(group, size, ranks.data(), job, in_job.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&job);
  return std::ranges::find(in_job, MPI_UNDEFINED) == in_job.end();
}

}  // namespace

Prepared::Prepared(World& world, raw::Request request, std::size_t window_element_bytes)
    : collective_(world, std::move(request)) {
  if (window_element_bytes == 0) return;
  from_ = static_cast<std::byte*>(core::window_data(collective_.from(), window_element_bytes));
  to_ = static_cast<std::byte*>(core::window_data(collective_.to(), window_element_bytes));
}

void Prepared::run() { run_beside_mpi(collective_); }

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) return;
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
  is_served_ = size_ > 1 && Session::get().serves() && are_of_this_job(comm, size_);
}

Communicator::~Communicator() {
  topology_.reset();  // what the world has made, before it
  entries_.clear();
  world_.reset();
  if (own_ != MPI_COMM_NULL) PMPI_Comm_free(&own_);
}

Communicator* Communicator::find(MPI_Comm comm) {
  Communicators& known = all();
  {
    const Guard guard(known.lock);
    if (comm == known.last_comm && comm != MPI_COMM_NULL) return known.last;
    if (comm == MPI_COMM_NULL || !Session::get().serves()) return nullptr;
    if (known.look(comm)) return known.last;
  }
  auto fresh = std::make_unique<Communicator>(comm);
  Communicator* const found = fresh->is_served() ? fresh.get() : nullptr;
  known.keep(comm, std::move(fresh));
  call_when_freed<forget>(comm);
  return found;
}

void Communicator::drop_all() {
  all().last_comm = MPI_COMM_NULL;
  all().by_handle.clear();
}

Prepared* Communicator::look_up(const Shape& shape, Way& way) {
  if (entries_.size() >= most_shapes && !entries_.contains(shape)) {
    way = Way::many;
    return nullptr;
  }
  Entry& entry = entries_[shape];
  if (entry.times == 0) entry.refusal = refusal(shape);
  if (++entry.times == often_enough && !entry.refusal) prepare(shape, entry);
  way = entry.refusal.value_or(entry.prepared != nullptr ? Way::served : Way::early);
  last_shape_ = shape;
  is_final_ = way != Way::early;
  last_way_ = way;
  return last_ = entry.prepared.get();
}

std::optional<Way> Communicator::refusal(const Shape& shape) const {
  if (shape.op == MPI_OP_NULL) return {};
  const Element* const element = find_element(shape.type);
  if (element == nullptr || !find_operation(shape.op, *element)) return Way::type;
  return {};
}

void Communicator::prepare(const Shape& shape, Entry& entry) {
  if (prepared_ == most_prepared || world() == nullptr) {
    entry.refusal = prepared_ == most_prepared ? Way::many : Way::communicator;
    return;
  }
  raw::Request request{.kind = shape.kind, .name = fmt::format("MPI {}", prepared_), .count = shape.count};
  request.root = shape.root;
  if (shape.op != MPI_OP_NULL) {
    const Element& element = *find_element(shape.type);
    request.type = element.kind;
    request.element_bytes = element.bytes;
    request.operation = *find_operation(shape.op, element);
  }
  request.options.time_limit = no_limit;
  const std::size_t bytes = shape.kind == CollectiveKind::barrier ? 0 : request.element_bytes;
  std::string trouble;
  try {
    entry.prepared = std::make_unique<Prepared>(*world_, std::move(request), bytes);
  } catch (const Error& error) {
    trouble = error.what();
  }
  if (!all_agree(entry.prepared != nullptr)) {
    entry.prepared.reset();
    entry.refusal = Way::communicator;
    if (rank_ == 0 && !trouble.empty()) Session::get().say(trouble);
    return;
  }
  ++prepared_;
}

Topology& Communicator::topology() {
  if (!topology_) topology_ = std::make_unique<Topology>(*this);
  return *topology_;
}

World* Communicator::world() {
  if (world_ || world_failed_) return world_ ? &*world_ : nullptr;
  PMPI_Comm_split(comm_, 0, rank_, &own_);
  std::string trouble;
  try {
    world_.emplace(World::from_mpi(own_, {.time_limit = no_limit}));
  } catch (const Error& error) {
    trouble = error.what();
  }
  if (all_agree(world_.has_value())) return &*world_;
  world_failed_ = true;
  world_.reset();
  if (!trouble.empty()) Session::get().say(trouble);
  return nullptr;
}

bool Communicator::all_agree(bool mine) const {
  int all = mine;
  PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, own_);
  return all != 0;
}

}  // namespace tca::interposer
