#include "boot/over_mpi.hpp"

#include "base/fail.hpp"
#ifdef OPENTCA_HAVE_MPI
#include "fabric/mpi/mpi_fabric.hpp"
#endif

namespace tca::boot {

#ifdef OPENTCA_HAVE_MPI

namespace {

mpi::Settings settings(const WorldOptions& options, fabric::Stager* stager = nullptr) {
  return {.time_limit = options.time_limit,
          .progress_thread = options.progress_thread,
          .staged = on_gpus(options.fabric) && needs_mpi(options.fabric),
          .stager = stager};
}

}  // namespace

bool built_with_mpi() { return true; }

std::string mpi_library() { return mpi::library_name(); }

std::unique_ptr<control::Control> join_over_mpi(const WorldOptions& options) {
  return mpi::join(settings(options));
}

std::unique_ptr<control::Control> join_over_mpi(const void* comm, std::size_t bytes, std::string_view header,
                                                const WorldOptions& options) {
  return mpi::join(comm, bytes, header, settings(options));
}

int started_by_mpi() { return mpi::started(); }
std::vector<int> hosts_over_mpi(const control::Control& control) { return mpi::hosts(control); }

std::unique_ptr<fabric::Fabric> make_mpi_fabric(control::Control& control, const WorldOptions& options,
                                                fabric::Stager* stager) {
  return mpi::make_fabric(control, settings(options, stager));
}

#else

namespace {

[[noreturn]] void fail_without() {
  base::fail(Errc::invalid_argument,
             "this OpenTCA was built without MPI; install one (packages libopenmpi-dev and openmpi-bin) and "
             "configure again");
}

}  // namespace

bool built_with_mpi() { return false; }
std::string mpi_library() { return {}; }
std::unique_ptr<control::Control> join_over_mpi(const WorldOptions&) { fail_without(); }
std::unique_ptr<control::Control> join_over_mpi(const void*, std::size_t, std::string_view,
                                                const WorldOptions&) {
  fail_without();
}
int started_by_mpi() { fail_without(); }
std::vector<int> hosts_over_mpi(const control::Control&) { fail_without(); }
std::unique_ptr<fabric::Fabric> make_mpi_fabric(control::Control&, const WorldOptions&, fabric::Stager*) {
  fail_without();
}

#endif

}  // namespace tca::boot
