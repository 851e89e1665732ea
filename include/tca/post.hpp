/// @file
/// Posts: puts that one rank makes and starts by itself, into memory for which another rank has given it a
/// token, and notices, which tell the other rank that they have arrived.
///
///     // on the target                                 // on the source
///     tca::Region region(world, bytes);
///     send(region.token());                            RegionToken token = receive();
///                                                      tca::Post post(world);
///                                                      post.put(token, 0, values, tca::block(n));
///                                                      post.notify(token.rank(), slot, tag);
///     tca::Notices notices(world);                     post.run();
///     notices.wait({source, slot, tag});
///     use(region.data());
///
/// Nothing here is collective, and nothing is guarded: a post lands when it is started, and the program
/// ensures that the target is not reading then. Posts of one rank to another land, and raise their notices,
/// in the order in which they were started; they are not ordered with chains.
///
/// Every fabric carries posts. On cuda regions are memory of the GPU, unless they are made in host memory,
/// and posts and waits may be ordered on streams:
///
///     post.start(stream);                              notices.wait({source, slot, tag}, stream);
///
/// On cuda+mpi this applies within sub-clusters; between them the host starts posts and waits for notices.
/// Posts belong to a world, not to its groups.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "tca/detail/api.hpp"
#include "tca/detail/moved.hpp"
#include "tca/layout.hpp"
#include "tca/stream.hpp"
#include "tca/types.hpp"
#include "tca/window.hpp"

namespace tca {

class World;

namespace core {
class NoticesState;
class PostState;
class Posting;
class RegionState;
}  // namespace core

/// Names a region of a rank's memory. It is plain bytes, which travel to other ranks by any means: in a
/// window, by World::all_gather, by MPI, in a file. It is valid for posts of ranks of the same world, for
/// as long as the region lives there; anywhere else it is refused, and nothing is written.
class TCA_API RegionToken {
 public:
  static constexpr std::size_t size = 128;

  /// Names nothing.
  RegionToken() = default;

  /// Return whose memory it is, and its size in bytes. Throw Error{incompatible} if these are not the bytes
  /// of a token.
  int rank() const;
  std::size_t bytes() const;

 private:
  friend class core::Posting;
  std::array<std::byte, size> bytes_{};
};
static_assert(sizeof(RegionToken) == RegionToken::size && Element<RegionToken>);

/// Memory of this rank that others may post into, as long as the object lives.
class TCA_API Region {
 public:
  /// Makes a region of `bytes` zeroed bytes, which begin at a cache line: GPU memory in a world on GPUs,
  /// and host memory elsewhere. Throws Error{invalid_argument} for an impossible number of bytes and if the
  /// world does not carry posts, and Error{out_of_memory}.
  Region(World& world, Count bytes);

  /// The same in host memory, which kernels also reach in a world on GPUs.
  [[nodiscard]] static Region on_host(World& world, Count bytes);

  /// Makes a region of the program's own memory, which must stay where it is as long as the object lives.
  ///
  /// On shm between processes the system itself has to store there, at about 2 us a post, and it may forbid
  /// that: where processes of a user may not trace each other (Yama's ptrace_scope, seccomp, containers),
  /// the first put with such a token throws Error{invalid_argument}. The library does not lift this
  /// restriction by itself; see docs/guide.md.
  ///
  /// On cuda it is memory of this rank's GPU (from cudaMalloc, or a window's), or pinned host memory: of a
  /// window in host memory, or, if ranks are threads, of any kind. Memory that others could not reach
  /// throws Error{invalid_argument}. A post into it takes some 1 us more than into a region with memory of
  /// its own.
  Region(World& world, void* memory, Count bytes);

  std::byte* data() const;   ///< a GPU address if the memory is the GPU's
  std::size_t size() const;  ///< in bytes
  RegionToken token() const;

  /// Copy between host memory and as many bytes of the region, from byte `at` on. The copy is complete when they return.
  /// Throw Error{invalid_argument} outside the region.
  void read(Count at, std::span<std::byte> into) const;
  void write(Count at, std::span<const std::byte> from) const;

  Region(Region&&) noexcept;
  Region& operator=(Region&&) noexcept;
  /// From here on posts into the region are refused. Waits for those that are storing into it at this very
  /// moment, and for nothing else: anything still in flight is dropped when it arrives.
  ~Region();

 private:
  explicit Region(std::unique_ptr<core::RegionState> state);
  core::RegionState& state() const { return core::present(state_, "region"); }

  std::unique_ptr<core::RegionState> state_;
};

/// A vector, an array, a span or a part of a window: contiguous elements that are still there after the
/// call.
template <class R>
concept PostSource = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::ranges::borrowed_range<R> && Element<std::ranges::range_value_t<R>>;

/// A list of puts and notices that this rank alone starts, as often as it likes. It may be added to between
/// starts.
class TCA_API Post {
 public:
  /// Messages refer to the post by its name.
  explicit Post(World& world, std::string name = {});

