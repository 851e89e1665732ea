#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "c/handles.hpp"
#include "c/options.hpp"

namespace tca {

namespace c {

// A communicator as a program in C hands it over: the bytes of its MPI_Comm, and whose header has defined
// that.
struct Communicator {
  const void* comm;
  std::size_t bytes;
  const char* mpi;
};

}  // namespace c

// As tca/mpi.hpp defines it for an MPI_Comm, which no header is needed for here. Nobody else calls it.
template <>
__attribute__((visibility("hidden"))) World World::from_mpi(c::Communicator comm,
                                                            const WorldOptions& options) {
  return from_mpi_handle(comm.comm, comm.bytes, comm.mpi, options);
}

namespace c {
namespace {

WorldOptions world_options_of(const tca_world_options* given) {
  const char* const what = "options of a world";
  const tca_world_options options = taken(given, TCA_WORLD_OPTIONS_INIT, what);
  require_unset(options.reserved, what);
  WorldOptions all{.trace = options.trace != 0,
                   .fabric = text_of(options.fabric),
                   .device = options.device,
                   .engine_blocks = options.engine_blocks,
                   .machine = text_of(options.machine),
                   .fidelity = text_of(options.fidelity),
                   .faults = text_of(options.faults),
                   .fibers = options.fibers != 0,
                   .progress_thread = options.progress_thread != 0,
                   .check_steps = options.check_steps != 0,
                   .reroute = options.reroute != 0};
  all.time_limit = limit_of(options.time_limit).value_or(all.time_limit);
  return all;
}

// A handle for a world that is lent to the body of a rank.
class Lent {
 public:
  explicit Lent(World& world) : held_(world), value_(add(Kind::world, &held_)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { remove(value_); }
  tca_world* handle() const { return reinterpret_cast<tca_world*>(value_); }

 private:
  HeldWorld held_;
  std::uint64_t value_;
};

}  // namespace
}  // namespace c
}  // namespace tca

using namespace tca::c;

tca_status tca_world_init(const tca_world_options* options, tca_world** world) {
  return guarded(__func__, [&] {
    tca_world*& made = emptied(world);
    made = make<tca_world>(tca::World::init(world_options_of(options)));
  });
}

tca_status tca_world_join(int rank, int size, const char* key, const tca_world_options* options,
                          tca_world** world) {
  return guarded(__func__, [&] {
    tca_world*& made = emptied(world);
    made = make<tca_world>(tca::World::join(rank, size, &present(key, "the key"), world_options_of(options)));
  });
}

tca_status tca_world_run_threads(int ranks, tca_rank_body body, void* context,
                                 const tca_world_options* options) {
  return guarded(__func__, [&] {
    if (body == nullptr) throw Misuse("the body is NULL");
    const auto run = [&](tca::World& world) {
      const Lent lent(world);
      const tca_status status = body(lent.handle(), context);
      if (status != TCA_OK) throw_status(world.rank(), status);
    };
    tca::World::run_threads(ranks, run, world_options_of(options));
  });
}

tca_status tca_world_from_mpi_handle(const void* comm, size_t bytes, const char* mpi,
                                     const tca_world_options* options, tca_world** world) {
  return guarded(__func__, [&] {
    tca_world*& made = emptied(world);
    const char* const with = &present(mpi, "the name of the MPI");
    const char* const handle = &present(static_cast<const char*>(comm), "the communicator's address");
    made =
        make<tca_world>(tca::World::from_mpi(Communicator{handle, bytes, with}, world_options_of(options)));
  });
}

tca_status tca_world_group(tca_world* world, const int* ranks, int count, tca_world** group) {
  return guarded(__func__, [&] {
    tca_world*& made = emptied(group);
    if (count < 1) throw Misuse(fmt::format("a group of {} ranks; it has one at least", count));
    const auto size = static_cast<std::size_t>(count);
    made = make<tca_world>(world_of(world).group(std::span(array(ranks, size, "the list of ranks"), size)));
  });
}

tca_status tca_world_split(tca_world* world, int color, int key, tca_world** group) {
  return guarded(__func__, [&] {
    tca_world*& made = emptied(group);
    made = make<tca_world>(world_of(world).split(color, key));
  });
}

tca_status tca_world_free(tca_world* world) {
  return guarded(__func__, [&] {
    if (world != nullptr && !object(world).own)
      throw Misuse("this world belongs to tca_world_run_threads, which frees it after the body");
    destroy(world);
  });
}

tca_status tca_world_rank(tca_world* world, int* rank) {
  return guarded(__func__, [&] { present(rank, "the place for the rank") = world_of(world).rank(); });
}

tca_status tca_world_size(tca_world* world, int* size) {
  return guarded(__func__, [&] { present(size, "the place for the size") = world_of(world).size(); });
}

tca_status tca_world_sub_clusters(tca_world* world, int* of_ranks) {
  return guarded(__func__, [&] {
    const std::vector<int> all = world_of(world).sub_cluster_of_ranks();
    std::ranges::copy(all, array(of_ranks, all.size(), "the place for the sub-clusters"));
  });
}

tca_status tca_world_barrier(tca_world* world) {
  return guarded(__func__, [&] { world_of(world).barrier(); });
}

tca_status tca_world_all_gather(tca_world* world, const void* mine, size_t bytes, void* all) {
  return guarded(__func__, [&] {
    tca::World& among = world_of(world);
    std::size_t room = 0;
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(among.size()), &room))
      throw Misuse(fmt::format("{} bytes of each rank cannot be", bytes));
    const auto* const from = array(static_cast<const std::byte*>(mine), bytes, "this rank's part");
    auto* const into = array(static_cast<std::byte*>(all), room, "the room for all parts");
    among.all_gather(std::span(from, bytes), std::span(into, room));
  });
}

tca_status tca_world_progress(tca_world* world) {
  return guarded(__func__, [&] { world_of(world).progress(); });
}

tca_status tca_world_check(tca_world* world) {
  return guarded(__func__, [&] { world_of(world).check(); });
}

tca_status tca_world_compute(tca_world* world, double bytes, double flops) {
  return guarded(__func__, [&] { world_of(world).compute(bytes, flops); });
}

tca_status tca_world_now(tca_world* world, double* seconds) {
  return guarded(__func__,
                 [&] { present(seconds, "the place for the seconds") = world_of(world).now().count(); });
}

tca_status tca_world_describe(tca_world* world, const char** text) {
  return guarded(__func__,
                 [&] { present(text, "the place for the text") = lent(world_of(world).describe()); });
}

tca_status tca_world_device_name(tca_world* world, const char** name) {
  return guarded(__func__,
                 [&] { present(name, "the place for the name") = lent(world_of(world).device_name()); });
}

tca_status tca_world_ranks_on_device(tca_world* world, int* ranks) {
  return guarded(__func__,
                 [&] { present(ranks, "the place for the ranks") = world_of(world).ranks_on_device(); });
}

tca_status tca_world_ranks_share_devices(tca_world* world, int* shared) {
  return guarded(
      __func__, [&] { present(shared, "the place for the answer") = world_of(world).ranks_share_devices(); });
}

tca_status tca_world_write_trace(tca_world* world, const char* path) {
  return guarded(__func__, [&] { world_of(world).write_trace(&present(path, "the path")); });
}

tca_status tca_world_trace_span(tca_world* world, const char* name, double begin, double end) {
  return guarded(__func__, [&] {
    world_of(world).trace_span(&present(name, "the name"), std::chrono::duration<double>(begin),
                               std::chrono::duration<double>(end));
  });
}
