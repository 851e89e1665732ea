#include <unistd.h>

#include <atomic>
#include <cstring>
#include <span>

#include "base/fail.hpp"
#include "base/poll.hpp"
#include "fabric/cuda/post/poster.hpp"

namespace tca::cuda {

namespace {

// In a name: the memory is the program's.
constexpr std::int64_t of_program = -3;

}  // namespace

Region CudaPoster::make_memory(const fabric::RegionSpec& spec, Token& token) const {
  if (spec.existing != nullptr)
    return adopt_alone(resources_.device, spec.existing, spec.bytes, resources_.exported, token);
  if (spec.on_host) return allocate_on_host(spec.bytes, resources_.exported, token);
  return allocate(resources_.device, spec.bytes, resources_.exported, resources_.setup, token);
}

fabric::RegionName CudaPoster::publish(const Token& token, bool is_program_s) {
  static_assert(sizeof(Token) <= sizeof(RegionPlace::what) && std::is_trivially_copyable_v<Token>);
  if (free_places_.empty()) {
    if (next_place_ == most_regions)
      base::fail(Errc::out_of_memory, "this rank has {} regions already; make fewer and larger ones",
                 next_place_);
    free_places_.push_back(next_place_++);
  }
  fabric::RegionName name;
  name.job = jobs_[static_cast<std::size_t>(control_.rank())];
  name.generation = ++generations_;
  if (is_program_s) name.handle = of_program;
  name.place = free_places_.back();
  free_places_.pop_back();
  RegionPlace& place = own_board().places[name.place];
  std::memcpy(place.what.data(), &token, sizeof token);
  place.live.store(name.generation, std::memory_order_release);
  return name;
}

void CudaPoster::withdraw(const fabric::RegionName& name, bool is_program_s) {
  const OnDevice here(resources_.device);
  RegionPlace& place = own_board().places[name.place];
  place.live.store(0, std::memory_order_release);
  // Sequentially consistent: pairs with the fence in device::begin_post.
  place.ended.store(name.generation, std::memory_order_seq_cst);
  is_program_s ? await_turns() : tell_ended(name);
  free_places_.push_back(name.place);
}

// Tells the kernels of all sources, each in memory of its own GPU.
void CudaPoster::tell_ended(const fabric::RegionName& name) const {
  for (int source = 0; source < control_.size(); ++source) {
    if (index(source) < 0) continue;
    try {
      resources_.copier.write(word_at<std::byte>(source, layout_.ended(me(), name.place)),
                              std::as_bytes(std::span(&name.generation, 1)));
    } catch (const Error&) {
      return;  // this rank's GPU has failed, as its next step will report
    }
  }
}

// Waits for sources that are storing right now into memory of this rank's program. A turn may have ended
// and the next one begun meanwhile; that one finds the region gone.
void CudaPoster::await_turns() const {
  for (int source = 0; source < control_.size(); ++source) {
    if (index(source) < 0) continue;
    for (Word& turn : own_board().turns(index(source))) {
      const std::atomic_ref now(turn);
      const Word before = now.load(std::memory_order_seq_cst);
      if (before % 2 == 0) continue;
      // Acquire: pairs with the release in device::end_post.
      for (base::Poll poll(control_.cores()); now.load(std::memory_order_acquire) == before;)
        if (poll.pause() && stores_nothing_more(source)) break;
    }
  }
}

bool CudaPoster::stores_nothing_more(int source) const {
  if (source != control_.rank()) return control_.is_gone(source);
  const cudaError_t state = state_of(starts_.stream);
  return state != cudaSuccess && state != cudaErrorNotReady;
}

std::unique_ptr<fabric::OwnRegion> CudaPoster::expose_alone(const fabric::RegionSpec& spec) {
  const OnDevice here(resources_.device);
  return std::make_unique<CudaOwnRegion>(*this, spec);
}

std::unique_ptr<fabric::FarRegion> CudaPoster::attach(int rank, std::size_t bytes,
                                                      const fabric::RegionName& name) {
  const OnDevice here(resources_.device);
  const BesideCapture beside;
  if (jobs_[static_cast<std::size_t>(rank)] != name.job || name.place >= most_regions) fabric::fail_foreign();
  const RegionPlace& place = board(rank).places[name.place];
  const auto require_live = [&] {
    if (place.live.load(std::memory_order_acquire) != name.generation) fabric::fail_gone(rank);
  };
  require_live();
  try {
    Mapped mapped = map(rank, bytes, name);
    // The descriptor might be another file's by now. It is closed after the region is gone, so this is the
    // region if that is still live.
    require_live();
    return std::make_unique<CudaFarRegion>(place.live, std::move(mapped));
  } catch (const Error&) {
    require_live();
    throw;
  }
}

Mapped CudaPoster::map(int rank, std::size_t bytes, const fabric::RegionName& name) {
  RegionPlace& place = board(rank).places[name.place];
  Token token;
  std::memcpy(&token, place.what.data(), sizeof token);
  if (token.bytes != bytes) fabric::fail_foreign();
  Mapped mapped;
  Region region = cuda::attach(resources_.device, token);
  mapped.memory =
      token.pid == getpid() ? region_of_process(name) : std::make_shared<const Region>(std::move(region));
  if (mapped.memory == nullptr) fabric::fail_gone(rank);
  mapped.is_program_s = name.handle == of_program;
  mapped.view = {.generation = name.generation, .rank = static_cast<Word>(rank)};
  if (mapped.is_program_s)
    mapped.view.ended = reinterpret_cast<const std::uint64_t*>(&place.ended);
  else
    mapped.view.ended = word_at<std::uint64_t>(control_.rank(), layout_.ended(index(rank), name.place));
  return mapped;
}

}  // namespace tca::cuda
