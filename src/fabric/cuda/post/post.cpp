#include "fabric/cuda/post/post.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "fabric/cuda/compile/tables.hpp"
#include "fabric/cuda/post/post_kernels.hpp"

namespace tca::cuda {

namespace {

// One block stores up to this many segments, or bytes; more are worth the two kernels around the one that
// stores.
constexpr Word most_alone = 4;
constexpr std::uint64_t most_bytes_alone = 32768;

// This many blocks saturate NVLink, and the rest of the GPU is left to the program.
constexpr unsigned most_blocks_of_post = 32;

// Returns whether kernels of a GPU reach the source of a post.
bool is_reached(const std::byte* memory, int device) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "looking at the source of a post");
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != device)
    base::fail(Errc::invalid_argument, "its source is memory of GPU {}, but this rank drives GPU {}",
               attributes.device, device);
  if (attributes.type == cudaMemoryTypeHost) return attributes.devicePointer == memory;
  return attributes.type != cudaMemoryTypeUnregistered;
}

// Parts of the stage begin at multiples of the widest atom.
std::size_t room_of(const base::Shape& shape) {
  constexpr std::size_t atom = 16;
  return (shape.bytes() + atom - 1) / atom * atom;
}

}  // namespace

CompiledPost::CompiledPost(CudaPoster& whose) : poster(whose), room(whose.resources_.inbox) {
  constexpr std::size_t words = sizeof(device::PostReport) / sizeof(Word);
  view.report = reinterpret_cast<device::PostReport*>(room.take_words(words));
  view.refused = whose.resources_.inbox.own<Word>(room.take(2 * sizeof(Word)));
  view.memo = whose.resources_.inbox.own<device::Packet>(room.take(sizeof(device::Packet)));
}

CompiledPost::~CompiledPost() {
  if (turn) poster.free_turns_.push_back(*turn);
  if (staged != nullptr) poster.rooms_.give_back(std::move(staged));
}

CudaPost::CudaPost(CudaPoster& poster) : poster_(poster) { poster_.posts_.push_back(this); }

CudaPost::~CudaPost() {
  std::erase(poster_.posts_, this);
  if (compiled_ != nullptr) poster_.retire(std::move(compiled_));
}

void CudaPost::put(fabric::FarRegion& to, std::uint64_t offset, const std::byte* from,
                   const base::Shape& shape) {
  const OnDevice here(poster_.resources_.device);
  const auto& region = static_cast<const CudaFarRegion&>(to).mapped();
  puts_.push_back({region, offset, from, shape, !is_reached(from, poster_.resources_.device)});
  changed_ = true;
}

void CudaPost::notify(int rank, int slot, std::uint32_t tag) {
  notices_.push_back({rank, slot, tag});
  changed_ = true;
}

void CudaPost::clear() {
  puts_.clear();
  notices_.clear();
  changed_ = true;
}

// Throws what kernels have found out, and clears it.
void CudaPost::check() {
  if (compiled_ == nullptr) return;
  device::PostReport& report = *compiled_->view.report;
  const Word full = device::load_acquire(&report.full), gone = device::load_acquire(&report.gone);
  if (full == 0 && gone == 0) return;
  device::store_relaxed(&report.full, 0);
  device::store_relaxed(&report.gone, 0);
  if (gone != 0) fabric::fail_gone(static_cast<int>(gone - 1));
  fabric::fail_full(static_cast<int>(full - 1), static_cast<int>(device::load_relaxed(&report.full_at)));
}

void CudaPost::prepare() {
  check();
  if (changed_) compile();
  compiled_->view.limits = poster_.limits();
}

void CudaPost::start() {
  const OnDevice here(poster_.resources_.device);
  poster_.resources_.check();  // after a wait that timed out kernels start nothing more
  prepare();
  on_stream_ = false;
  std::byte* at = compiled_->staged == nullptr ? nullptr : compiled_->staged->data();
  for (const Put& put : puts_) {
    if (!put.is_staged) continue;
    base::gather(at, put.from, put.shape);
    at += room_of(put.shape);
  }
  launch_post(compiled_->view, compiled_->grid, ++compiled_->ticket, poster_.starts_.stream);
}

void CudaPost::start_on(Stream stream) {
  const OnDevice here(poster_.resources_.device);
  if (std::ranges::any_of(puts_, &Put::is_staged)) {
    base::fail(
        Errc::invalid_argument,
        "its source is ordinary host memory, which kernels do not reach: start it without a stream, or "
        "put from a window, from memory of the GPU, or from pinned memory");
  }
  const bool captured = is_captured(stream);
  const BesideCapture beside;
  prepare();
  on_stream_ = true;
  compiled_->is_captured |= captured;
  // A graph repeats what its kernels were given, and a ticket may be given only once.
  const Word ticket = captured ? 0 : ++compiled_->ticket;
  launch_post(compiled_->view, compiled_->grid, ticket, stream);
}

