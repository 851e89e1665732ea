#include "route/bring_up.hpp"

#include <cstdlib>

#include "base/fail.hpp"
#include "fabric/shm/join.hpp"
#include "fabric/shm/shm_fabric.hpp"
#if OPENTCA_HAS_CUDA
#include "fabric/cuda/cuda_fabric.hpp"
#endif

namespace tca::route {

namespace {

using base::fail;

// Whether ranks share one address space.
enum class Ranks { threads, processes };

#if OPENTCA_HAS_CUDA
std::unique_ptr<fabric::Fabric> make_cuda(fabric::Control& control, const Wishes& wishes, Ranks ranks) {
  return cuda::make_fabric(
      control,
      {.threads = ranks == Ranks::threads, .device = wishes.device, .engine_blocks = wishes.engine_blocks});
}
#else
std::unique_ptr<fabric::Fabric> make_cuda(fabric::Control&, const Wishes&, Ranks) { return nullptr; }
#endif

std::unique_ptr<fabric::Fabric> make_fabric(fabric::Control& control, const Wishes& wishes, Ranks ranks) try {
  if (wishes.fabric == "cuda") return make_cuda(control, wishes, ranks);
  return shm::make_fabric(control,
                          ranks == Ranks::threads ? shm::Space::of_threads() : shm::Space::of_processes());
} catch (const Error& error) {
  // Those who wait for this rank are told; of a rank that it lost itself, the control plane has already noted which.
  if (error.code() != Errc::rank_lost && error.code() != Errc::timed_out) control.trouble = error.what();
  throw;
}

// Ranks of different fabrics would wait for each other in different calls.
void agree_on_fabric(fabric::Control& control, const Wishes& wishes) {
  const auto mine = base::Writer().put_string(wishes.fabric).blob();
  std::string first;
  int rank = 0;
  for (const base::Blob& blob : control.all_gather(mine, "start-up (World::init)")) {
    const std::string theirs = base::Reader(blob).get_string();
    if (rank == 0) first = theirs;
    if (theirs != first) {
      fail(Errc::incompatible,
           "rank {} asks for the fabric {}, rank 0 for {}; give every rank the same (WorldOptions::fabric or "
           "OPENTCA_FABRIC)",
           rank, theirs, first);
    }
    ++rank;
  }
}

// The ranks of a modelled machine are threads of one process.
Ground bring_up_alone_on_model(const shm::Seating& seating, const Wishes& wishes) {
  if (!seating.path.empty()) {
    fail(Errc::invalid_argument,
         "fabric sim: its ranks are threads of one process, but this one was started as a process of {}; "
         "start the "
         "program by itself and run its ranks by World::run_threads",
         seating.launcher);
  }
  Ground ground = ThreadGround(1, wishes).bring_up(0, wishes);
  ground.launcher = "alone";
  return ground;
}

}  // namespace

std::string fabric_name(const std::string& asked) {
  const char* const set = std::getenv("OPENTCA_FABRIC");
  const bool from_environment = asked.empty() && set != nullptr && *set != '\0';
  const std::string name = from_environment ? set : asked.empty() ? "shm" : asked;
  const char* const origin = from_environment ? "OPENTCA_FABRIC" : "WorldOptions::fabric";
  if (name != "shm" && name != "cuda" && name != "sim")
    fail(Errc::invalid_argument, "{} is '{}', and there is no such fabric; there are shm, cuda and sim",
         origin, name);
#if !OPENTCA_HAS_CUDA
  if (name == "cuda") {
    fail(Errc::invalid_argument,
         "fabric cuda ({}): this OpenTCA was built without CUDA; install the toolkit and configure again",
         origin);
  }
#endif
  return name;
}

std::string machine_name(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* const set = std::getenv("OPENTCA_MACHINE");
  return set != nullptr && *set != '\0' ? set : "ha-pacs-tca";
}

Ground bring_up_process(const Wishes& wishes) {
  const shm::Seating seating = shm::find_seating();
  if (wishes.fabric == "sim") return bring_up_alone_on_model(seating, wishes);
  Ground ground;
  ground.launcher = seating.launcher;
  const Ranks ranks = seating.path.empty() ? Ranks::threads : Ranks::processes;
  if (ranks == Ranks::threads) {
    ground.control = std::make_unique<shm::ShmControl>(shm::make_thread_board(1), 0, 1, wishes.time_limit);
    if (ground.launcher.empty()) ground.launcher = "alone";
  } else {
    ground.control = shm::join(seating, wishes.time_limit);
    agree_on_fabric(*ground.control, wishes);
  }
  ground.fabrics.push_back(make_fabric(*ground.control, wishes, ranks));
  return ground;
}

ThreadGround::ThreadGround(int ranks, const Wishes& wishes) : ranks_(ranks) {
  if (wishes.fabric == "sim") {
    model_ = sim::make_model(machine_name(wishes.machine), ranks);
  } else {
    board_ = shm::make_thread_board(ranks);
  }
}

std::unique_ptr<fabric::Control> ThreadGround::control(int rank, std::chrono::milliseconds time_limit) const {
  if (model_ != nullptr) return sim::make_control(model_, rank);
  return std::make_unique<shm::ShmControl>(shm::Mapping(board_.data(), board_.bytes(), false), rank, ranks_,
                                           time_limit);
}

Ground ThreadGround::bring_up(int rank, const Wishes& wishes) const {
  Ground ground;
  ground.control = control(rank, wishes.time_limit);
  ground.fabrics.push_back(model_ != nullptr ? sim::make_fabric(model_, *ground.control)
                                             : make_fabric(*ground.control, wishes, Ranks::threads));
  ground.launcher = "threads";
  return ground;
}

}  // namespace tca::route
