#include "fabric/shm/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/nontemporal.hpp"

namespace tca::shm {

ShmProgram::ShmProgram(Runner& runner, std::span<const Link> links, std::span<const Copy> copies,
                       std::span<const StoreModeTuner> trials, const CountedCopies& counted)
    : runner_(runner),
      link_count_(static_cast<std::uint32_t>(links.size())),
      links_(std::make_unique<Link[]>(links.size())),
      copies_(std::make_unique<Copy[]>(copies.size())) {
  std::copy(links.begin(), links.end(), links_.get());
  std::copy(copies.begin(), copies.end(), copies_.get());
  if (!trials.empty()) {
    trials_ = std::make_unique<StoreModeTuner[]>(trials.size());
    std::copy(trials.begin(), trials.end(), trials_.get());
  }
  if (!counted.rows.empty()) counted_ = std::make_unique<const CountedCopies>(counted);
  posts_ready_ = std::any_of(links.begin(), links.end(), [](const Link& link) { return link.posts_ready; });
  for (const Link& link : links) runner_.staged_bytes += link.out_ring.bytes();
  owes_ = std::any_of(links.begin(), links.end(),
                      [](const Link& link) { return link.needs_ready || link.pulls; });
}

ShmProgram::~ShmProgram() {
  runner_.remove(*this);
  for (const Link& link : std::span(links_.get(), link_count_)) {
    runner_.staged_bytes -= link.out_ring.bytes();
    runner_.inbox_.release(link.partner, link.in, link.in_ring.slot_bytes());
  }
}

void ShmProgram::start() {
  ++step_;
  const std::span<Link> links(links_.get(), link_count_);
  if (posts_ready_) {
    for (const Link& link : links) {
      // Release: pairs with the acquire in `send`; this rank's reads of what arrived stay before it.
      if (link.posts_ready) link.out->ready.store(step_, std::memory_order_release);
    }
  }
  std::uint32_t open = 0;
  for (Link& link : links) {
    link.received = !link.expects;
    link.sent = !link.puts || send(link);
    open += !link.sent || !link.received || link.is_pulled;
  }
  open_ = open;
  if (owes_ && open > 0) runner_.add(*this);
}

bool ShmProgram::test() {
  if (open_ > 0) advance();
  return open_ == 0;
}

std::optional<fabric::Guard> ShmProgram::guard() const {
  fabric::Guard guard{.otherwise =
                          "rings between ranks that both send need none, nor does what a receiver fetches"};
  for (const Link& link : std::span(links_.get(), link_count_)) {
    if (link.needs_ready) guard.awaited.push_back(link.partner);
    if (link.posts_ready) guard.told.push_back(link.partner);
  }
  return guard;
}

void ShmProgram::cancel() { runner_.remove(*this); }

void ShmProgram::advance() {
  std::uint32_t open = 0;
  for (Link& link : std::span(links_.get(), link_count_)) {
    if (!link.sent) link.sent = send(link);
    if (!link.received) link.received = receive(link);
    // Acquire: pairs with the release in `receive`; the partner's reads of the source are over.
    const bool fetched =
        !link.is_pulled || base::reached(link.in->done.load(std::memory_order_acquire), step_);
    open += !link.sent || !link.received || !fetched;
  }
  open_ = open;
  if (owes_ && open == 0) runner_.remove(*this);
}

void ShmProgram::look_for_ready(Link& link) {
  // Acquire: pairs with the release in `start`; the partner's reads come before this rank's stores.
  link.ready_seen = link.in->ready.load(std::memory_order_acquire);
}

// Returns false while the partner may still be reading what this step would overwrite.
bool ShmProgram::send(Link& link) {
  if (link.needs_ready && !base::reached(link.ready_seen, step_ - link.ready_lags)) {
    look_for_ready(link);
    if (!base::reached(link.ready_seen, step_ - link.ready_lags)) return false;
  }
  if (runner_.trace == nullptr) {
    move_out(link);
  } else {
    traced(link, "puts to", &ShmProgram::move_out);
  }
  // Release: pairs with the acquire in `receive`; everything sent is visible to a partner that sees the step.
  link.out->arrive.store(step_, std::memory_order_release);
  // A partner that was waiting for this step has already stored its `ready`. Looking now lets that line
  // cross while the partner is busy, rather than at the beginning of the next step.
  if (link.ready_lags) look_for_ready(link);
  return true;
}

bool ShmProgram::receive(Link& link) {
  // Acquire: pairs with the release in `send`.
  if (!base::reached(link.in->arrive.load(std::memory_order_acquire), step_)) return false;
  if (runner_.trace == nullptr) {
    move_in(link);
  } else {
    traced(link, "puts from", &ShmProgram::move_in);
  }
  // Release: pairs with the acquire in `advance`; the source may be overwritten after it.
  if (link.pulls) link.out->done.store(step_, std::memory_order_release);
  return true;
}

void ShmProgram::move_out(const Link& link) {
  if (link.counted >= 0) {
    store_counted(link);
    if (link.direct_count + link.gather_count == 0) return;
  }
  const auto now = [] {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  };
  store(link, link.trial < 0 ? link.stores : trials_[static_cast<std::size_t>(link.trial)].next(now));
}

void ShmProgram::store(const Link& link, StoreMode way) {
  const bool nontemporal = way == StoreMode::nontemporal;
  const Copy* next = &copies_[link.first_copy];
  const std::span<const Copy> in_place(next, link.direct_count),
      gathered(next + link.direct_count, link.gather_count);
  if (nontemporal && link.nontemporal_in_place) {
    for (const Copy& copy : in_place) base::copy_nontemporal(copy.to, copy.from, *copy.shape);
  } else {
    for (const Copy& copy : in_place) base::copy(copy.to, copy.from, *copy.shape);
  }
  std::byte* const dense = buffer(link.out, link.out_ring);
  const bool nontemporal_into_ring = nontemporal && link.nontemporal_into_ring;
  if (way == StoreMode::bulk_copy || nontemporal_into_ring) {
    gather_first(dense, gathered, nontemporal_into_ring);
  } else {
    gather(dense, gathered);
  }
  if (nontemporal) base::nontemporal_fence();
}

void ShmProgram::gather(std::byte* dense, std::span<const Copy> copies) {
  for (const Copy& copy : copies) dense = base::gather(dense, copy.from, *copy.shape);
}

// Gathers in this core's cache first and then moves that into the ring. Copies that gain nothing from this
// are stored into the ring at once.
void ShmProgram::gather_first(std::byte* dense, std::span<const Copy> copies, bool nontemporal) {
  std::byte *const scratch = runner_.scratch.data(), *const end = scratch + runner_.scratch.size();
  std::byte* filled = scratch;
  const auto flush = [&] {
    const auto bytes = static_cast<std::size_t>(filled - scratch);
    nontemporal ? base::copy_nontemporal(dense, scratch, bytes)
                : static_cast<void>(std::memcpy(dense, scratch, bytes));
    dense += std::exchange(filled, scratch) - scratch;
  };
  for (const Copy& copy : copies) {
    if (nontemporal ? base::worth_nontemporal(*copy.shape) : copy.shape->loop_count == 0) {
      flush();
      dense = (nontemporal ? base::gather_nontemporal : base::gather)(dense, copy.from, *copy.shape);
      continue;
    }
    if (copy.shape->bytes() > static_cast<std::size_t>(end - filled)) flush();
    filled = base::gather(filled, copy.from, *copy.shape);
  }
  flush();
}

void ShmProgram::move_in(const Link& link) {
  const Copy* next = &copies_[link.first_copy + link.direct_count + link.gather_count];
  const std::byte* dense = buffer(link.in, link.in_ring);
  for (const Copy* end = next + link.scatter_count; next != end; ++next) {
    dense = base::scatter(next->to, dense, *next->shape);
  }
  for (const Copy* end = next + link.pull_count; next != end; ++next) {
    base::copy(next->to, next->from, *next->shape);
  }
  if (link.counted >= 0) fetch_counted(link);
}

// The receiver moves what is pulled, once it knows the length.
void ShmProgram::store_counted(const Link& link) {
  const CountedCopies::Row& row = counted_->rows[static_cast<std::size_t>(link.counted)];
  if (row.out == 0) return;
  const CountedCopy* put = &counted_->copies[row.first];
  std::byte* length = buffer(link.out, row.out_lengths);
  std::byte* dense = buffer(link.out, link.out_ring) + row.out_at;
  for (const CountedCopy* const end = put + row.out; put != end; ++put, length += sizeof(std::uint64_t)) {
    const auto& [to, from, shape] = put->whole;
    const std::uint64_t elements = *put->length.elements, bytes = elements * put->length.element_bytes;
    std::memcpy(length, &elements, sizeof elements);
    if (put->protocol == direct) base::copy_cut(to, from, *shape, bytes);
    if (put->protocol == staged) dense = base::gather_cut(dense, from, *shape, bytes);
  }
}

void ShmProgram::fetch_counted(const Link& link) {
  const CountedCopies::Row& row = counted_->rows[static_cast<std::size_t>(link.counted)];
  if (row.in == 0) return;
  const CountedCopy* put = &counted_->copies[row.first + row.out];
  const std::byte* length = buffer(link.in, row.in_lengths);
  const std::byte* dense = buffer(link.in, link.in_ring) + row.in_at;
  for (const CountedCopy* const end = put + row.in; put != end; ++put, length += sizeof(std::uint64_t)) {
    const auto& [to, from, shape] = put->whole;
    std::uint64_t elements;
    std::memcpy(&elements, length, sizeof elements);
    *put->length.elements = elements;
    const std::uint64_t bytes = elements * put->length.element_bytes;
    if (put->protocol == pull) base::copy_cut(to, from, *shape, bytes);
    if (put->protocol == staged) dense = base::scatter_cut(to, dense, *shape, bytes);
  }
}

void ShmProgram::traced(const Link& link, const char* what, void (ShmProgram::*move)(const Link&)) {
  const double begin = base::Trace::now_us();
  (this->*move)(link);
  runner_.trace->span(fmt::format("{} rank {}", what, link.partner), fmt::format("step {}", step_), begin,
                      base::Trace::now_us());
}

std::vector<int> ShmProgram::missing() const {
  std::vector<int> ranks;
  for (const Link& link : std::span(links_.get(), link_count_)) {
    const bool fetched =
        !link.is_pulled || base::reached(link.in->done.load(std::memory_order_relaxed), step_);
    if (!link.sent || !link.received || !fetched) ranks.push_back(link.partner);
  }
  return ranks;
}

void Runner::add(ShmProgram& program) {
  program.next_ = first_;
  program.previous_ = &first_;
  if (first_ != nullptr) first_->previous_ = &program.next_;
  first_ = &program;
}

void Runner::remove(ShmProgram& program) {
  if (program.previous_ == nullptr) return;
  *program.previous_ = program.next_;
  if (program.next_ != nullptr) program.next_->previous_ = program.previous_;
  program.next_ = nullptr;
  program.previous_ = nullptr;
}

}  // namespace tca::shm
