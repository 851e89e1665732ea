#include "tca/post.hpp"

#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/layout/shape.hpp"
#include "base/waited.hpp"
#include "core/chain/wait.hpp"
#include "core/post/posting.hpp"
#include "core/words.hpp"
#include "tca/world.hpp"

namespace tca {

namespace core {

namespace {

// Returns the bytes from the beginning of a side to its first element. Throws Error{invalid_argument} if
// the layout does not lie within the side's `have` bytes.
std::int64_t first_byte(const char* side, std::int64_t at, const Layout& layout, std::size_t element_bytes,
                        std::size_t have) {
  std::int64_t end = 0;
  const auto room = static_cast<std::int64_t>(have / element_bytes);
  if (at < 0 || __builtin_add_overflow(at, layout.end(), &end) || end > room) {
    base::fail(Errc::invalid_argument,
               "a {} at element {} of the {} ends outside of it; it has {} of {} bytes", layout.describe(),
               at, side, count_in_words(room), element_bytes);
  }
  return (at + layout.first()) * static_cast<std::int64_t>(element_bytes);
}

}  // namespace

class PostState {
 public:
  PostState(World& world, std::string name)
      : world_(WorldState::of(world).shared_from_this()),
        posting_(world_->posting()),
        name_(std::move(name)) {}

  void put(const RegionToken& token, std::int64_t at, const Layout& to_layout, const std::byte* from,
           std::int64_t elements, const Layout& from_layout, std::size_t element_bytes) {
    named("put", [&] {
      require_rest();
      std::int64_t bytes = 0;
      if (elements < 0 || element_bytes == 0 || __builtin_mul_overflow(elements, element_bytes, &bytes)) {
        base::fail(Errc::invalid_argument, "a source of {} elements of {} bytes cannot be", elements,
                   element_bytes);
      }
      const std::shared_ptr<const Attached> to = posting_.attach(token);
      const std::int64_t to_offset = first_byte("region", at, to_layout, element_bytes, to->bytes);
      const std::int64_t from_offset =
          first_byte("source", 0, from_layout, element_bytes, static_cast<std::size_t>(bytes));
      const base::Shape shape = base::pair_up(to_layout, from_layout, element_bytes);
      if (shape.bytes() == 0) return;
      program(to->fabric).put(*to->region, static_cast<std::uint64_t>(to_offset), from + from_offset, shape);
      if (targets_.empty() || targets_.back() != to) targets_.push_back(to);
    });
  }

  void notify(int rank, int slot, std::uint32_t tag) {
    named("notify", [&] {
      require_rest();
      posting_.check_rank("a notice", rank);
      Posting::check_slot("a notice", slot);
      program(posting_.fabric_to(rank)).notify(rank, slot, tag);
    });
  }

  void clear() {
    named("clear", [&] { require_rest(); });
    for (auto& [fabric, program] : programs_) program->clear();
    targets_.clear();
  }

  void start() {
    named("start", [&] {
      require_rest();
      for (auto& [fabric, program] : programs_) program->start();
      running_ = true;
      on_stream_ = false;
      waited_ = std::chrono::duration<double>(0);
    });
  }

  // The stream determines when its sources may be overwritten.
  void start_on(Stream stream) {
    named("start", [&] {
      world_->check();
      require_rest();
      // Starting with the last fabric, which may refuse: earlier ones would already have begun.
      for (auto program = programs_.rbegin(); program != programs_.rend(); ++program)
        program->second->start_on(stream);
      on_stream_ = true;
    });
  }

  bool test() {
    bool left = false;
    named("test", [&] { left = has_left(); });
    if (!left) world_->progress_while_waiting();
    return left;
  }

  bool wait_for(std::chrono::nanoseconds at_most) {
    bool left = false;
    named("wait",
          [&] { left = await(at_most, "until its sources may be overwritten", [&] { return has_left(); }); });
    return left;
  }

  bool flush_for(std::chrono::nanoseconds at_most) {
    bool landed = false;
    named("flush", [&] {
      landed = await(at_most, "until everything is in place", [&] {
        bool all = has_left();
        for (auto& [fabric, program] : programs_) all &= program->has_landed();
        return all;
      });
    });
    return landed;
  }

  std::string title() const { return name_.empty() ? "a post" : fmt::format("post '{}'", name_); }

 private:
  class Waiting final : public control::Wait {
   public:
    Waiting(const PostState& post, std::string what) : post_(post), what_(std::move(what)) {}
    std::string what() const override { return fmt::format("{} ({})", post_.title(), what_); }
    ErrorFields about() const override {
      ErrorFields about{.rank = post_.world_->rank()};
      for (const auto& [fabric, program] : post_.programs_)
        for (const int rank : program->missing()) about.missing.push_back(rank);
      return about;
    }

