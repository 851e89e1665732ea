/// @file
/// All the ranks of a program. Windows, chains and teams are made here.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tca/chain.hpp"
#include "tca/detail/api.hpp"
#include "tca/fault.hpp"
#include "tca/team.hpp"
#include "tca/window.hpp"
#include "tca/world_options.hpp"

namespace tca {

namespace core {
class WorldState;
}

/// A rank's view of the world. Every rank must make the calls marked "Collective", in the same order.
class TCA_API World {
 public:
  /// Collective. Comes up as one rank of `tca run`, mpirun, srun, flux or torchrun, or alone as a world of
  /// one. Over MPI it initialises MPI unless the program has done so, and finalises it when the process ends.
  ///
  /// A process may come up in another world once the last World, window and chain of the previous one are
  /// gone on every rank. A rank of a launch on shm or cuda is in one world at a time: while that lives,
  /// `init` throws Error{invalid_argument}.
  ///
  /// Throws Error{incompatible}, {rank_lost}, {timed_out}, {invalid_argument}, {out_of_memory} or
  /// {device_failed}.
  [[nodiscard]] static World init(const WorldOptions& options = {});

  /// Collective over `size` processes of one host, which the program has started in its own way. They find
  /// each other by `key`, a name that all of them know and that no other world of this user is coming up
  /// with: 1 to 128 letters, digits and "._-:@". Once the world is up the key is free again. Launchers'
  /// variables are not read. Over MPI no key is needed: `init` and `from_mpi` find the ranks.
  ///
  /// Throws what `init` does. Error{invalid_argument}: an impossible rank, size or key (this rank alone sees
  /// it), or a fabric that needs MPI or threads. Error{timed_out} names the ranks that do not come.
  /// Error{incompatible}: another process has taken this rank, or ranks differ in size or version.
  [[nodiscard]] static World join(int rank, int size, const std::string& key,
                                  const WorldOptions& options = {});

  /// Runs `body` in `ranks` threads of this process, each with a World: 1 to 4096 on shm and cuda, where
  /// the start-up time grows with their square, and as many as the machine holds on sim. Once all have
  /// ended, throws the error of the rank that failed first; the others see it as Error{rank_lost}. Also
  /// throws Error{invalid_argument}: for other numbers, and for fabrics over MPI, whose ranks are
  /// processes.
  static void run_threads(int ranks, const std::function<void(World&)>& body,
                          const WorldOptions& options = {});

  /// Makes a world from a communicator, in a program that uses MPI itself; see tca/mpi.hpp, which defines
  /// it.
  template <class Comm>
  [[nodiscard]] static World from_mpi(Comm comm, const WorldOptions& options = {});

  /// Collective over `ranks` alone, which all of them give in the same order: makes a world of them, in
  /// which the first is rank 0. It has its own windows, chains, halos, collectives and groups; a rank may
  /// be in any number of groups, as long as any two ranks create and use the groups that they share in the
  /// same order. A group shares this world's memory, connections and threads, and keeps them alive. A wait
  /// in one group progresses all of them, and a rank that is lost is lost to all. Errors number ranks as
  /// the group does.
  ///
  /// Kernels can use a group's teams, windows and collectives like a world's. Not available in a group: the
  /// channel mpi/rma.
  ///
  /// Throws Error{invalid_argument}, on this rank alone, if it is not one of `ranks`, or if one of them is
  /// named twice or is not a rank of this world. Ranks that give different lists wait for each other in
  /// vain: Error{timed_out}.
  [[nodiscard]] World group(std::span<const int> ranks);
  [[nodiscard]] World group(std::initializer_list<int> ranks) {
    return group(std::span(ranks.begin(), ranks.size()));
  }

  /// Collective. Makes a group of the ranks of this world that give the same colour, ordered by `key`, and
  /// by rank where keys are equal; every rank gets the group that it is in.
  [[nodiscard]] World split(int color, int key = 0);