bool CudaPost::has_left() {
  // The outcome of a start is reported before it is done.
  const bool is_over = compiled_ == nullptr || on_stream_ || compiled_->is_through();
  check();
  if (is_over) {
    if (!on_stream_) poster_.resources_.check();  // after a wait that timed out it has sent nothing
    return true;
  }
  constexpr unsigned polls_between_checks = 4096;  // asking the driver takes a microsecond
  if (++polls_ % polls_between_checks == 0) {
    const cudaError_t state = state_of(poster_.starts_.stream);
    if (state != cudaErrorNotReady) cuda::check(state, "starting a post");
    poster_.resources_.check();
  }
  return false;
}

std::size_t CudaPost::staged_bytes() const {
  std::size_t bytes = 0;
  for (const Put& put : puts_)
    if (put.is_staged) bytes += room_of(put.shape);
  return bytes;
}

// Builds new tables. The previous ones stay for kernels that have not ended.
void CudaPost::compile() {
  if (compiled_ != nullptr) poster_.retire(std::move(compiled_));
  compiled_ = std::make_unique<CompiledPost>(poster_);
  if (const std::size_t bytes = staged_bytes(); bytes > 0)
    compiled_->staged = poster_.rooms_.take(bytes, fabric::StageMemory::host);
  add_regions();
  const Word atoms = add_stores();
  add_notices();
  std::uint64_t bytes = 0;
  for (const Put& put : puts_) bytes += put.shape.bytes();
  Grid& grid = compiled_->grid;
  if (compiled_->view.segments > most_alone || bytes > most_bytes_alone)
    grid.blocks = std::max(
        2u, std::min({compiled_->view.segments, most_blocks_of_post, poster_.resources_.block_limit}));
  else if (atoms <= 128)
    grid.threads = 32;
  cuda::check(cudaStreamSynchronize(poster_.resources_.setup), "compiling a post");
  changed_ = false;
}

void CudaPost::add_regions() {
  std::vector<device::PostRegion> views;
  for (const Put& put : puts_) {
    if (std::ranges::find(compiled_->regions, put.region) != compiled_->regions.end()) continue;
    compiled_->regions.push_back(put.region);
    device::PostRegion view = put.region->view;
    if (put.region->is_program_s) view.turn = turn_at(static_cast<int>(view.rank));
    views.push_back(view);
  }
  fill_table(compiled_->view.regions, views, poster_.resources_.inbox, compiled_->room, poster_.copier());
}

// Returns the word with which the post tells a rank that it stores into memory of that rank's program.
Word* CudaPost::turn_at(int rank) {
  if (!compiled_->turn) {
    if (poster_.free_turns_.empty())
      base::fail(
          Errc::out_of_memory,
          "this rank has {} posts into memory that programs have; clear or destroy some, or let regions have "
          "memory of their own (Region, without a pointer)",
          most_guarded);
    compiled_->turn = poster_.free_turns_.back();
    poster_.free_turns_.pop_back();
    compiled_->view.turns = compiled_->view.refused + 1;
  }
  return &poster_.board(rank).turns(poster_.me())[*compiled_->turn];
}

Word CudaPost::add_stores() {
  std::vector<device::Stores> stores;
  Word atoms = 0;
  const std::byte* staged = compiled_->staged == nullptr ? nullptr : compiled_->staged->data();
  for (const Put& put : puts_) {
    const base::Shape shape = put.is_staged ? densified(put.shape, Side::from) : put.shape;
    const std::byte* const from = put.is_staged ? staged : put.from;
    std::byte* const to = put.region->memory->data() + put.offset;
    for (const base::Part& part : parts_of(shape, direct)) {
      stores.push_back(stores_of(part.shape, to + part.to_shift, from + part.from_shift));
      atoms += stores.back().loops.atoms;
    }
    if (put.is_staged) staged += room_of(put.shape);
  }
  compiled_->view.segments = count_up(stores, &device::Stores::end_segment);
  fill_table(compiled_->view.stores, stores, poster_.resources_.inbox, compiled_->room, poster_.copier());
  return atoms;
}

void CudaPost::add_notices() {
  std::vector<device::PostNotice> notices;
  for (const Raised& raised : notices_)
    notices.push_back(poster_.notice_at(raised.rank, raised.slot, raised.tag));
  fill_table(compiled_->view.notices, notices, poster_.resources_.inbox, compiled_->room, poster_.copier());
}

}  // namespace tca::cuda
