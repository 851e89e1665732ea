#include "fabric/mpi/mpi_fabric.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "base/fail.hpp"
#include "base/system/limits.hpp"
#include "control/mpi/mpi_control.hpp"
#include "control/mpi/session.hpp"
#include "fabric/messages.hpp"
#include "fabric/mpi/accelerator_memory.hpp"
#include "fabric/mpi/compile.hpp"
#include "fabric/mpi/immediates.hpp"
#include "fabric/mpi/memory.hpp"
#include "fabric/mpi/poster.hpp"
#include "fabric/mpi/program.hpp"
#include "fabric/mpi/progress_thread.hpp"
#include "fabric/mpi/rma.hpp"
#include "fabric/mpi/staged.hpp"
#include "fabric/mpi/timed_program.hpp"

namespace tca::mpi {

namespace {

constexpr std::array<std::string_view, 4> protocol_names{"datatype", "packed", "rma", "staged"};

// A share that messages and one-sided calls carry. Tells the others which windows this rank puts into by
// rma, since all ranks together have MPI make a window for each.
class MpiOffer final : public fabric::Offer {
 public:
  MpiOffer(MpiControl& control, Runner& runner, const fabric::ChainSpec& share, int tag)
      : control_(control), runner_(runner), share_(share), tag_(tag) {
    const InMpi inside;
    operations_ = mpi::compile(share, tag, control.comm());
    part_ = std::make_unique<RmaPart>(control.comm(), share, runner);
    for (const fabric::Put& put : share.outgoing)
      if (goes_by(put, rma)) put_into_.put(static_cast<MpiMemory*>(put.to_memory)->number());
  }

  base::Blob to_others() override { return put_into_.blob(); }
  bool concerns_all() const override { return !put_into_.blob().empty(); }

  std::unique_ptr<fabric::Program> bind(const fabric::Offers& offers) override {
    std::set<std::uint32_t> numbers;
    for (const auto& [rank, blob] : offers)
      for (base::Reader reader(blob); !reader.done();) numbers.insert(reader.get<std::uint32_t>());
    std::vector<MpiMemory*> windows;
    for (const std::uint32_t number : numbers) windows.push_back(runner_.immediates.window(number));
    if (windows.empty())
      part_.reset();
    else
      part_->make_windows(control_, windows);
    auto program = std::make_unique<MpiProgram>(runner_, std::move(operations_), std::move(part_));
    if (share_.arrivals == nullptr) return program;
    const InMpi inside;
    return std::make_unique<TimedProgram>(std::move(program), share_, control_.comm(), stamp_tag(tag_),
                                          hosts(control_));
  }

 private:
  MpiControl& control_;
  Runner& runner_;
  fabric::ChainSpec share_;
  int tag_;
  Operations operations_;
  std::unique_ptr<RmaPart> part_;
  base::Writer put_into_;
};

// A share on an accelerator's memory, which messages of a stage carry.
class StagedOffer final : public fabric::Offer {
 public:
  StagedOffer(ProxyThread& proxy, Runner& runner, fabric::Stager& stager, fabric::StageMemory memory,
              const fabric::ChainSpec& share, int tag)
      : proxy_(proxy), runner_(runner), messages_(staged_messages(share)) {
    if (messages_.empty()) return;
    stage_ = stager.make_stage(std::string(share.name), messages_, memory, share.time_limit);
    const InMpi inside;
    operations_ = mpi::compile(messages_, *stage_, tag, runner.comm);
  }

  std::unique_ptr<fabric::Program> bind(const fabric::Offers&) override {
    return std::make_unique<StagedProgram>(proxy_, runner_, std::move(messages_), std::move(stage_),
                                           std::move(operations_));
  }

 private:
  ProxyThread& proxy_;
  Runner& runner_;
  std::vector<fabric::StagedMessage> messages_;
  std::unique_ptr<fabric::Stage> stage_;
  Operations operations_;  // go before the stage
};

class MpiFabric final : public fabric::Fabric, public fabric::Messages {
 public:
  MpiFabric(MpiControl& control, const Settings& settings)
      : control_(control),
        runner_(control.comm()),
        poster_(control, settings.stager),
        stager_(settings.stager) {
    if (stager_ != nullptr) {
      if (takes_accelerator_memory(control.comm(), *stager_))
        stage_memory_ = fabric::StageMemory::accelerator;
      proxy_.emplace(runner_, control.cores(), *stager_);
    } else if (settings.progress_thread) {
      progress_thread_.emplace(control.comm());
    }
  }

  std::string_view name() const override { return "mpi"; }
  std::span<const std::string_view> protocols() const override { return protocol_names; }
  bool reaches(int) const override { return true; }
  bool carries(int protocol, int) const override { return (protocol == staged) == (stager_ != nullptr); }