   private:
    const PostState& post_;
    std::string what_;
  };

  // Prefixes errors with the call and the post.
  template <class Call>
  void named(const char* call, const Call& body) {
    try {
      body();
    } catch (const Error& error) {
      // Errors of a wait already name the post.
      if (error.code() == Errc::timed_out) throw;
      throw Error(error.code(), fmt::format("{} of {}: {}", call, title(), error.what()), error.fields())
          .with({.rank = world_->rank()});
    }
  }

  void require_rest() {
    if (!has_left()) base::fail(Errc::invalid_argument, "it is under way; wait for it first");
  }

  // A start on a stream is not waited for, but may have been refused.
  bool has_left() {
    if (!running_ && !on_stream_) return true;
    bool left = true;
    for (auto& [fabric, program] : programs_) left &= program->has_left();
    running_ = !left;
    return left;
  }

  // The waits for one start count together, up to the first that succeeds.
  template <class Done>
  bool await(std::chrono::nanoseconds at_most, const char* what, const Done& is_done) {
    if (is_done()) return true;
    const std::chrono::duration<double> begin = world_->control().now();
    // Reset if this throws: a program that waits again grants the full time once more.
    const std::chrono::duration<double> before = std::exchange(waited_, {});
    const bool done = wait_until(
        *world_, Waiting(*this, what),
        {at_most, std::chrono::duration_cast<std::chrono::nanoseconds>(before)},
        ", which takes nothing; does it call the library? (time limit: WorldOptions or OPENTCA_TIME_LIMIT)",
        is_done);
    if (!done) waited_ = before + (world_->control().now() - begin);
    return done;
  }

  fabric::PostProgram& program(std::size_t fabric) {
    std::unique_ptr<fabric::PostProgram>& program = programs_[fabric];
    if (program == nullptr) program = posting_.poster(fabric).make_post();
    return *program;
  }

  std::shared_ptr<WorldState> world_;
  Posting& posting_;
  std::string name_;
  std::vector<std::shared_ptr<const Attached>> targets_;                  // keeps the regions of its puts
  std::map<std::size_t, std::unique_ptr<fabric::PostProgram>> programs_;  // by fabric
  bool running_ = false, on_stream_ = false;                              // how it was started last
  std::chrono::duration<double> waited_{0};  // in calls that returned before it was over
};

class NoticesState {
 public:
  explicit NoticesState(World& world)
      : world_(WorldState::of(world).shared_from_this()), posting_(world_->posting()) {}

  bool wait_for(const Notice& notice, Patience patience) {
    const Waiting waiting(*this, notice);
    check(notice);
    fabric::Poster& poster = poster_of(notice.source);
    return wait_until(*world_, waiting, patience,
                      ", which has not raised it; has it started its post? (time limit: WorldOptions or "
                      "OPENTCA_TIME_LIMIT)",
                      [&] { return poster.take(notice.source, notice.slot, notice.tag); });
  }

  void wait_on(const Notice& notice, Stream stream) {
    world_->check();
    check(notice);
    poster_of(notice.source).take_on(notice.source, notice.slot, notice.tag, stream);
  }

  bool test(const Notice& notice) {
    check(notice);
    return look(notice,
                [&] { return poster_of(notice.source).take(notice.source, notice.slot, notice.tag); });
  }

  std::optional<Notice> test_any(int source, int slot) {
    Notice notice{source, slot, 0};
    check(notice);
    const bool come = look(notice, [&] {
      const std::optional<std::uint32_t> tag = poster_of(source).take_any(source, slot);
      if (tag) notice.tag = *tag;
      return tag.has_value();
    });
    return come ? std::optional(notice) : std::nullopt;
  }

  std::optional<Notice> wait_any_for(int slot, std::chrono::nanoseconds at_most) {
    Notice notice{0, slot, 0};
    check(notice);
    const auto take = [&] {
      for (int looked = 0; looked < world_->size(); ++looked) {
        next_source_ = (next_source_ + 1) % world_->size();
        const std::optional<std::uint32_t> tag = poster_of(next_source_).take_any(next_source_, slot);
        if (!tag) continue;
        notice = {next_source_, slot, *tag};
        return true;
      }
      return false;
    };
    const WaitingForAny waiting(*world_, slot);
    bool come = wait_until(*world_, waiting, {at_most},
                           "; has a rank raised one? (time limit: WorldOptions or OPENTCA_TIME_LIMIT)", take);
    // A short wait ends before it looks for lost ranks.
    if (!come && looks_.go_round(0)) check_missing(*world_, waiting, [&] { return come = take(); });
    return come ? std::optional(notice) : std::nullopt;
  }

