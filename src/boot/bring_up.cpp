#include "boot/bring_up.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "boot/join.hpp"
#include "boot/over_mpi.hpp"
#include "control/shm/process.hpp"
#include "fabric/accelerator.hpp"
#include "fabric/shm/reach.hpp"
#include "fabric/shm/shm_fabric.hpp"
#include "fabric/sim/sim_fabric.hpp"
#ifdef OPENTCA_HAVE_CUDA
#include "fabric/cuda/cuda_fabric.hpp"
#endif

namespace tca::boot {

namespace {

using base::fail;

#ifdef OPENTCA_HAVE_CUDA
constexpr bool has_cuda = true;

std::unique_ptr<fabric::Fabric> make_cuda(control::Control& control, const WorldOptions& options, Ranks ranks,
                                          const control::Places& places) {
  return cuda::make_fabric(
      control, places,
      {.threads = ranks == Ranks::threads, .device = options.device, .engine_blocks = options.engine_blocks});
}
#else
constexpr bool has_cuda = false;

std::unique_ptr<fabric::Fabric> make_cuda(control::Control&, const WorldOptions&, Ranks,
                                          const control::Places&) {
  return nullptr;
}
#endif

bool uses_shm(const std::string& fabric) { return !on_gpus(fabric) && fabric != "mpi"; }

// `space` is needed if the fabric `uses_shm`.
void make_fabrics(Connections& connections, const WorldOptions& options, Ranks ranks,
                  std::unique_ptr<shm::Space> space) try {
  control::Control& control = *connections.control;
  std::vector<std::unique_ptr<fabric::Fabric>>& fabrics = connections.fabrics;
  if (on_gpus(options.fabric))
    fabrics.push_back(make_cuda(control, options, ranks, connections.places));
  else if (uses_shm(options.fabric))
    fabrics.push_back(shm::make_fabric(control, std::move(space), connections.places));
  if (needs_mpi(options.fabric)) {
    fabric::Accelerator* const accelerator = fabrics.empty() ? nullptr : fabrics.front()->accelerator();
    fabric::Stager* const stager = accelerator != nullptr ? &accelerator->stager() : nullptr;
    fabrics.push_back(make_mpi_fabric(control, options, stager));
  }
} catch (const Error& error) {
  // Partners that wait for this rank learn why it failed. If it has itself lost a rank, the control plane
  // has already noted which one.
  if (error.code() != Errc::rank_lost && error.code() != Errc::timed_out)
    connections.control->trouble = {error.what()};
  throw;
}

// Makes sure that all ranks ask for something possible, and for the same fabric: ranks of different fabrics
// would wait for each other in different calls.
void agree_on_fabric(control::Control& control, const Asked& asked) {
  const auto mine = [&] {
    if (asked.refusal) throw Error(*asked.refusal);
    return base::Writer().put_string(asked.options.fabric).blob();
  };
  std::string first;
  int rank = 0;
  for (const base::Blob& blob : control.make_together("start-up (World::init)", mine)) {
    const std::string theirs = base::Reader(blob).get_string();
    if (rank == 0) first = theirs;
    if (theirs != first) {
      fail(Errc::incompatible,
           "rank {} asks for the fabric {}, rank 0 for {}; give every rank the same (option fabric or "
           "OPENTCA_FABRIC; without either, OPENTCA_SUBCLUSTER asks for shm+mpi)",
           rank, theirs, first);
    }
    ++rank;
  }
}

// Brings up a world of one rank on a modelled machine, whose ranks are threads of one process.
Connections bring_up_alone_on_model(const LaunchInfo& launch, const WorldOptions& options) {
  if (!launch.path.empty()) {
    fail(Errc::invalid_argument,
         "fabric sim: its ranks are threads of one process, but this one was started as a process of {}; "
         "start the program by itself and run its ranks by World::run_threads",
         launch.launcher);
  }
  Connections connections = ThreadConnections(1, options).bring_up(0, options);
  connections.launcher = "alone";
  return connections;
}

// Finds the sub-clusters: of the size that OPENTCA_SUBCLUSTER asks for, and of ranks that reach one
// another. Throws, on every rank alike, if ranks ask for different sizes.
control::Places find_places(control::Control& control, std::vector<int> hosts, const shm::Found& found) {
  std::vector<int> all;
  for (const base::Blob& blob : control.make_together(
           "start-up (sub-clusters)", [] { return base::Writer().put(asked_sub_cluster()).blob(); }))
    all.push_back(base::Reader(blob).get<int>());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) {
      fail(Errc::incompatible,
           "rank {} has OPENTCA_SUBCLUSTER={}, rank 0 {} (0: not set); give every rank the same", rank,
           all[rank], all[0]);
    }
  }
  std::vector<int> sub_clusters = shm::divide(hosts, all[0], found);
  return {std::move(hosts), std::move(sub_clusters), found.obstacle};
}

