// Posts, as a fabric carries them: puts that one rank makes by itself, into memory whose owner has handed
// out a name for it, and the notices that they raise. A fabric that carries them provides a Poster
// (Fabric::poster).
//
// The rules of fabric.hpp for ownership and threads apply here too. Nothing here is collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/layout/shape.hpp"
#include "tca/stream.hpp"

namespace tca::fabric {

// How other ranks find a region, and know that it is still the same one. A fabric uses what it needs;
// tokens carry it unchanged, so its bytes mean the same in every process.
struct RegionName {
  std::uint64_t job = 0;         // a random number chosen by the owner; nobody in any world shares it
  std::uint64_t generation = 0;  // numbers the owner's regions, from 1 on; never reused
  std::uint32_t place = 0;       // among the owner's live regions
  std::int32_t process = 0;
  std::int64_t handle = -1;
  std::uint64_t begin = 0;
};
static_assert(sizeof(RegionName) == 40);

// What a rank requests when it makes a region.
struct RegionSpec {
  std::size_t bytes = 0;
  std::byte* existing = nullptr;  // the program's own memory; if null, the fabric allocates zeroed memory
  bool on_host = false;           // in host memory, even if windows are an accelerator's
};

// One of this rank's own regions. It ends with the object, whose destructor waits for those that are
// storing into it.
class OwnRegion {
 public:
  virtual ~OwnRegion() = default;
  virtual std::byte* data() const = 0;
  virtual const RegionName& name() const = 0;

  // Like Memory::read and Memory::write; an accelerator's fabric overrides them.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) const {
    std::memcpy(into.data(), data() + offset, into.size());
  }
  virtual void write(std::uint64_t offset, std::span<const std::byte> from) const {
    std::memcpy(data() + offset, from.data(), from.size());
  }
};

// A region of any rank, attached by this one.
class FarRegion {
 public:
  virtual ~FarRegion() = default;
  // Returns false once this rank knows that the region is gone.
  virtual bool is_live() const = 0;
};

// The errors that posts of every fabric throw: Error{invalid_argument} for a region of `rank` that is gone,
// Error{refused} for a slot of `rank` that is full, Error{incompatible} for a region of another world, and
// Error{invalid_argument} if no accelerator orders posts.
[[noreturn]] void fail_gone(int rank);
[[noreturn]] void fail_full(int slot, int rank);
[[noreturn]] void fail_foreign();
[[noreturn]] void fail_without_streams();

// A post. It may be added to while it is not under way.
class PostProgram {
 public:
  virtual ~PostProgram() = default;

  // The caller has checked the bounds, and keeps the region and the source alive.
  virtual void put(FarRegion& to, std::uint64_t offset, const std::byte* from, const base::Shape& shape) = 0;
  virtual void notify(int rank, int slot, std::uint32_t tag) = 0;
  // Removes everything again. What was started goes on.
  virtual void clear() = 0;

  // Never blocks. If it throws, because a region is gone (Error{invalid_argument}) or a slot is full
  // (Error{refused}), nothing is stored.
  virtual void start() = 0;

  // Advances the post, and returns whether the sources may be overwritten. Throws errors that only the
  // targets could detect.
  virtual bool has_left() = 0;
  // The same, but returns whether everything that this post has sent is in place.
  virtual bool has_landed() = 0;
  // Returns the ranks that these two are waiting for.
  virtual std::vector<int> missing() const = 0;

  // A fabric overrides this if an accelerator orders posts: starts it when all earlier work on the stream
  // is done. An error is thrown by the next call.
  virtual void start_on(Stream) { fail_without_streams(); }
};

// Returns a number that nobody else has, for RegionName::job; never 0.
std::uint64_t random_job();

class Poster {
 public:
  virtual ~Poster() = default;

  // Makes a region. Throws Error{out_of_memory}, and Error{invalid_argument} for memory that others cannot
  // reach.
  virtual std::unique_ptr<OwnRegion> expose_alone(const RegionSpec& spec) = 0;

  // Attaches to a region of `rank`, which the fabric reaches. Throws Error{incompatible} for a region of
  // another job, and Error{invalid_argument} for one that is gone or that the system does not let this rank
  // write to; if only the owner can tell, a post throws that instead.
  virtual std::unique_ptr<FarRegion> attach(int rank, std::size_t bytes, const RegionName& name) = 0;

  virtual std::unique_ptr<PostProgram> make_post() = 0;

  // Consumes a notice from `source`, or one with any tag, and returns whether there was one, or its tag.
  // Everything posted before it is then visible.
  virtual bool take(int source, int slot, std::uint32_t tag) = 0;
  virtual std::optional<std::uint32_t> take_any(int source, int slot) = 0;

  // A fabric overrides this if an accelerator orders posts: later work on the stream waits for a notice,
  // which it consumes. Fabric::check throws if none has arrived.
  virtual void take_on(int /*source*/, int /*slot*/, std::uint32_t /*tag*/, Stream) {
    fail_without_streams();
  }
};

}  // namespace tca::fabric
