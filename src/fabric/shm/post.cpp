#include "fabric/shm/post.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/fail.hpp"

namespace tca::shm {

namespace {

// Calls `visit` with where each run of a shape begins on both sides.
template <class Visit>
void each_run(const base::Shape& shape, const Visit& visit) {
  std::array<base::Shape::Loop, Layout::max_loops> loops;
  loops.fill({1, 0, 0});
  std::copy_n(shape.loops.begin(), shape.loop_count, loops.begin());
  for (std::uint64_t i = 0; i < loops[2].count; ++i)
    for (std::uint64_t j = 0; j < loops[1].count; ++j)
      for (std::uint64_t k = 0; k < loops[0].count; ++k) {
        const auto along = [&](std::int64_t base::Shape::Loop::*pitch) {
          return static_cast<std::int64_t>(i) * loops[2].*pitch +
                 static_cast<std::int64_t>(j) * loops[1].*pitch +
                 static_cast<std::int64_t>(k) * loops[0].*pitch;
        };
        visit(along(&base::Shape::Loop::to_pitch), along(&base::Shape::Loop::from_pitch));
      }
}

// Says why the system forbids it, as far as that can be determined.
std::string why_forbidden(int error) {
  std::string text = std::strerror(error);
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  if (int scope = 0; file >> scope && scope > 0) text += fmt::format("; Yama's ptrace_scope is {}", scope);
  return text;
}

}  // namespace

// Reading is allowed wherever writing is, and changes nothing.
ShmFarRegion::ShmFarRegion(const std::atomic<std::uint64_t>& live, std::uint64_t generation, int rank,
                           InProgram place)
    : live_(live), generation_(generation), rank_(rank), program_(place) {
  std::byte one;
  const iovec here{&one, 1}, there{reinterpret_cast<void*>(place.address), 1};
  if (process_vm_readv(place.process, &here, 1, &there, 1, 0) == 1) return;
  const int error = errno;
  base::fail(
      Errc::invalid_argument,
      "the region of rank {} is memory that its program has, and the system does not let this process write "
      "there ({}). Make it a region with memory of its own (tca::Region(world, bytes)), run the ranks as "
      "threads (World::run_threads), or have rank {} allow it: prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY)",
      rank, why_forbidden(error), rank);
}

void ShmFarRegion::store(std::uint64_t offset, const std::byte* from, const base::Shape& shape) const {
  if (program_)
    store_in_program(offset, from, shape);
  else
    base::copy(data_ + offset, from, shape);
}

void ShmFarRegion::store_in_program(std::uint64_t offset, const std::byte* from,
                                    const base::Shape& shape) const {
  std::array<iovec, 256> here, there;
  std::size_t count = 0;
  const auto flush = [&] {
    if (count == 0) return;
    const ssize_t stored = process_vm_writev(program_->process, here.data(), count, there.data(), count, 0);
    if (stored == static_cast<ssize_t>(count * shape.run)) {
      count = 0;
      return;
    }
    const int error = stored < 0 ? errno : EFAULT;
    if (error == ESRCH) base::fail(Errc::rank_lost, {.missing = {rank_}}, "rank {} has ended", rank_);
    base::fail(Errc::invalid_argument,
               "the memory of rank {}'s region is no longer there ({}); keep it until the region has gone",
               rank_, std::strerror(error));
  };
  each_run(shape, [&](std::int64_t to, std::int64_t source) {
    here[count] = {const_cast<std::byte*>(from + source), shape.run};
    there[count] = {reinterpret_cast<void*>(program_->address + offset + static_cast<std::uint64_t>(to)),
                    shape.run};
    if (++count == here.size()) flush();
  });
  flush();
}

void ShmPost::put(fabric::FarRegion& to, std::uint64_t offset, const std::byte* from,
                  const base::Shape& shape) {
  const auto& region = static_cast<const ShmFarRegion&>(to);
  puts_.push_back({&region, offset, from, shape});
  if (region.is_in_program()) in_programs_.push_back(region.rank());
  Storing* const owner = &poster_.storing_at(region.rank());
  if (std::ranges::find(owners_, owner) == owners_.end()) owners_.push_back(owner);
}

void ShmPost::notify(int rank, int slot, std::uint32_t tag) {
  notices_.push_back({&poster_.raised_at(rank), slot, tag, puts_.size()});
}

void ShmPost::clear() {
  puts_.clear();
  notices_.clear();
  owners_.clear();
  in_programs_.clear();
}

// Only this rank changes the words.
void ShmPost::enter() {
  for (Storing* owner : owners_)
    // Sequentially consistent: pairs with ShmPoster::withdraw; see post_board.hpp.
    owner->turns.store(owner->turns.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
}

void ShmPost::leave() {
  // Release: pairs with the acquire in ShmPoster::withdraw.
  for (Storing* owner : owners_)
    owner->turns.store(owner->turns.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// The board of a rank that has died still says that its regions are live, and its PID may by now be another
// process's.
void ShmPost::check_regions() const {
  for (const Put& put : puts_)
    if (!put.region->is_live()) fabric::fail_gone(put.region->rank());
  for (const int rank : in_programs_)
    if (poster_.control_.is_gone(rank))
      base::fail(Errc::rank_lost, {.missing = {rank}}, "rank {} has ended", rank);
}

void ShmPost::reserve_notices() {
  for (auto notice = notices_.begin(); notice != notices_.end(); ++notice) {
    try {
      notice->at->reserve(notice->slot, notice->tag);
    } catch (const Error&) {
      for (auto given = notices_.begin(); given != notice; ++given)
        given->at->give_up(given->slot, given->tag);
      throw;
    }
  }
}

void ShmPost::store() {
  auto notice = notices_.begin();
  const auto raise_after = [&](std::size_t puts) {
    for (; notice != notices_.end() && notice->puts == puts; ++notice)
      notice->at->raise(notice->slot, notice->tag);
  };
  try {
    raise_after(0);
    for (std::size_t i = 0; i < puts_.size(); ++i) {
      const Put& put = puts_[i];
      put.region->store(put.offset, put.from, put.shape);
      raise_after(i + 1);
    }
  } catch (const Error&) {
    for (; notice != notices_.end(); ++notice) notice->at->give_up(notice->slot, notice->tag);
    throw;
  }
}

void ShmPost::start() {
  struct Turn {
    explicit Turn(ShmPost& whose) : post(whose) { post.enter(); }
    Turn(const Turn&) = delete;
    ~Turn() { post.leave(); }
    ShmPost& post;
  };
  const Turn turn(*this);
  check_regions();
  reserve_notices();
  store();
}

}  // namespace tca::shm
