#include "halo/fold_state.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/combine.hpp"
#include "base/fail.hpp"
#include "core/world/window_state.hpp"
#include "halo/rows.hpp"

namespace tca::halo {

using base::fail;

// The pieces of a side keep their order, which both of its ranks know.
FoldState::FoldState(World& world, std::string name, const ChainOptions& options, std::int64_t elements,
                     std::vector<Face> faces, std::vector<Ghosts> ghosts)
    : world_(core::WorldState::of(world).shared_from_this()),
      chain_(world.chain(std::move(name), options)),
      time_limit_(core::checked_limit(options.time_limit.value_or(world_->control().time_limit), title())),
      faces_(std::move(faces)),
      ghosts_(std::move(ghosts)),
      elements_(elements) {
  std::ranges::stable_sort(faces_, {}, [](const Face& face) { return std::tuple(face.holder, face.side); });
  std::ranges::stable_sort(ghosts_, {}, [](const Ghosts& sent) { return std::tuple(sent.owner, sent.side); });
  for (Face& face : faces_) {
    face.staged = staged_;
    staged_ += face.cells.elements();
  }
}

std::string FoldState::title() const { return fmt::format("fold '{}'", chain_.name()); }

void FoldState::require_uncommitted(const char* call) const {
  if (committed_) fail(Errc::invalid_argument, "{} on {} after its commit; make a new fold", call, title());
}

std::vector<Added> FoldState::added() const {
  std::vector<Added> all;
  for (const Field& field : fields_) {
    all.push_back(
        {field.window.number(), field.offset, Added::combination(field.reduction.type, field.reduction.op)});
  }
  return all;
}

void FoldState::add(const raw::Window& window, DataType type, std::int64_t offset, ReduceOp op) {
  require_uncommitted("add");
  require_room(*world_, title(), elements_, window, offset);
  require_apart(*world_, title(), elements_, added(), window, offset);
  const std::string called = world_->window_title(window.number());
  if (bytes_of(type) == 0 || window.element_bytes() % bytes_of(type) != 0) {
    fail(Errc::invalid_argument, "{}: elements of {} bytes, as in {}, are not made of numbers of {}", title(),
         window.element_bytes(), called, bytes_of(type));
  }
  if (world_->accelerator() != nullptr && !fabric::in_kernels(type)) {
    fail(Errc::invalid_argument,
         "{}: GPUs combine float, double, int32 and int64, and {} holds other numbers", title(), called);
  }
  fields_.push_back({window, offset, {type, op}});
}

std::int64_t FoldState::sent_bytes() const {
  std::int64_t elements = 0, bytes = 0;
  for (const Ghosts& sent : ghosts_) elements += sent.layout.elements();
  for (const Field& field : fields_) bytes += static_cast<std::int64_t>(field.window.element_bytes());
  return elements * bytes;
}

// Collective. Tells the others which fields this rank has added, and where in its staging windows a
// holder's ghosts begin; they are in a row. Returns, by owner, where this rank's ghosts are sent.
std::map<int, std::int64_t> FoldState::exchange() {
  std::vector<control::Letter> letters;
  std::map<int, std::int64_t> places;
  for (std::size_t i = 0; i < faces_.size(); ++i) {
    const auto& face = faces_[i];
    if (i > 0 && face.holder == faces_[i - 1].holder) continue;
    if (face.holder == world_->rank())
      places[face.holder] = face.staged;
    else
      letters.push_back({face.holder, base::Writer().put(face.staged).blob()});
  }
  for (const control::Letter& letter : exchange_fields(*world_, title(), added(), letters))
    places[letter.rank] = base::Reader(letter.bytes).get<std::int64_t>();
  return places;
}

// Collective.
void FoldState::make_staging() {
  for (Field& field : fields_) {
    const std::string of = world_->window_title(field.window.number());
    field.staging = core::WindowState::handle(world_->make_window(
        {staged_, field.window.element_bytes(), fmt::format("the staging of {} in {}", of, title())}));
  }
}

// Collective. Kernels find the table in a window, since windows are in the memory where they run.
void FoldState::make_table() {
  CellTable table;
  for (const Face& face : faces_) table.add(face.cells, face.staged);
  const std::vector<std::uint64_t> words = table.words();
  table_ = core::WindowState::handle(world_->make_window(
      {std::ssize(words), sizeof(std::uint64_t), fmt::format("the table of {}", title())}));
  table_->write(0, std::as_bytes(std::span(words)));
  for (Field& field : fields_) {
    field.view = table.view(static_cast<const std::uint64_t*>(table_->data()));
    field.view.into = field.cells();
    field.view.from = static_cast<const std::byte*>(field.staging->data());
    field.view.numbers = field.numbers();
    field.on_device = world_->accelerator()->make_cell_fold(field.reduction, field.view);
  }
}

const DeviceFold& FoldState::cells(std::size_t field) const {
  static_cast<void>(chain_.device());  // throws before the commit, and where there are no kernels
  if (field >= fields_.size())
    fail(Errc::invalid_argument, "{} has {} fields, and none with the number {}", title(), fields_.size(),
         field);
  return fields_[field].view;
}

// Adds the puts to one owner of cells, starting at the given place in its staging windows.
void FoldState::declare(int owner, std::int64_t place) {
  for (const Ghosts& sent : ghosts_) {
    if (sent.owner != owner) continue;
    const std::int64_t count = sent.layout.elements();
    for (const Field& field : fields_) {
      chain_.put(field.staging->on(owner).at(place), block(count), field.window.at(field.offset),
                 sent.layout);
    }
    place += count;
  }
}

void FoldState::commit() {
  require_uncommitted("commit");
  const core::TimeLimit limit(world_->control(), time_limit_);
  const std::map<int, std::int64_t> places = exchange();
  committed_ = true;  // even if the rest fails, since the chain has its puts
  make_staging();
  if (world_->accelerator() != nullptr) make_table();
  std::set<int> holders;
  for (const Face& face : faces_) holders.insert(face.holder);
  for (const int holder : holders) chain_.expect(holder);
  for (const auto& [owner, place] : places) declare(owner, place);
  chain_.commit();
}

void FoldState::start() {
  chain_.start();
  owed_ = true;
}

bool FoldState::test() {
  if (!chain_.test()) return false;
  add_up();
  return true;
}

void FoldState::wait() {
  chain_.wait();
  add_up();
}

bool FoldState::wait_for(std::chrono::nanoseconds duration) {
  if (!chain_.wait_for(duration)) return false;
  add_up();
  return true;
}

void FoldState::start(Stream stream) {
  chain_.start(stream);
  owed_ = true;
}

void FoldState::wait(Stream stream) {
  chain_.wait(stream);
  if (!std::exchange(owed_, false)) return;
  for (const Field& field : fields_) field.on_device->run_on(stream);
}

void FoldState::add_up() {
  if (!std::exchange(owed_, false)) return;
  for (const Field& field : fields_) {
    if (field.on_device != nullptr)
      field.on_device->run();
    else
      add_up(field);
  }
}

void FoldState::add_up(const Field& field) const {
  const base::CombineRows combine = base::combine_rows(field.reduction.type, field.reduction.op);
  const std::size_t numbers = field.numbers(), element = field.window.element_bytes();
  const auto* from = static_cast<const std::byte*>(field.staging->data());
  for (const Face& face : faces_) {
    const auto run = static_cast<std::size_t>(face.cells.run());
    for_each_rows(face.cells, [&](std::int64_t first, std::int64_t rows, std::int64_t pitch) {
      const auto count = static_cast<std::size_t>(rows);
      combine(field.cells() + static_cast<std::size_t>(first) * element,
              static_cast<std::size_t>(pitch) * numbers, from, count, run * numbers);
      from += count * run * element;
    });
  }
}

}  // namespace tca::halo
