/// @file
/// What a program may ask of its world.
#pragma once

#include <chrono>
#include <string>

#include "tca/detail/language.hpp"

namespace tca {

struct WorldOptions {
  /// How long any blocking call may take. OPENTCA_TIME_LIMIT (seconds) overrides it.
  std::chrono::milliseconds time_limit{30'000};
  /// Records every chain's start, puts and wait for `write_trace`.
  bool trace = false;
  /// What carries the bytes, and where windows live: "shm" (host memory of one host), "cuda" (the memory of
  /// GPUs that reach each other), "mpi" (host memory, over the site's MPI), "shm+mpi" (shared memory
  /// between the ranks of a host, MPI otherwise), "cuda+mpi" (the same for GPUs; MPI must give
  /// MPI_THREAD_MULTIPLE) or "sim" (a modelled machine, whose ranks are threads: bytes really move, and a
  /// virtual clock says what it cost). Empty: OPENTCA_FABRIC, otherwise "shm", and "shm+mpi" if the ranks
  /// are on several hosts or OPENTCA_SUBCLUSTER (ranks in a sub-cluster) splits one. The same on every
  /// rank.
  std::string fabric = {};
  /// Which of this host's GPUs this rank drives, on cuda and cuda+mpi; -1: its position among the ranks of
  /// the host, modulo the number of GPUs.
  int device = -1;
  /// Multiprocessors of the GPU that are reserved for a resident engine, on cuda; 0: none. Of the chains
  /// that the host starts, it carries those of up to about 4 KB a multiprocessor as packets, or 64 KB
  /// stored in place; a launch is faster for larger ones. It always carries what kernels post to it.
  int engine_blocks = 0;
  /// The modelled machine, on sim: the name of a machine file, such as "quong", or its path. Empty:
  /// OPENTCA_MACHINE, otherwise "ha-pacs-tca".
  std::string machine = {};
  /// How closely it is modelled, on sim: "rtl" (PEACH's hubs in RTL), "tlp" (every packet), "train" (the packets of a
  /// transfer together until others contend with them: simulated faster, with times within a few percent) or "flow"
  /// (bandwidth alone, for large transfers). Empty: OPENTCA_FIDELITY, otherwise "tlp".
  std::string fidelity = {};
  /// What fails, on sim, and when: "cable:0-1@20us" (between the hubs of two nodes), "hub:3@50us" (nothing
  /// goes through that node's PEACH2 or APEnet+ card any more) and "host:2@1ms" (its ranks stop), separated
  /// by commas. Needs the fidelity "tlp". On other fabrics this is a rehearsal: with
  /// "path:0-1:shm/pull@20ms" nothing goes between these ranks by that protocol from 20 ms after the world
  /// came up, with "path:0-1:mpi@0s" nothing by any protocol of mpi. The same on every rank. Empty:
  /// OPENTCA_FAULTS. See World::known_faults and ChainOptions::reroute.
  std::string faults = {};
  /// Makes the ranks of World::run_threads take turns on the caller's thread, on sim, each with a stack of
  /// 1 MiB. There may then be more of them than the system allows threads, and a modelled step takes less
  /// of the host's time. They share anything that is thread_local. No effect in a build with
  /// AddressSanitizer or ThreadSanitizer.
  bool fibers = false;
  /// A thread of each rank that progresses messages while the rank computes, on mpi and shm+mpi; MPI must
  /// give MPI_THREAD_MULTIPLE. OPENTCA_PROGRESS_THREAD (0 or 1) overrides it. See also World::progress.
  bool progress_thread = false;
  /// Makes a `wait` or `test` of a chain, halo or collective an Error{invalid_argument} if there was no
  /// `start` since the last `wait`. OPENTCA_CHECK (0 or 1) overrides it.
  bool check_steps = false;
  /// Every chain takes the times of its messages; see tca/timing.hpp. OPENTCA_TIMING (0 or 1) overrides it. The
  /// same on every rank.
  bool timing = false;
  /// Every chain reroutes around faults; see ChainOptions::reroute. OPENTCA_REROUTE (0 or 1) overrides it.
  /// The same on every rank.
  bool reroute = false;
};

}  // namespace tca
