#include "core/world/world_state.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "boot/over_mpi.hpp"
#include "control/group_control.hpp"
#include "core/post/posting.hpp"
#include "core/world/window_state.hpp"
#include "fabric/faults.hpp"
#include "route/hardware.hpp"
#include "route/tuning.hpp"

namespace tca::core {

namespace {

// Numbers hosts, or sub-clusters, from 0 on in the order in which ranks name them.
void renumber(std::vector<int>& all) {
  std::map<int, int> numbers;
  for (int& one : all) one = numbers.try_emplace(one, static_cast<int>(numbers.size())).first->second;
}

std::vector<Path> paths_to_fail(const WorldOptions& options, int ranks) {
  if (options.fabric == "sim") return {};  // the parts of a modelled machine fail instead
  std::vector<Path> paths = read_paths(options.faults, "option faults");
  for (const Path& path : paths) {
    if (path.other >= ranks)
      base::fail(Errc::invalid_argument, "{} is to fail, and there is no rank {} in a world of {}",
                 path.name(), path.other, ranks);
  }
  return paths;
}

}  // namespace

WorldState::WorldState(boot::Connections connections, const WorldOptions& options)
    : connections_(std::move(connections)),
      costs_(route::agree_on_costs(control(), fabrics(), connections_.places,
                                   boot::mpi_of(route::fabric_set(fabrics())))),
      checks_steps_(options.check_steps),
      times_chains_(options.timing),
      reroutes_chains_(options.reroute),
      paths_(std::make_shared<const Paths>(paths_to_fail(options, size()), control().now().count())) {
  drive_while_waiting();
  if (connections_.places.sub_cluster.empty()) connections_.places = control::Places::together(size());
  if (options.trace) {
    trace_.emplace();
    for (const auto& fabric : connections_.fabrics) fabric->trace_to(&*trace_);
  }
}

WorldState::WorldState(WorldState& root, boot::Connections connections, GroupRanks ranks, std::uint64_t key)
    : keeps_root_(root.shared_from_this()),
      root_(&root),
      key_(key),
      connections_(std::move(connections)),
      ranks_(std::move(ranks)),
      costs_(root.costs_.of_group(rank(), connections_.places.sub_cluster)),
      checks_steps_(root.checks_steps_),
      times_chains_(root.times_chains_),
      reroutes_chains_(root.reroutes_chains_),
      paths_(root.paths_) {
  drive_while_waiting();
}

void WorldState::drive_while_waiting() {
  control().while_waiting = [this] {
    progress_while_waiting();
    return needs_polling();
  };
}

// Throws on this rank alone: it cannot tell who the others are.
void WorldState::require_group(std::span<const int> ranks) const {
  const std::string all = fmt::format("{}", fmt::join(ranks, ", "));
  std::set<int> seen;
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size())
      base::fail(Errc::invalid_argument, {.rank = this->rank()},
                 "a group of ranks {}: there is no rank {} in a world of {}", all, rank, size());
    if (!seen.insert(rank).second)
      base::fail(Errc::invalid_argument, {.rank = this->rank()},
                 "a group of ranks {}: rank {} is named twice; name each once", all, rank);
  }
  if (!seen.contains(rank())) {
    base::fail(Errc::invalid_argument, {.rank = rank()},
               "rank {} makes a group of ranks {} and is none of them; only those in a group make it", rank(),
               ranks.empty() ? "(none)" : all);
  }
}