  /// Returns a window of the world that this group was made from, or of one around that, as the group sees
  /// it: its ranks' parts of the same memory, with their numbers in the group. Costs nothing, and needs no
  /// other rank; but if chains of the group use it, all of its ranks make their views and windows in the
  /// same order. Throws Error{invalid_argument} for a window of which a rank of the group has no part.
  template <Element T>
  [[nodiscard]] Window<T> view(const Window<T>& window) const {
    return Window<T>(view(window.untyped()));
  }
  [[nodiscard]] raw::Window view(const raw::Window& window) const;

  int rank() const {
    state();  // throws if the world was moved from
    return rank_;
  }
  int size() const {
    state();
    return size_;
  }

  /// Returns the faults of the machine that this rank has been told of so far over the network itself;
  /// nothing on fabrics that do not learn of them (all but sim).
  [[nodiscard]] std::vector<KnownFault> known_faults() const;

  /// Returns, for each rank, the number of the sub-cluster that it is in, from 0 on. The ranks of a
  /// sub-cluster reach each other's memory directly, except on the fabric mpi, where they are the ranks of a
  /// host.
  [[nodiscard]] std::vector<int> sub_cluster_of_ranks() const;

  /// Collective. Makes a window with zeroed memory for `elements` elements on this rank. Ranks may ask for
  /// different numbers, zero included. Messages and Chain::explain refer to the window by its name, which
  /// is the same on every rank, or without one by its number; the world keeps all names as long as it
  /// lives. Throws on every rank alike:
  ///   - Error{invalid_argument} for a number that is negative or whose bytes overflow 63 bits.
  ///   - Error{refused} if ranks give different names or elements of different sizes.
  ///   - Error{out_of_memory}, whose message says how much there is.
  template <Element T>
  [[nodiscard]] Window<T> window(Count elements, std::string name = {}) {
    return Window<T>(raw::Window(*this, elements, sizeof(T), std::move(name)));
  }

  /// Collective. Makes a window from existing memory: `elements` elements from `memory` on.
  ///   - On shm the ranks must be threads of one process. On cuda the memory comes from cudaMalloc on this
  ///     rank's GPU.
  ///   - The program keeps the memory alive until every rank has dropped the window and its chains, and has
  ///     made another window since. Over MPI it keeps the memory until the end of the process if such a
  ///     chain is dropped during a step.
  ///   - Throws Error{invalid_argument}, on every rank alike, for memory that the others cannot reach: on shm
  ///     between processes, on cuda host and managed memory, and between processes also that of a pool.
  template <Element T>
  [[nodiscard]] Window<T> window(T* memory, Count elements, std::string name = {}) {
    return Window<T>(raw::Window(*this, memory, elements, sizeof(T), std::move(name)));
  }

  /// Collective. Makes a window in host memory that kernels also reach, in worlds whose windows are GPU
  /// memory: the host reads and writes its elements in place, and puts go between windows of both kinds.
  /// For data that the host needs to see soon, such as flags and results; kernels reach it through PCIe, at
  /// a tenth of a GPU's own speed or less. The memory is pinned, so a host has less of it. On fabrics whose
  /// windows are host memory it is the same as `window`. Throws what that does, and Error{refused} if some
  /// ranks call `window`.
  template <Element T>
  [[nodiscard]] Window<T> host_window(Count elements, std::string name = {}) {
    return Window<T>(raw::Window::on_host(*this, elements, sizeof(T), std::move(name)));
  }

  /// Makes an empty chain, which involves no other rank until it is committed. The name appears in messages
  /// and traces, and is the same on every rank. The world keeps all names and layouts of puts as long as it
  /// lives, so a long-running program should reuse names rather than number them.
  [[nodiscard]] Chain chain(std::string name, ChainOptions options = {});