 private:
  // One lost rank is no reason to give up: another may raise the notice.
  class WaitingForAny final : public control::Wait {
   public:
    WaitingForAny(WorldState& world, int slot) : world_(world), slot_(slot) {}
    std::string what() const override {
      return fmt::format("a wait for a notice of any rank in slot {}", slot_);
    }
    ErrorFields about() const override {
      ErrorFields about{.rank = world_.rank()};
      for (int rank = 0; rank < world_.size(); ++rank) {
        if (rank == world_.rank()) continue;
        if (!world_.control().lost(rank)) return {.rank = world_.rank()};
        about.missing.push_back(rank);
      }
      return about;
    }

   private:
    WorldState& world_;
    int slot_;
  };

  class Waiting final : public control::Wait {
   public:
    Waiting(const NoticesState& notices, const Notice& notice) : notices_(notices), notice_(notice) {}
    std::string what() const override {
      return fmt::format("a wait for a notice in slot {} with tag {}", notice_.slot, notice_.tag);
    }
    ErrorFields about() const override {
      return {.rank = notices_.world_->rank(), .missing = {notice_.source}};
    }

   private:
    const NoticesState& notices_;
    const Notice& notice_;
  };

  fabric::Poster& poster_of(int source) const { return posting_.poster(posting_.fabric_to(source)); }

  void check(const Notice& notice) const {
    posting_.check_rank("a notice", notice.source);
    Posting::check_slot("a notice", notice.slot);
  }

  // A program may look over and over, without a time limit, for what never arrives, but not from a rank
  // that is lost.
  template <class Take>
  bool look(const Notice& notice, const Take& take) {
    bool come = take();
    if (come) return true;
    world_->progress_while_waiting();
    if (looks_.go_round(0)) check_missing(*world_, Waiting(*this, notice), [&] { return come = take(); });
    return come;
  }

  std::shared_ptr<WorldState> world_;
  Posting& posting_;
  base::TestLoop looks_;
  int next_source_ = 0;  // of those that take turns
};

}  // namespace core

Post::Post(World& world, std::string name)
    : state_(std::make_unique<core::PostState>(world, std::move(name))) {}
Post::Post(Post&&) noexcept = default;
Post& Post::operator=(Post&&) noexcept = default;
Post::~Post() = default;

Post& Post::put_untyped(const RegionToken& to, Count at, const Layout& to_layout, const void* from,
                        Count elements, const Layout& from_layout, std::size_t element_bytes) {
  state().put(to, at.value(), to_layout, static_cast<const std::byte*>(from), elements.value(), from_layout,
              element_bytes);
  return *this;
}

Post& Post::notify(int rank, int slot, std::uint32_t tag) {
  state().notify(rank, slot, tag);
  return *this;
}

Post& Post::clear() {
  state().clear();
  return *this;
}

void Post::start() { state().start(); }
void Post::start(Stream stream) { state().start_on(stream); }
bool Post::test() { return state().test(); }
void Post::wait() { static_cast<void>(state().wait_for(core::no_limit)); }
bool Post::wait_for(std::chrono::nanoseconds duration) { return state().wait_for(duration); }
void Post::flush() { static_cast<void>(state().flush_for(core::no_limit)); }
bool Post::flush_for(std::chrono::nanoseconds duration) { return state().flush_for(duration); }

Notices::Notices(World& world) : state_(std::make_unique<core::NoticesState>(world)) {}
Notices::Notices(Notices&&) noexcept = default;
Notices& Notices::operator=(Notices&&) noexcept = default;
Notices::~Notices() = default;

void Notices::wait(const Notice& notice) { static_cast<void>(state().wait_for(notice, {})); }
bool Notices::wait_for(const Notice& notice, std::chrono::nanoseconds duration,
                       std::chrono::nanoseconds already) {
  return state().wait_for(notice, {duration, already});
}
void Notices::wait(const Notice& notice, Stream stream) { state().wait_on(notice, stream); }
bool Notices::test(const Notice& notice) { return state().test(notice); }
std::optional<Notice> Notices::test_any(int source, int slot) { return state().test_any(source, slot); }
std::optional<Notice> Notices::wait_any_for(int slot, std::chrono::nanoseconds duration) {
  return state().wait_any_for(slot, duration);
}

}  // namespace tca