std::shared_ptr<WorldState> WorldState::make_group(std::span<const int> ranks) {
  require_group(ranks);
  WorldState& root = this->root();
  boot::Connections connections;
  connections.launcher = launcher();
  std::vector<int> outside, hosts, sub_clusters;  // `outside`: the ranks of the root
  for (const int rank : ranks) {
    outside.push_back(members()[rank]);
    hosts.push_back(places().host[static_cast<std::size_t>(rank)]);
    sub_clusters.push_back(sub_cluster(rank));
  }
  renumber(hosts);
  renumber(sub_clusters);
  connections.places = {std::move(hosts), std::move(sub_clusters)};
  auto control = std::make_unique<control::GroupControl>(root.control(), outside, root.groups_[outside]++);
  const std::uint64_t key = control->key();
  connections.control = std::move(control);
  const auto of_root = std::make_shared<const std::vector<int>>(std::move(outside));
  for (const auto& fabric : root.fabrics())
    connections.fabrics.push_back(make_group_fabric(*fabric, of_root));
  connections.control->barrier(fmt::format("creation of a group of ranks {}", fmt::join(*of_root, ", ")));
  return {new WorldState(root, std::move(connections), of_root, key), retire_group};
}

// Called when the last handle of a group is gone on this rank. Others may still store into what it leaves
// behind.
void WorldState::retire_group(WorldState* group) {
  const std::shared_ptr<WorldState> root = std::move(group->keeps_root_);
  root->everyone_.reclaimer().retire_group(group->key_, group->size(), std::unique_ptr<RetiredGroup>(group));
}

WorldState::Met WorldState::meet(Circle& circle, const std::vector<control::Letter>& letters,
                                 const base::Blob& made, std::uint64_t of_mine, std::string_view what,
                                 std::uint32_t& number) {
  std::uint32_t& next = root().next_number_;
  Reclaimer& reclaimer = circle.reclaimer();
  reclaimer.end_ending();
  const auto [same, not_same] = control::vote_for(base::fnv1a(made));
  const std::uint64_t news = reclaimer.has_news() ? 1 : 0;
  control::Exchanged met = circle.control().exchange(letters, {next, news, same, not_same, of_mine}, what);
  const auto& [largest, some_news, first, second, worst] = met.votes;
  number = static_cast<std::uint32_t>(largest);
  next = number + 1;
  if (some_news != 0) reclaimer.announce(what);
  return {std::move(met.letters), control::all_voted_alike(first, second), worst};
}