  /// Collective. Makes a team whose calls combine up to `max_values` values, of single blocks (BlockTeam),
  /// and of grids of up to `max_blocks` blocks (GridTeam), which take 32 bytes of GPU memory for each
  /// value, block and rank. Throws on every rank alike: Error{invalid_argument} for fewer than one value,
  /// for a negative number of blocks, and on a fabric without kernels; use the collectives of tca/coll.hpp
  /// there. Error{refused} if ranks give different numbers.
  [[nodiscard]] Team team(std::string name, Count max_values, Count max_blocks = 0);

  /// These two are collective and block. They are meant for set-up; in inner loops use tca/coll.hpp.
  /// `barrier` returns once every rank has called it; `all_gather` returns the values of all ranks, by rank.
  /// They throw Error{timed_out} or Error{rank_lost}.
  void barrier();
  template <Element T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine) {
    static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> has no bytes of its own; gather a char");
    std::vector<T> all(static_cast<std::size_t>(size()));
    all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }
  /// The same for bytes, the same number from each rank: `all` has room for those of every rank. Throws
  /// Error{refused}, on every rank alike, if ranks give different numbers, and Error{invalid_argument} if
  /// `all` has another size.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all);

  /// Tells sim that this rank runs a kernel that moves `bytes` bytes of its memory and does `flops`
  /// floating-point operations: the virtual clock advances by the time that the machine would need, launch
  /// included. Does nothing on other fabrics.
  void compute(double bytes, double flops);

  /// Returns the time since some fixed moment by this rank's clock: a virtual one on sim,
  /// `std::chrono::steady_clock` elsewhere.
  [[nodiscard]] std::chrono::duration<double> now() const;

  /// Collective. Rank 0 writes every rank's events to the file `path`, as Chrome trace JSON, which
  /// ui.perfetto.dev opens. Throws Error{invalid_argument}, on every rank alike, if a rank's world was made
  /// without WorldOptions::trace, or if rank 0 cannot write the file.
  void write_trace(const std::string& path);

  /// Adds a span to this rank's lane of the trace, from one value of `now()` to another.
  /// Does nothing without WorldOptions::trace.
  void trace_span(std::string name, std::chrono::duration<double> begin, std::chrono::duration<double> end);

  /// Progresses the steps of this rank's chains as far as possible without blocking. Other ranks may be
  /// waiting for this one's part in a step (guarded puts, large messages over MPI); an occasional call
  /// while this rank computes keeps their waits short. Unlike `wait` and `test` of a chain, it does not
  /// detect whether a partner is lost or late. Throws Error{rank_lost} if MPI fails, and on cuda+mpi what
  /// `check` does.
  void progress();

  /// Throws the error of a step that was ordered on a stream, or of a put from a kernel, if there was one.
  void check();

  /// Returns one line that says which fabrics this world runs on and how it came up.
  [[nodiscard]] std::string describe() const;

  /// Returns the name of the GPU that this rank drives, for display; empty if the fabric has none.
  [[nodiscard]] std::string device_name() const;

  /// Returns how many ranks drive that GPU, this one included; 0 if the fabric has none. Ranks that share a
  /// GPU get a part of its multiprocessors each, and take turns on it if they are processes (docs/gpu.md,
  /// "Where ranks share a GPU").
  [[nodiscard]] int ranks_on_device() const;

  /// Collective. Returns whether any two ranks drive the same GPU. If so, a kernel that waits for another
  /// rank must not run beside others: kernels of one stream may keep those of another from running.
  [[nodiscard]] bool ranks_share_devices();

  /// A World that was moved from may only be destroyed or assigned to; all other calls throw
  /// Error{invalid_argument}.
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  /// Synchronise first with all work on streams that still uses the world.
  ~World();

 private:
  friend class core::WorldState;
  static World from_mpi_handle(const void* comm, std::size_t bytes, const char* header,
                               const WorldOptions& options);
  explicit World(std::shared_ptr<core::WorldState> state);
  core::WorldState& state() const { return core::present(state_, "world"); }

  std::shared_ptr<core::WorldState> state_;
  int rank_, size_;
};

}  // namespace tca
