#include "fabric/cuda/post/poster.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/system/leak_intentionally.hpp"
#include "fabric/cuda/post/post.hpp"
#include "fabric/cuda/post/post_kernels.hpp"

namespace tca::cuda {

namespace {

constexpr std::string_view bringing_up = "bringing up the posts of the cuda fabric";

// What ranks tell each other about their boards.
struct Told {
  Token board;
  std::uint64_t job;
  std::uint64_t words;
};

// Numbers the ranks of this rank's sub-cluster, all of which number them alike.
std::vector<int> number_reached(int me, int size, const control::Places& places) {
  std::vector<int> index;
  int next = 0;
  for (int rank = 0; rank < size; ++rank) index.push_back(places.same_sub_cluster(me, rank) ? next++ : -1);
  return index;
}

}  // namespace

CudaPoster::CudaPoster(control::Control& control, const control::Places& places,
                       const PosterResources& resources)
    : control_(control),
      resources_(resources),
      index_(number_reached(control.rank(), control.size(), places)),
      ranks_(1 + *std::ranges::max_element(index_)),
      layout_(static_cast<std::size_t>(ranks_)),
      limits_room_(resources.inbox),
      mapped_boards_(index_.size()) {
  std::uint64_t words = 0;
  control.do_together(bringing_up, [&] {
    words = resources_.inbox.take(layout_.bytes());
    waiting_ = limits_room_.take_words(index_.size());
    told_tag_ = limits_room_.take_words(index_.size());
    board_memory_ = allocate_on_host(HostBoard::bytes(static_cast<std::size_t>(ranks_)), resources_.exported,
                                     board_token_);
    load_post_kernels();
    cuda::check(cudaStreamSynchronize(resources_.setup), "clearing the words of posts");
  });
  const auto all = control.all_gather_value(Told{board_token_, fabric::random_job(), words}, bringing_up);
  for (const Told& told : all) {
    boards_.push_back(told.board);
    jobs_.push_back(told.job);
    words_.push_back(told.words);
  }
  for (std::uint32_t turn = most_guarded; turn-- > 0;) free_turns_.push_back(turn);
}

// The kernels of posts wait for nobody, so those on streams of the program end by themselves.
CudaPoster::~CudaPoster() {
  const OnDevice here(resources_.device);
  synchronize();
  const auto are_through = [&] {
    return std::ranges::all_of(retired_, [](const auto& compiled) { return compiled->is_through(); });
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!are_through() && std::chrono::steady_clock::now() < end) continue;
  if (!are_through()) base::leak_intentionally(std::move(retired_));
  seal(board_token_);
}

HostBoard& CudaPoster::board(int rank) {
  if (rank == control_.rank()) return own_board();
  std::optional<Region>& mapped = mapped_boards_[static_cast<std::size_t>(rank)];
  if (!mapped) {
    try {
      mapped = cuda::attach(resources_.device, boards_[static_cast<std::size_t>(rank)]);
    } catch (const Error&) {
      if (control_.is_gone(rank)) base::fail(Errc::rank_lost, {.missing = {rank}}, "rank {} has ended", rank);
      throw;
    }
  }
  return *reinterpret_cast<HostBoard*>(mapped->data());
}

device::PostNotice CudaPoster::notice_at(int rank, int slot, std::uint32_t tag) {
  HostSlot& host = board(rank).slot(me(), slot, ranks_);
  device::PostNotice notice;
  notice.raised = word_at<device::RaisedSlot>(control_.rank(), layout_.raised(index(rank), slot));
  notice.lanes = word_at<std::uint64_t>(rank, layout_.lanes(me(), slot));
  notice.host_lanes = host.lanes.data();
  notice.taken = word_at<Word>(rank, layout_.taken(me(), slot));
  notice.taken_by_host = host.taken_by_host.data();
  notice.tag = tag;
  notice.slot = static_cast<Word>(slot);
  notice.rank = static_cast<Word>(rank);
  return notice;
}

std::unique_ptr<fabric::PostProgram> CudaPoster::make_post() { return std::make_unique<CudaPost>(*this); }

template <class Wanted>
std::optional<std::uint32_t> CudaPoster::take_wanted(int source, int slot, const Wanted& wanted) {
  TakenByStreams& by_streams = taken_by_streams_[{source, slot}];
  return own_slot(source, slot).take(wanted, by_streams, [&] {
    const OnDevice here(resources_.device);
    const BesideCapture beside;
    resources_.copier.read(word_at<std::byte>(control_.rank(), layout_.taken(index(source), slot)),
                           std::as_writable_bytes(std::span(by_streams.counts)));
  });
}

bool CudaPoster::take(int source, int slot, std::uint32_t tag) {
  return take_wanted(source, slot, [&](std::uint32_t other) { return other == tag; }).has_value();
}

std::optional<std::uint32_t> CudaPoster::take_any(int source, int slot) {
  return take_wanted(source, slot, [](std::uint32_t) { return true; });
}

device::WaitLimits CudaPoster::limits() const {
  device::WaitLimits limits;
  const Inbox& inbox = resources_.inbox;
  limits.chain = waits_id;
  limits.abort = &inbox.abort();
  limits.gave_up = &inbox.gave_up();
  limits.waiting = waiting_;
  limits.gone = inbox.gone();
  limits.over = inbox.over();
  limits.limit_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(control_.time_limit).count());
  return limits;
}

void CudaPoster::take_on(int source, int slot, std::uint32_t tag, Stream stream) {
  const OnDevice here(resources_.device);
  HostSlot& host = own_slot(source, slot);
  device::NoticeWait wait;
  wait.lanes = word_at<std::uint64_t>(control_.rank(), layout_.lanes(index(source), slot));
  wait.taken = word_at<Word>(control_.rank(), layout_.taken(index(source), slot));
  wait.taken_by_host = host.taken_by_host.data();
  wait.tag = tag;
  wait.slot = static_cast<Word>(slot);
  wait.source = static_cast<Word>(source);
  wait.told_tag = told_tag_;
  TakenByStreams& by_streams = taken_by_streams_[{source, slot}];
  by_streams.may_be_more = true;
  by_streams.is_captured |= is_captured(stream);
  launch_notice_wait(wait, limits(), stream);
  resources_.throttle.keep(stream);
}

void CudaPoster::check() {
  for (CudaPost* post : posts_) post->check_streams();
}

TimeoutReport CudaPoster::late() const {
  const LatestWait late = latest_wait(limits(), index_.size());
  if (late.ranks.empty()) return {"a wait for a notice", {}};
  const int source = late.ranks.front();
  return {fmt::format("a wait on a stream for a notice in slot {} with tag {}", late.step - 1,
                      device::load_relaxed(told_tag_ + source)),
          {source}};
}

// Forgets what kernels are done with. What a graph may still start stays as long as the poster.
void CudaPoster::retire(std::unique_ptr<CompiledPost> compiled) {
  std::erase_if(retired_, [](const auto& old) { return !old->is_captured && old->is_through(); });
  if (compiled->is_captured || !compiled->is_through()) retired_.push_back(std::move(compiled));
}

}  // namespace tca::cuda