  // A stage has its messages cut into chunks at commit, and one-sided puts do not tell their targets
  // anything.
  bool carries_counted(int protocol) const override { return protocol == datatype || protocol == packed; }

  // All ranks of a communicator make MPI's windows together.
  bool serves_groups(int protocol) const override { return protocol != rma; }

  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override;
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override;

  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override {
    auto& window = static_cast<MpiMemory&>(memory);
    const auto held = hold();
    if (rank == control_.rank()) return window.write(offset, value);
    runner_.immediates.put(rank, window.number(), offset, value);
  }

  // What uses a stage is carried while no rank looks.
  bool times_messages() const override { return stager_ == nullptr; }

  fabric::Messages* messages() override { return this; }
  fabric::Poster* poster() override { return &poster_; }
  bool is_quiescent() override {
    const auto held = hold();
    return runner_.immediates.is_quiescent();
  }
  std::vector<int> outstanding() override {
    const auto held = hold();
    return runner_.immediates.outstanding();
  }

  void trace_to(base::Trace* trace) override {
    const auto held = hold();
    runner_.trace = trace;
  }
  void check() override {
    if (proxy_) proxy_->check();
  }
  bool needs_polling() const override {
    return poster_.needs_polling() || (!proxy_ && runner_.needs_polling());
  }
  void progress() override {
    proxy_ ? proxy_->check() : runner_.progress();
    poster_.progress();
  }
  void progress_while_waiting() override {
    proxy_ ? proxy_->check() : runner_.progress_while_waiting();
    // A rank without posts of its own receives at most bare notices, and those can wait.
    constexpr unsigned calls_between_looks = 64;
    if (poster_.is_active() || ++spared_ % calls_between_looks == 0) poster_.progress();
  }
  void quiesce() override {
    progress_thread_.reset();
    poster_.finish();
    if (proxy_) proxy_->finish(control_, control_.time_limit);
    free_windows(control_, runner_);
  }

 private:
  std::unique_ptr<fabric::Offer> prepare(const fabric::ChainSpec& share);

  // Keeps the proxy's thread, if there is one, off what the rank's own thread uses.
  [[nodiscard]] std::unique_lock<std::mutex> hold() {
    return proxy_ ? proxy_->hold() : std::unique_lock<std::mutex>();
  }