namespace {

std::size_t bytes_of(const WindowRequest& request, const std::string& title) {
  std::int64_t bytes;
  if (request.elements < 0)
    base::fail(Errc::invalid_argument, "{}: {} elements cannot be; a window has none or more on each rank",
               title, request.elements);
  if (request.element_bytes == 0)
    base::fail(Errc::invalid_argument, "{}: elements of no bytes cannot be", title);
  const bool is_element = request.element_bytes <= std::numeric_limits<std::int64_t>::max();
  if (!is_element || __builtin_mul_overflow(request.elements, request.element_bytes, &bytes)) {
    base::fail(Errc::invalid_argument, "{}: the bytes of {} elements of {} overflow 63 bits", title,
               request.elements, request.element_bytes);
  }
  if (request.registers && request.existing == nullptr && bytes > 0) {
    base::fail(Errc::invalid_argument,
               "{}: no memory is given for {} elements; leave the pointer out to have it allocated", title,
               request.elements);
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

std::string WorldState::titled(const WindowRequest& request) const {
  return request.title.empty() ? fmt::format("window {}", everyone_.coming_id()) : request.title;
}

// Throws on every rank alike, if a rank asks for something impossible or ranks ask for different windows.
WorldState::Agreed WorldState::agree_on_window(const WindowRequest& request, const std::string& title) {
  const std::string what = "creation of " + title;
  const auto mine = [&] {
    const bool registers = bytes_of(request, title) > 0 && request.existing != nullptr;
    return base::Writer()
        .put(registers)
        .put(request.on_host)
        .put(request.element_bytes)
        .put_string(title)
        .blob();
  };
  enum Says : std::uint64_t { nothing, registers, cannot };
  const base::Blob brought = control().attempt(what, mine);
  base::Reader mine_read(brought);
  Says says = cannot;
  if (!mine_read.get<bool>()) says = mine_read.get<bool>() ? registers : nothing;
  const base::Blob made =
      base::Writer().put(request.on_host).put(request.element_bytes).put_string(title).blob();
  Agreed agreed;
  const Met met = meet(everyone_, {}, made, says, what, agreed.number);
  agreed.registered = met.worst >= registers;
  if (met.is_same && met.worst < cannot) return agreed;
  std::vector<base::Blob> all = control().all_gather(brought, what);
  control().require_all(all);
  std::size_t first_bytes = 0;
  std::string first_title;
  bool first_on_host = false;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    base::Reader reader(all[rank]);
    reader.get<bool>();  // registers
    const bool on_host = reader.get<bool>();
    const auto element_bytes = reader.get<std::size_t>();
    const std::string theirs = reader.get_string();
    if (rank == 0) {
      first_bytes = element_bytes;
      first_title = theirs;
      first_on_host = on_host;
    }
    if (theirs == first_title && element_bytes == first_bytes && on_host == first_on_host) continue;
    const auto describe = [&](const std::string& window, std::size_t bytes, bool is_on_host) {
      const std::string where = on_host == first_on_host ? "" : is_on_host ? " by host_window" : " by window";
      return (element_bytes == first_bytes ? window : fmt::format("{} of {}-byte elements", window, bytes)) +
             where;
    };
    base::fail(
        Errc::refused,
        "rank 0 makes {}, rank {} {}; every rank must make the same windows and collectives in the same "
        "order, under the same names",
        describe(first_title, first_bytes, first_on_host), rank, describe(theirs, element_bytes, on_host));
  }
  return agreed;
}

std::shared_ptr<WindowState> WorldState::make_window(const WindowRequest& request) {
  const std::string title = titled(request);
  const Agreed agreed = agree_on_window(request, title);
  const std::size_t bytes = bytes_of(request, title);
  const std::uint32_t id = next_id();
  // Released memory is freed before the new window needs the room.
  free_released(everyone_, "creation of " + title);
  auto* const existing = bytes == 0 ? nullptr : static_cast<std::byte*>(request.existing);
  auto memories = std::make_shared<Memories>(
      expose({title, members(), agreed.number, bytes, existing, request.on_host}, agreed.registered));
  const std::string* const name = request.title.empty() ? nullptr : &intern(request.title);
  auto window =
      std::make_shared<WindowState>(shared_from_this(), id, std::move(memories), request.element_bytes);
  windows_[id] = {window, name};
  return window;
}

Circle& WorldState::circle(const std::vector<int>& ranks) {
  std::unique_ptr<Circle>& known = circles_[ranks];
  if (known != nullptr) return *known;
  std::vector<int> outside;
  for (const int rank : ranks) outside.push_back(members()[rank]);
  // No group has such a number.
  constexpr std::uint64_t circles = std::uint64_t{1} << 63;
  known = std::make_unique<Circle>(root().control(), ranks, outside, key_ | circles);
  return *known;
}

bool WorldState::end_chains() {
  bool all = everyone_.reclaimer().end_chains();
  for (const auto& [ranks, circle] : circles_) all &= circle->reclaimer().end_chains();
  return all;
}

void WorldState::free_released(Circle& circle, std::string_view what) {
  if (!circle.reclaimer().has_released()) return;
  circle.control().barrier(what);
  std::erase_if(windows_, [&](const auto& known) {
    return known.second.window.expired() && !everyone_.reclaimer().remembers(known.first);
  });
  circle.reclaimer().free_released();
}

std::string WorldState::window_title(std::uint32_t id) const {
  const auto known = windows_.find(id);
  const std::string* const title = known == windows_.end() ? nullptr : known->second.title;
  return title != nullptr ? *title : fmt::format("window {}", id);
}

// Exposes memory on every fabric. The first fabric that can do so provides the memory, and the others give
// access to the same memory. `registered` says whether some rank brings its own.
std::vector<std::unique_ptr<fabric::Memory>> WorldState::expose(fabric::WindowSpec window, bool registered) {
  std::vector<std::unique_ptr<fabric::Memory>> memories;
  for (const auto& fabric : fabrics()) {
    if (registered && !fabric->takes_existing() && fabric != fabrics().back()) {
      memories.push_back(nullptr);
      continue;
    }
    memories.push_back(fabric->expose(window));
    window.existing = memories.back()->data();
  }
  return memories;
}

std::shared_ptr<WindowState> WorldState::view(const std::shared_ptr<WindowState>& window) {
  WorldState& theirs = window->world();
  if (root_ == nullptr || &theirs.root() != root_) {
    base::fail(
        Errc::invalid_argument,
        "a view of {}, which is of another world; a group sees the windows of the worlds that it is made of",
        window->title());
  }
  const std::vector<int> around = theirs.members().ranks();
  for (const int rank : *ranks_) {
    if (control::number_in(around, rank)) continue;
    base::fail(
        Errc::invalid_argument,
        "a view of {}, of which rank {} of this group has no part; a group sees the windows of the worlds "
        "that it is made of",
        window->title(), *control::number_in(*ranks_, rank));
  }
  std::vector<std::unique_ptr<fabric::Memory>> memories;
  for (std::size_t f = 0; f < fabrics().size(); ++f) {
    fabric::Memory* const memory = window->memory_of(f);
    memories.push_back(memory == nullptr
                           ? nullptr
                           : make_group_view(*memory, theirs.ranks_ != nullptr, ranks_, window->memories()));
  }
  const std::uint32_t id = next_id();
  auto view = std::make_shared<WindowState>(
      shared_from_this(), id, std::make_shared<Memories>(std::move(memories)), window->element_bytes());
  windows_[id] = {view, &intern(window->title())};
  return view;
}

Posting& WorldState::posting() {
  if (root_ != nullptr) {
    base::fail(
        Errc::invalid_argument, {.rank = rank()},
        "posts, regions and notices of a group: they belong to the world around it; make them with that "
        "world, and name ranks by its numbers");
  }
  if (posting_ == nullptr) posting_ = std::make_shared<Posting>(*this);
  return *posting_;
}

int WorldState::sub_cluster_count() const {
  return 1 +
         *std::max_element(connections_.places.sub_cluster.begin(), connections_.places.sub_cluster.end());
}

std::size_t WorldState::fabric_to(int rank, std::size_t from) const {
  while (from + 1 < fabrics().size() && !fabrics()[from]->reaches(rank)) ++from;
  return from;
}

const Path* WorldState::lost_path(int rank, std::size_t fabric, std::optional<std::size_t> protocol) const {
  if (paths_->empty()) return nullptr;
  const fabric::Fabric& own = *fabrics()[fabric];
  const std::string_view name = protocol ? own.protocols()[*protocol] : std::string_view();
  return paths_->lost(members()[this->rank()], members()[rank], own.name(), name, control().now().count());
}

std::string WorldState::lost_paths(int rank) const {
  return paths_->lost_between(members()[this->rank()], members()[rank], control().now().count());
}

std::vector<KnownFault> WorldState::known_faults() const {
  const fabric::FaultNews* const news = fabrics().front()->fault_news();
  if (news != nullptr) return news->known_faults();
  return paths_->known(members()[rank()], control().now().count());
}

std::shared_ptr<WindowState> WorldState::find_window(std::uint32_t id) const {
  const auto found = windows_.find(id);
  return found == windows_.end() ? nullptr : found->second.window.lock();
}

std::size_t WorldState::first_fabric(std::uint32_t window, std::uint32_t other) const {
  std::size_t first = 0;
  for (const std::uint32_t id : {window, other})
    if (const std::shared_ptr<WindowState> found = find_window(id))
      first = std::max(first, found->first_fabric());
  return first;
}

std::chrono::milliseconds checked_limit(std::chrono::milliseconds asked, std::string_view whose) {
  if (asked.count() <= 0)
    base::fail(Errc::invalid_argument, "{}: a time limit of {} ms cannot be met; it must be at least 1 ms",
               whose, asked.count());
  constexpr std::chrono::milliseconds century = std::chrono::hours(24 * 365 * 100);
  return std::min(asked, century);
}

}  // namespace tca::core