  /// Adds a put of elements of `from` to the region of a token, `at` elements of the same type from its
  /// beginning. The source, any host memory of this rank or, on cuda, memory of its GPU, is read at every
  /// start and must stay until the post is destroyed or cleared. The layouts are as for Chain::put.
  /// Attaches to the region if this rank has not done so yet, which may take some 10 us. Throws:
  ///   - Error{incompatible} for bytes that are not a token, or one of another version, another job or
  ///     another user.
  ///   - Error{invalid_argument} for a put outside the region or the source, layouts that do not pair up, a
  ///     region that is gone, memory into which the system does not let other processes write, and while
  ///     the post is under way.
  template <PostSource R>
  Post& put(const RegionToken& to, Count at, R&& from, const Layout& layout) {
    return put(to, at, layout, std::forward<R>(from), layout);
  }
  /// The same with a layout for each side.
  template <PostSource R>
  Post& put(const RegionToken& to, Count at, const Layout& to_layout, R&& from, const Layout& from_layout) {
    return put_untyped(to, at, to_layout, std::ranges::data(from), std::ranges::size(from), from_layout,
                       sizeof(std::ranges::range_value_t<R>));
  }
  /// The same for `elements` elements of `element_bytes` bytes each, from `from` on.
  Post& put_untyped(const RegionToken& to, Count at, const Layout& to_layout, const void* from,
                    Count elements, const Layout& from_layout, std::size_t element_bytes);

  /// Adds a notice: `rank` learns that everything that was added for it before is in place. If `rank` is
  /// this rank itself, it means that everything added before has left, so that its sources may be
  /// overwritten. Throws Error{invalid_argument} for a rank or a slot that does not exist, and while the
  /// post is under way.
  Post& notify(int rank, int slot, std::uint32_t tag);

  /// Removes everything from the post.
  Post& clear();

  /// Starts the post: the bytes are sent as they are now. Does not block. Throws Error{invalid_argument} if
  /// a region is gone, while the post is under way, and over mpi if it has 2 GiB or more for one rank, and
  /// Error{refused} if the target still has notices of `notice_tags` other tags in a slot, for which it has
  /// not waited. The fabric that detected this has then stored nothing. If only the target can detect it
  /// (on mpi), or a kernel (on cuda), the next call of this post throws it, and `flush` at the latest.
  void start();

  /// Starts the post, on cuda, when all earlier work on the stream is done. Later work on the stream finds
  /// everything in place, and may overwrite the sources; `wait` and `flush` do not wait for it. It may be
  /// captured into a graph, which the post must outlive, unchanged. Also throws Error{invalid_argument} if
  /// a source is ordinary host memory and on other fabrics. Later errors are thrown by World::check and the
  /// next call of this post. Only the streams order such posts.
  void start(Stream stream);

  /// Returns whether all sources may be overwritten, and the post started again. `wait` waits for that. A
  /// target that does nothing delays neither, unless more than 4 MiB are in flight to it. Throws what
  /// `start` does, and `wait` also Error{timed_out} and Error{rank_lost}.
  [[nodiscard]] bool test();
  void wait();
  /// Waits for at most `duration`, and returns whether that is so. The time limit covers all waits since the
  /// start together.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds duration);

  /// A `start` and a `wait`.
  void run() {
    start();
    wait();
  }

  /// Waits until everything that this post has ever sent is in place. On shm that is the case once `start`
  /// returns. Throws as `wait` does.
  void flush();
  /// Waits for at most `duration`, and returns whether that is so.
  [[nodiscard]] bool flush_for(std::chrono::nanoseconds duration);

  Post(Post&&) noexcept;
  Post& operator=(Post&&) noexcept;
  /// Does not wait. Anything in flight continues.
  ~Post();

 private:
  core::PostState& state() const { return core::present(state_, "post"); }

  std::unique_ptr<core::PostState> state_;
};

/// What a post raises at a rank: who raised it, in which slot, and a number of the program's choice.
struct Notice {
  int source = 0;
  int slot = 0;
  std::uint32_t tag = 0;
  bool operator==(const Notice&) const = default;
};

/// The notices that other ranks have raised here. Each successful call consumes one; notices with the same
/// source, slot and tag are alike and are counted. What was posted before a notice is visible once the
/// notice is consumed.
class TCA_API Notices {
 public:
  explicit Notices(World& world);

  /// Waits for a notice. Throws Error{timed_out} or Error{rank_lost}, whose message names the source, and
  /// Error{invalid_argument} for a source or a slot that does not exist.
  void wait(const Notice& notice);
  /// Lets the stream wait for a notice, on cuda, and consume it; a graph may repeat that. Each call is for
  /// one notice. The host does not wait: World::check throws Error{timed_out} or Error{rank_lost} later.
  /// Waits for notices of one source and slot must follow one after the other: on one stream, or on the
  /// host once the stream has finished. Throws Error{invalid_argument} on other fabrics.
  void wait(const Notice& notice, Stream stream);
  /// Waits for at most `duration`, and returns whether the notice has arrived. `already` is how long the
  /// program has waited for it in earlier calls, which the time limit covers as well: for one long wait in
  /// slices, between which the program attends to other things.
  [[nodiscard]] bool wait_for(const Notice& notice, std::chrono::nanoseconds duration,
                              std::chrono::nanoseconds already = {});
  /// Returns whether the notice was here. Does not block; throws Error{rank_lost} occasionally, if called
  /// again and again.
  [[nodiscard]] bool test(const Notice& notice);
  /// The same for any tag: returns the notice that it has consumed. Of several tags any may be first.
  [[nodiscard]] std::optional<Notice> test_any(int source, int slot);
  /// Waits for at most `duration` for a notice in a slot, of any source (this rank too) and with any tag,
  /// and returns the one that it has consumed. Of several any may be first, and sources take turns. Throws
  /// Error{rank_lost} once every other rank is lost, and Error{timed_out} if `duration` is longer than the
  /// world's time limit.
  [[nodiscard]] std::optional<Notice> wait_any_for(int slot, std::chrono::nanoseconds duration);

  Notices(Notices&&) noexcept;
  Notices& operator=(Notices&&) noexcept;
  ~Notices();

 private:
  core::NoticesState& state() const { return core::present(state_, "notices"); }

  std::unique_ptr<core::NoticesState> state_;
};

}  // namespace tca