  MpiControl& control_;
  Runner runner_;
  MpiPoster poster_;
  unsigned spared_ = 0;
  std::optional<ProgressThread> progress_thread_;
  fabric::Stager* stager_;
  fabric::StageMemory stage_memory_ = fabric::StageMemory::host;
  std::optional<ProxyThread> proxy_;
  BeforeEnd before_end_{[this](const std::optional<control::Trouble>&) {
    progress_thread_.reset();
    if (proxy_) proxy_->stop();
  }};
};

std::unique_ptr<fabric::Memory> MpiFabric::expose(const fabric::WindowSpec& window) {
  base::Zeroed owned;
  if (window.existing == nullptr && window.bytes > 0) owned = base::Zeroed(window.bytes);
  std::byte* data = window.existing != nullptr ? window.existing : owned.data();
  const bool is_refused = window.bytes > 0 && data == nullptr;
  const auto mine = base::Writer()
                        .put(window.bytes)
                        .put_string(is_refused ? base::limit_met(ENOMEM, window.bytes) : std::string());
  // A rank that has heard of every part may put while this rank is still waiting to hear, so this rank
  // serves the window from here on.
  auto memory =
      std::make_unique<MpiMemory>(runner_.immediates, window.number, std::move(owned), data, stager_);
  control::Control& control = window.members.control();
  std::vector<std::size_t> sizes(static_cast<std::size_t>(control_.size()));  // by rank
  int member = 0;
  for (const base::Blob& blob : control.all_gather(mine.blob(), window.title)) {
    base::Reader reader(blob);
    const auto bytes = reader.get<std::size_t>();
    const std::string reason = reader.get_string();
    if (!reason.empty()) {
      constexpr double mebibyte = 1 << 20;
      base::fail(
          Errc::out_of_memory, {.rank = member},
          "rank {} could not get its {:.0f} MiB for {}: {}. Ask for less, or use fewer ranks a host, where "
          "no limit can be raised",
          member, static_cast<double>(bytes) / mebibyte, window.title, reason);
    }
    sizes[static_cast<std::size_t>(window.members[member++])] = bytes;
  }
  memory->know_sizes(std::move(sizes));
  return memory;
}

// A rank whose MPI cannot make what a chain needs can continue without that chain, so the error is not
// `rank_lost`.
std::unique_ptr<fabric::Offer> MpiFabric::offer(const fabric::ChainSpec& share) {
  try {
    return prepare(share);
  } catch (const Error& error) {
    const bool for_memory = error.code() == Errc::out_of_memory;
    throw Error(for_memory ? Errc::out_of_memory : Errc::refused, error.what()).with(error.fields());
  } catch (const std::bad_alloc&) {
    base::fail(Errc::out_of_memory, {.rank = control_.rank()},
               "rank {} has no memory for what it packs ({}); see the channel mpi/datatype", control_.rank(),
               base::limit_met(ENOMEM));
  }
}

std::unique_ptr<fabric::Offer> MpiFabric::prepare(const fabric::ChainSpec& share) {
  const int tag = first_tag(share.number, share.name);
  if (!proxy_) return std::make_unique<MpiOffer>(control_, runner_, share, tag);
  return std::make_unique<StagedOffer>(*proxy_, runner_, *stager_, stage_memory_, share, tag);
}

Callers callers(const Settings& settings) {
  if (settings.staged) return Callers::proxy_thread;
  return settings.progress_thread ? Callers::progress_thread : Callers::own_thread;
}

// Makes the errors of calls on a communicator be returned for a while, whatever handler the program has
// set.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &before_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ~ErrorsReturned() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// A communicator as a number, as in Fortran. MPI's standard ABI has different names for that.
#ifdef MPI_ABI_VERSION
using Number = int;
MPI_Comm comm_of(Number number) { return MPI_Comm_fromint(number); }
Number number_of(MPI_Comm comm) { return MPI_Comm_toint(comm); }
#else
using Number = MPI_Fint;
MPI_Comm comm_of(Number number) { return MPI_Comm_f2c(number); }
Number number_of(MPI_Comm comm) { return MPI_Comm_c2f(comm); }
#endif

// An inter-communicator has two groups, each with ranks from 0 on: two worlds would come up, which is not
// what anybody wants.
void require_one_group(MPI_Comm program) {
  if (program == MPI_COMM_NULL) {
    base::fail(
        Errc::invalid_argument,
        "World::from_mpi of MPI_COMM_NULL, which a rank has that MPI_Comm_split or MPI_Comm_create has left "
        "out, or whose communicator is freed");
  }
  // The error of an invalid communicator is raised on one of these, depending on the version of MPI.
  const ErrorsReturned of_world(MPI_COMM_WORLD), of_self(MPI_COMM_SELF);
  // Open MPI's communicators are pointers, which it does not check. Their numbers lead back to those that
  // it still knows.
  int joins_two = 0;
  if (MPI_Comm_test_inter(program, &joins_two) != MPI_SUCCESS || comm_of(number_of(program)) != program) {
    base::fail(Errc::invalid_argument,
               "World::from_mpi of a communicator that is freed, by MPI_Comm_free of a copy of it, or that "
               "never was one");
  }
  if (joins_two != 0) {
    base::fail(
        Errc::invalid_argument,
        "World::from_mpi of an inter-communicator, whose two groups are no world; make one communicator of "
        "both by MPI_Intercomm_merge, and the world of that");
  }
}

template <class Handle>
Handle read_as(const void* from) {
  Handle handle;
  std::memcpy(&handle, from, sizeof handle);  // NOLINT(bugprone-sizeof-expression): a number, or a pointer
  return handle;
}

}  // namespace

std::unique_ptr<control::Control> join(const Settings& settings) {
  ensure_session(callers(settings), settings.time_limit);
  return std::make_unique<MpiControl>(MPI_COMM_WORLD, settings.time_limit);
}

std::unique_ptr<control::Control> join(const void* comm, std::size_t bytes, std::string_view header,
                                       const Settings& settings) {
  const bool is_fortran = header == fmt::format("{} in Fortran", header_name());
  if (!(is_fortran && bytes == sizeof(Number)) && !(header == header_name() && bytes == sizeof(MPI_Comm))) {
    base::fail(
        Errc::incompatible,
        "World::from_mpi: the program was compiled with {}, OpenTCA with {}; build both with the same MPI",
        header, header_name());
  }
  if (!is_up()) {
    base::fail(
        Errc::invalid_argument,
        "World::from_mpi outside MPI_Init and MPI_Finalize; call MPI_Init first, or World::init instead");
  }
  const MPI_Comm program = is_fortran ? comm_of(read_as<Number>(comm)) : read_as<MPI_Comm>(comm);
  require_one_group(program);
  ensure_session(callers(settings), settings.time_limit);
  return std::make_unique<MpiControl>(program, settings.time_limit);
}

const std::vector<int>& hosts(const control::Control& control) {
  return static_cast<const MpiControl&>(control).hosts();
}

std::unique_ptr<fabric::Fabric> make_fabric(control::Control& control, const Settings& settings) {
  return std::make_unique<MpiFabric>(static_cast<MpiControl&>(control), settings);
}

int started() {
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  return processes;
}

std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace tca::mpi
