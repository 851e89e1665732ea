// All the ranks of a program, and the place where windows and chains come from.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tca/chain.hpp"
#include "tca/team.hpp"
#include "tca/window.hpp"
#include "tca/world_options.hpp"

namespace tca {

namespace core {
class WorldState;
}

// A rank's view of the world. Calls marked collective must be made by every rank, in the same order.
class World {
 public:
  // Comes up as one rank of `tca run`, of mpirun or srun, or alone as a world of one. Over MPI it initialises MPI
  // unless the program has, and then finalises it when the process ends.
  // Once a world's last World, window and chain are gone on every rank, a process may come up in the next one. As a rank
  // of a launch on shm or cuda it is in one at a time: while one lives, another throws Error{invalid_argument}.
  // Collective. Throws Error{incompatible}, {rank_lost}, {timed_out}, {invalid_argument}, {out_of_memory} or
  // {device_failed}.
  static World init(const WorldOptions& options = {});

  // Runs `body` as `ranks` threads of this process, each with its own World: 1 to 4096 of them on shm and cuda, on sim
  // as many as the machine holds. Rethrows the first rank's error after every thread has ended; the others see it as
  // Error{rank_lost}. Throws Error{invalid_argument} for other numbers, and for fabrics over MPI, whose ranks are
  // processes.
  static void run_threads(int ranks, const std::function<void(World&)>& body,
                          const WorldOptions& options = {});

  // In a program that uses MPI itself; include tca/mpi.hpp, which says more.
  template <class Comm>
  static World from_mpi(Comm comm, const WorldOptions& options = {});

  int rank() const;
  int size() const;

  // By rank: the number, from 0 on, of the sub-cluster that it is in. Ranks of one reach each other's memory directly, except on
  // the fabric mpi, where they are those of a host.
  std::vector<int> sub_clusters() const;

  // Collective. Zeroed memory for `elements` of T on this rank; ranks may ask for different numbers, zero
  // included. Throws Error{invalid_argument} for a negative or overflowing size, Error{out_of_memory} with
  // what is there.
  template <Element T>
  Window<T> window(Count elements) {
    return Window<T>(make_window(elements, sizeof(T)));
  }

  // Collective. Registers memory that this rank has: `elements` of T, which it keeps alive until every rank has dropped the
  // window and its chains and made another window since; over MPI to the end of the process where one of these chains was dropped
  // in the middle of a step. On shm between the threads of one process, on cuda what cudaMalloc gave on this rank's GPU. Throws
  // Error{invalid_argument}, on every rank alike, for memory that the others cannot reach: on shm between processes, on cuda host
  // and managed memory, and between processes also that of a pool.
  template <Element T>
  Window<T> window(T* memory, Count elements) {
    return Window<T>(register_window(memory, elements, sizeof(T)));
  }

  // Local until it is committed. The name appears in messages and traces, and must be the same on every rank. Names, and layouts
  // of puts, are kept as long as the world: a long program gives its chains and collectives the same ones again, not "step 17".
  Chain chain(std::string name, ChainOptions options = {});

  // Collective. For up to `max_values` values a call. Throws Error{invalid_argument} on a fabric whose ranks have no
  // kernels (see tca/coll.hpp for those).
  Team team(std::string name, Count max_values);

  // Collective set-up calls; they are not meant for inner loops (see tca/coll.hpp). `all_gather` gives what every rank
  // has brought, by rank.
  void barrier();
  template <Element T>
  std::vector<T> all_gather(const T& mine) {
    static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> has no bytes of its own; gather a char");
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_bytes(&mine, all.data(), sizeof(T));
    return all;
  }

  // Says that this rank computes: a kernel that moves `bytes` of its memory and does `flops` floating-point operations. Where
  // time is modelled (sim) it takes what the machine would need, its launch included; elsewhere nothing happens.
  void compute(double bytes, double flops);

  // The clock that this rank lives by, in seconds since some moment: virtual on sim, `std::chrono::steady_clock` elsewhere.
  std::chrono::duration<double> now() const;

  // Collective. Rank 0 writes every rank's events as Chrome trace JSON, which ui.perfetto.dev opens. Throws
  // Error{invalid_argument} on a rank whose world was made without WorldOptions::trace, and on rank 0 where it cannot
  // write.
  void write_trace(const std::string& path);

  // Adds a span of the application's own to this rank's lane of the trace; microseconds of `now()`. Without
  // WorldOptions::trace nothing happens.
  void trace_span(std::string name, double begin_us, double end_us);

  // Moves the steps of this rank's chains on as far as that goes at once. Where another rank waits for this one's part
  // (guarded puts, large messages over MPI), a call now and then while it computes keeps that short. It does not look
  // whether a partner is lost or late, which `wait` and `test` of a chain do. Throws Error{rank_lost} where MPI fails,
  // and on cuda+mpi what `check` does.
  void progress();

  // Throws the error that a step ordered on a stream or a kernel's put has met, if any has: they cannot throw themselves.
  void check();

  // Which fabrics this world runs on and how it came up, in one line.
  std::string describe() const;

  // The GPU that this rank drives, for people; empty where the fabric has none.
  std::string device_name() const;

  // How many ranks drive that GPU, this one included; 0 where the fabric has none. Ranks that share one get a part of its
  // multiprocessors each, and as processes take turns on it (docs/gpu.md, "Where ranks share a GPU").
  int ranks_on_device() const;

  // Collective. Whether any two ranks drive the same GPU. Kernels that wait for another rank may then not be put beside others: one
  // stream's may keep another's from running.
  bool ranks_share_devices();

  // A World that was moved from may only be destroyed or assigned to.
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  // What is still to run with it on streams is over before.
  ~World();

 private:
  friend class core::WorldState;
  static World from_mpi_handle(const void* comm, std::size_t bytes, const char* header,
                               const WorldOptions& options);
  explicit World(std::shared_ptr<core::WorldState> state);
  std::shared_ptr<core::WindowState> make_window(Count elements, std::size_t element_bytes);
  std::shared_ptr<core::WindowState> register_window(void* existing, Count elements,
                                                     std::size_t element_bytes);
  void gather_bytes(const void* mine, void* all, std::size_t bytes);

  std::shared_ptr<core::WorldState> state_;
};

}  // namespace tca