// Throws if the ranks do not all belong to one sub-cluster and the fabric lacks MPI, so that it would reach
// neither other hosts nor other sub-clusters.
void check_reach(const control::Places& places, const std::string& fabric) {
  if (needs_mpi(fabric)) return;
  for (std::size_t rank = 0; rank < places.host.size(); ++rank) {
    if (places.host[rank] == 0 && places.sub_cluster[rank] == 0) continue;
    if (!places.obstacle.empty()) {
      fail(Errc::incompatible, "fabric {}: {}. Or choose {}+mpi or mpi (option fabric or OPENTCA_FABRIC)",
           fabric, places.obstacle, fabric);
    }
    const std::string where =
        places.host[rank] != 0
            ? "on another host than rank 0, and it serves one host"
            : fmt::format("in another sub-cluster than rank 0 (OPENTCA_SUBCLUSTER={}), and it serves one",
                          asked_sub_cluster());
    fail(Errc::invalid_argument,
         "fabric {}: rank {} is {}; choose {}+mpi or mpi (option fabric or OPENTCA_FABRIC)", fabric, rank,
         where, fabric);
  }
}

// Brings up the fabrics of processes that have met. `hosts` holds the number of each rank's host.
void connect(Connections& connections, const WorldOptions& options, std::vector<int> hosts) {
  control::Control& control = *connections.control;
  shm::Found found;
  if (uses_shm(options.fabric)) found = shm::find_reach(control, hosts);
  connections.places = find_places(control, std::move(hosts), found);
  check_reach(connections.places, options.fabric);
  make_fabrics(connections, options, Ranks::processes, std::move(found.space));
}

// Brings up processes of one host, which meet at the place of their launch.
void meet(Connections& connections, const LaunchInfo& launch, const Asked& asked) {
  connections.control = join(launch, asked.options.time_limit, asked.options.fabric);
  agree_on_fabric(*connections.control, asked);
  connect(connections, asked.options,
          std::vector<int>(static_cast<std::size_t>(connections.control->size())));
}

// Makes the fabrics on a control plane over MPI. Every fabric works on one, so that a program's communicator
// can bring up any.
Connections bring_up_on(std::unique_ptr<control::Control> control, std::string launcher, const Asked& asked) {
  Connections connections;
  connections.control = std::move(control);
  connections.launcher = std::move(launcher);
  agree_on_fabric(*connections.control, asked);
  connect(connections, asked.options, hosts_over_mpi(*connections.control));
  return connections;
}

// Throws if the launcher speaks a different protocol from this MPI. Every process would then be a world of
// one, which ends without an error. `started` is the number of processes that MPI knows of.
void check_known_to_mpi(const LaunchInfo& launch, int started) {
  if (launch.size <= 1 || started > 1) return;
  fail(
      Errc::incompatible,
      "{} has started {} ranks, but the MPI that OpenTCA was built with ({}) knows nothing of them and would "
      "give each a world of its own; start the program by that MPI's own mpirun, or have the launcher speak "
      "its protocol (srun --mpi=list, then --mpi=pmix or another)",
      launch.launcher, launch.size, mpi_library());
}

// Throws if ranks come from a launcher that tells no MPI about them.
void check_not_by_itself(const LaunchInfo& launch, const std::string& fabric) {
  if (launch.known_to_mpi || launch.size <= 1) return;
  if (launch.launcher == "tca run") {
    fail(Errc::invalid_argument,
         "fabric {}: MPI knows nothing of ranks that tca run has started by itself; start them by `tca run "
         "--fabric {}` or by mpirun",
         fabric, fabric);
  }
  fail(
      Errc::invalid_argument,
      "fabric {}: MPI knows nothing of the {} ranks that {} has started, {} of them on this host; start them "
      "by mpirun, or all of them on one host, where they need no MPI (fabric shm or cuda)",
      fabric, launch.size, launch.launcher, launch.here);
}

