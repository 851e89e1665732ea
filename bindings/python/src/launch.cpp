#include "launch.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <mutex>
#include <set>

#include "errors.hpp"
#include "interpreter.hpp"
#include "world.hpp"

namespace tca {

#ifdef OPENTCA_HAVE_MPI
// A communicator of mpi4py, which says what its MPI is.
struct Mpi4pyComm {
  const void* address;
  std::size_t bytes;
  const char* vendor;
};

template <>
World World::from_mpi<Mpi4pyComm>(Mpi4pyComm comm, const WorldOptions& options) {
  return from_mpi_handle(comm.address, comm.bytes, comm.vendor, options);
}
#endif

}  // namespace tca

namespace opentca_python {

std::string text(nb::handle object) {
  const nb::object words = nb::steal(PyObject_Str(object.ptr()));
  if (!words.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(words);
}

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  if (std::isnan(seconds) || seconds < 0) {
    throw tca::Error(tca::Errc::invalid_argument, "a time of " + std::to_string(seconds) + " s cannot be");
  }
  constexpr double most = 1e9;  // thirty years
  return std::chrono::nanoseconds(std::llround(std::min(seconds, most) * 1e9));
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(nanoseconds_of(seconds));
}

namespace {

// Takes an option out of those that were given.
template <class T>
T taken(nb::kwargs& given, const char* name, T otherwise) {
  if (!given.contains(name)) return otherwise;
  const nb::object value = given[name];
  nb::del(given[name]);
  return value.is_none() ? otherwise : nb::cast<T>(value);
}

tca::WorldOptions world_options(nb::kwargs& given, const char* call) {
  tca::WorldOptions options;
  options.fabric = taken<std::string>(given, "fabric", {});
  options.machine = taken<std::string>(given, "machine", {});
  options.fidelity = taken<std::string>(given, "fidelity", {});
  options.faults = taken<std::string>(given, "faults", {});
  options.reroute = taken(given, "reroute", false);
  options.trace = taken(given, "trace", false);
  options.check_steps = taken(given, "check_steps", false);
  options.progress_thread = taken(given, "progress_thread", false);
  options.engine_blocks = taken(given, "engine_blocks", options.engine_blocks);
  if (const int device = taken(given, "device", -1); device >= 0) options.device = device;
  options.time_limit = milliseconds_of(taken(given, "time_limit", 30.0));
  for (const auto& [name, value] : given) {
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", call, name.ptr());
    throw nb::python_error();
  }
  return options;
}

#ifdef OPENTCA_HAVE_MPI
tca::World of_communicator(nb::handle comm, const tca::WorldOptions& options) {
  const nb::module_ mpi = nb::module_::import_("mpi4py.MPI");
  const auto address = nb::cast<std::uintptr_t>(mpi.attr("_addressof")(comm));
  const auto bytes = nb::cast<std::size_t>(mpi.attr("_sizeof")(comm));
  const std::string vendor = text(nb::object(mpi.attr("get_vendor")()[0]));
  return without_lock([&] {
    return tca::World::from_mpi(
        tca::Mpi4pyComm{reinterpret_cast<const void*>(address), bytes, vendor.c_str()}, options);
  });
}
#else
// Without an MPI of its own, the world of a communicator is that of its ranks on one host, by a key that rank 0 draws.
tca::World of_communicator(nb::handle comm, const tca::WorldOptions& options) {
  const nb::object host = nb::module_::import_("socket").attr("gethostname")();
  std::set<std::string> hosts;
  for (nb::handle name : nb::object(comm.attr("allgather")(host))) hosts.insert(text(name));
  if (hosts.size() > 1) {
    throw tca::Error(
        tca::Errc::invalid_argument,
        "World(comm=...): the ranks are on " + std::to_string(hosts.size()) +
            " hosts, and this opentca was built without MPI. Build it with the MPI of mpi4py: pip install "
            "--no-binary opentca -C cmake.define.OPENTCA_WITH_MPI=ON opentca");
  }
  const auto rank = nb::cast<int>(comm.attr("Get_rank")());
  const auto size = nb::cast<int>(comm.attr("Get_size")());
  const nb::object drawn = nb::module_::import_("secrets").attr("token_hex")(8);
  const std::string key = text(nb::object(comm.attr("bcast")(drawn)));
  return without_lock([&] { return tca::World::join(rank, size, key, options); });
}
#endif

std::pair<int, int> last_rank{0, 1};

// What a rank that is a thread throws, so that the others hear of it in one line.
[[noreturn]] void pass_on(const nb::python_error& error) {
  if (auto ours = library_error(error)) throw *ours;
  const std::string type = text(nb::object(error.type().attr("__name__")));
  const std::string what = text(error.value());
  throw std::runtime_error(what.empty() ? type : type + ": " + what);
}

}  // namespace

std::shared_ptr<Place> come_up(nb::kwargs& given) {
  const auto comm = taken(given, "comm", nb::object(nb::none()));
  const int rank = taken(given, "rank", -1);
  const int size = taken(given, "size", -1);
  const auto key = taken<std::string>(given, "key", {});
  const auto arrays = taken(given, "arrays", nb::object(nb::none()));
  const tca::WorldOptions options = world_options(given, "World");
  const bool by_key = rank != -1 || size != -1 || !key.empty();
  if (by_key && (!comm.is_none() || rank == -1 || size == -1 || key.empty())) {
    throw tca::Error(
        tca::Errc::invalid_argument,
        "World(...): take comm, or all of rank, size and key, or neither where a launcher starts the ranks");
  }
  tca::World world = !comm.is_none() ? of_communicator(comm, options)
                     : by_key ? without_lock([&] { return tca::World::join(rank, size, key, options); })
                              : without_lock([&] { return tca::World::init(options); });
  last_rank = {world.rank(), world.size()};
  return std::make_shared<Place>(std::move(world), false, arrays);
}

std::pair<int, int> rank_of_process() { return last_rank; }

nb::list run_threads(int ranks, nb::object body, nb::kwargs given) {
  const auto arrays = taken(given, "arrays", nb::object(nb::none()));
  const tca::WorldOptions options = world_options(given, "run_threads");
  std::vector<nb::object> results(static_cast<std::size_t>(std::clamp(ranks, 0, 1 << 20)));
  std::optional<nb::python_error> first;  // the cause, rather than what it led to on other ranks
  bool first_is_cause = false;
  nb::ft_mutex mutex;  // of these
  // Each rank with the interpreter's lock.
  const auto run = [&](tca::World& world) {
    const nb::gil_scoped_acquire lock;
    const auto rank = static_cast<std::size_t>(world.rank());
    const WorldObject mine{std::make_shared<Place>(std::move(world), true, arrays)};
    try {
      nb::object result = body(mine);
      mine.place->close(false);
      const nb::ft_lock_guard guard(mutex);
      results[rank] = std::move(result);
    } catch (const nb::python_error& error) {
      mine.place->close(true);
      const auto ours = library_error(error);
      const bool cause = !ours || ours->code() != tca::Errc::rank_lost;
      {
        const nb::ft_lock_guard guard(mutex);
        if (!first || (cause && !first_is_cause)) {
          first.emplace(error);
          first_is_cause = cause;
        }
      }
      pass_on(error);
    }
  };
  try {
    without_lock([&] { tca::World::run_threads(ranks, run, options); });
  } catch (const std::exception&) {
    if (first) throw nb::python_error(*first);
    throw;
  }
  nb::list list;
  for (nb::object& result : results) list.append(std::move(result));
  return list;
}

}  // namespace opentca_python