Connections bring_up_process_over_mpi(const LaunchInfo& launch, const Asked& asked) {
  const WorldOptions& options = asked.options;
  check_not_by_itself(launch, options.fabric);
  // The ranks of one host agree through shared memory first. A rank that asks for shm alone would never get
  // to MPI, and no rank there could tell why.
  std::shared_ptr<const void> ends_with_starter;
  if (launch.size > 1 && launch.on_one_host()) {
    ends_with_starter = std::make_shared<shm::EndsWithStarter>(launch.rank_variable);
    try {
      agree_on_fabric(*join(launch, options.time_limit), asked);
    } catch (const shm::Apart&) {
      // They agree over MPI, which connects them.
    }
  }
  std::unique_ptr<control::Control> control = join_over_mpi(options);
  check_known_to_mpi(launch, control->size());
  Connections connections =
      bring_up_on(std::move(control), launch.launcher.empty() ? "alone" : launch.launcher, asked);
  connections.ends_with_starter = std::move(ends_with_starter);
  return connections;
}

}  // namespace

int asked_sub_cluster() {
  const char* text = base::set_variable("OPENTCA_SUBCLUSTER");
  if (text == nullptr) return 0;
  int ranks = 0;
  const char* end = text + std::strlen(text);
  if (std::from_chars(text, end, ranks).ptr != end || ranks < 1) {
    fail(Errc::invalid_argument, "OPENTCA_SUBCLUSTER={} is not a number of ranks, 1 or more", text);
  }
  return ranks;
}

bool built_with_cuda() { return has_cuda; }

std::string default_fabric() {
  return built_with_mpi() && (base::set_variable("OPENTCA_SUBCLUSTER") || find_launch_info().spans_hosts())
             ? "shm+mpi"
             : "shm";
}

std::string fabric_name(const std::string& asked, std::string_view otherwise) {
  const char* const set = base::set_variable("OPENTCA_FABRIC");
  const bool from_environment = asked.empty() && set != nullptr;
  const std::string name = from_environment ? set : asked.empty() ? std::string(otherwise) : asked;
  const char* const origin = from_environment ? "OPENTCA_FABRIC" : "option fabric";
  constexpr std::array<std::string_view, 6> names{"shm", "cuda", "mpi", "shm+mpi", "cuda+mpi", "sim"};
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail(Errc::invalid_argument,
         "{} is '{}', and there is no such fabric; there are shm, cuda, mpi, shm+mpi, cuda+mpi and sim",
         origin, name);
  if (on_gpus(name) && !built_with_cuda()) {
    fail(Errc::invalid_argument,
         "fabric {} ({}): this OpenTCA was built without CUDA; install the toolkit and configure again", name,
         origin);
  }
  if (needs_mpi(name) && !built_with_mpi()) {
    fail(Errc::invalid_argument,
         "fabric {} ({}): this OpenTCA was built without MPI; install one (packages libopenmpi-dev and "
         "openmpi-bin) and configure again",
         name, origin);
  }
  return name;
}

Environment read_environment() {
  Environment environment;
  if (const char* text = base::set_variable("OPENTCA_TIME_LIMIT")) {
    double seconds = 0;
    const char* end = text + std::strlen(text);
    if (std::from_chars(text, end, seconds).ptr != end || !(seconds >= 1e-3) || seconds > 1e6) {
      fail(Errc::invalid_argument, "OPENTCA_TIME_LIMIT={} is not a number of seconds from 0.001 to 1000000",
           text);
    }
    environment.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
  }
  environment.progress_thread = base::one_or_zero("OPENTCA_PROGRESS_THREAD");
  environment.check_steps = base::one_or_zero("OPENTCA_CHECK");
  environment.timing = base::one_or_zero("OPENTCA_TIMING");
  environment.reroute = base::one_or_zero("OPENTCA_REROUTE");
  return environment;
}

void check_environment(std::string_view fabric) {
  read_environment();
  asked_sub_cluster();
  if (fabric == "cuda+mpi") base::on_or_off("OPENTCA_CUDA_AWARE", "whether MPI is given GPU memory");
}

void warn_of_environment(int rank) {
  if (rank == 0 && find_launch_info().rank == 0) base::warn_of_unknown_variables();
}

std::string machine_name(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* const set = base::set_variable("OPENTCA_MACHINE");
  return set != nullptr ? set : "ha-pacs-tca";
}

Connections bring_up_process(const Asked& asked) {
  const LaunchInfo launch = find_launch_info();
  const WorldOptions& options = asked.options;
  if (options.fabric == "sim") return bring_up_alone_on_model(launch, options);
  if (needs_mpi(options.fabric)) return bring_up_process_over_mpi(launch, asked);
  Connections connections;
  connections.launcher = launch.launcher;
  if (launch.path.empty()) {
    if (asked.refusal) throw Error(*asked.refusal);
    connections.control =
        std::make_unique<shm::ShmControl>(make_thread_rendezvous(1), 0, 1, options.time_limit);
    if (connections.launcher.empty()) connections.launcher = "alone";
    connections.places = find_places(*connections.control, {0}, {});
    make_fabrics(connections, options, Ranks::threads, shm::Space::of_threads());
    return connections;
  }
  connections.ends_with_starter = std::make_shared<shm::EndsWithStarter>(launch.rank_variable);
  meet(connections, launch, asked);
  return connections;
}

// A rank that asks for a fabric that needs no key still meets the others, and tells them.
Connections bring_up_joined(const LaunchInfo& launch, const Asked& asked) {
  Connections connections;
  connections.launcher = launch.launcher;
  const std::string& fabric = asked.options.fabric;
  if (!needs_mpi(fabric) && fabric != "sim") {
    meet(connections, launch, asked);
    return connections;
  }
  const Error refusal(
      Errc::invalid_argument,
      fmt::format("fabric {}: {}", fabric,
                  fabric == "sim" ? "its ranks are threads of one process; run them by World::run_threads"
                                  : "MPI knows its ranks without a key; come up by World::init or "
                                    "World::from_mpi, or choose shm or cuda"));
  meet(connections, launch, {asked.options, asked.refusal.value_or(refusal)});
  return connections;
}

Connections bring_up_communicator(const void* comm, std::size_t bytes, std::string_view header,
                                  const Asked& asked) {
  std::unique_ptr<control::Control> control = join_over_mpi(comm, bytes, header, asked.options);
  const LaunchInfo launch = find_launch_info();
  if (!launch.known_to_mpi && launch.size > 1 && control->size() == 1) {
    fail(Errc::invalid_argument,
         "World::from_mpi: MPI knows nothing of the {} ranks that {} has started by itself, and would "
         "give each a world of its own; start the program by mpirun",
         launch.size, launch.launcher);
  }
  check_known_to_mpi(launch, started_by_mpi());
  if (asked.options.fabric == "sim") {
    return bring_up_on(std::move(control), "MPI",
                       {asked.options, Error(Errc::invalid_argument,
                                             "fabric sim: its ranks are threads of one process; run them by "
                                             "World::run_threads instead of World::from_mpi")});
  }
  return bring_up_on(std::move(control), "MPI", asked);
}

struct ThreadConnections::Shared {
  shm::Mapping rendezvous;  // if ranks run by themselves
  std::unique_ptr<base::Fibers> fibers;
  std::shared_ptr<sim::Model> model;  // if ranks take turns on a modelled machine
};

ThreadConnections::ThreadConnections(int ranks, const WorldOptions& options)
    : ranks_(ranks), shared_(std::make_unique<Shared>()) {
  if (needs_mpi(options.fabric)) {
    fail(Errc::invalid_argument,
         "fabric {}: its ranks are processes, and cannot be threads (World::run_threads); start the program "
         "by mpirun and bring its world up by World::init",
         options.fabric);
  }
  if (options.fabric == "sim") {
    if (options.fibers && base::Fibers::available)
      shared_->fibers = std::make_unique<base::Fibers>(static_cast<std::size_t>(ranks));
    shared_->model = sim::make_model(machine_name(options.machine), ranks, options.fidelity, options.faults,
                                     shared_->fibers.get());
  } else {
    shared_->rendezvous = make_thread_rendezvous(ranks);
  }
}

ThreadConnections::~ThreadConnections() = default;

base::Fibers* ThreadConnections::fibers() const { return shared_->fibers.get(); }

std::unique_ptr<control::Control> ThreadConnections::control(int rank,
                                                             std::chrono::milliseconds time_limit) const {
  if (shared_->model != nullptr) return sim::make_control(shared_->model, rank);
  return std::make_unique<shm::ShmControl>(
      shm::Mapping(shared_->rendezvous.data(), shared_->rendezvous.bytes(), false), rank, ranks_, time_limit);
}

Connections ThreadConnections::bring_up(int rank, const WorldOptions& options) const {
  Connections connections;
  connections.control = control(rank, options.time_limit);
  connections.places =
      shared_->model != nullptr ? sim::find_places(*shared_->model) : control::Places::together(ranks_);
  connections.launcher = "threads";
  if (shared_->model != nullptr)
    connections.fabrics.push_back(sim::make_fabric(shared_->model, *connections.control));
  else
    make_fabrics(connections, options, Ranks::threads, shm::Space::of_threads());
  return connections;
}

}  // namespace tca::boot
