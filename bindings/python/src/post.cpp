#include "post.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <vector>

#include "arrays/buffer.hpp"
#include "arrays/window.hpp"
#include "interpreter.hpp"
#include "region.hpp"
#include "world.hpp"

namespace opentca_python {

using namespace nb::literals;

namespace {

// A post, and the memory that its puts read.
class PostObject final : public Member {
 public:
  PostObject(std::shared_ptr<Place> place, tca::Post post)
      : Member(std::move(place), Kind::step), handle_(std::move(post)) {}
  void drop() override {
    handle_.drop();
    sources_.clear();
  }
  tca::Post& post() { return present(*this, handle_, "post"); }

  void put(nb::handle token, nb::handle from, nb::handle at, nb::handle shape);
  void clear() {
    post().clear();
    sources_.clear();
  }

 private:
  Handle<tca::Post> handle_;
  std::vector<std::unique_ptr<Buffer>> sources_;
};

Geometry shown_by(const Buffer& buffer) {
  Geometry array;
  for (int axis = 0; axis < buffer->ndim; ++axis) {
    array.shape.push_back(buffer->shape[axis]);
    array.strides.push_back(buffer->strides[axis] / buffer->itemsize);
    if (buffer->shape[axis] > 1 && buffer->strides[axis] % buffer->itemsize != 0)
      throw tca::Error(tca::Errc::invalid_argument, "Post.put: axis " + std::to_string(axis) +
                                                        " of the source has no whole elements between two");
  }
  return array;
}

// Without a shape the region is a row of elements, and the source goes there as it is shaped, from element `at` on.
Geometry target(nb::handle at, nb::handle shape, const Geometry& from) {
  if (!shape.is_none()) return indexed(whole(extents_of(shape)), at);
  Geometry array = whole(from.shape);
  array.offset = nb::cast<std::int64_t>(at);
  return array;
}

void PostObject::put(nb::handle token, nb::handle source, nb::handle at, nb::handle shape) {
  auto buffer = std::make_unique<Buffer>(source, PyBUF_STRIDES);
  if (!buffer->valid()) throw nb::python_error();
  const Geometry from = shown_by(*buffer);
  const Geometry to = target(at, shape, from);
  const auto [to_layout, from_layout] = layouts(to, from);
  const tca::RegionToken region = token_of(token);
  post().put_untyped(region, to.offset, to_layout, (*buffer)->buf, from_layout.end(), from_layout,
                     static_cast<std::size_t>((*buffer)->itemsize));
  sources_.push_back(std::move(buffer));
}

// What `wait` of interpreter.hpp takes: a post until its sources may be overwritten, or until all has landed.
struct Left {
  tca::Post& post;
  bool test() { return post.test(); }
  bool wait_for(std::chrono::nanoseconds duration) { return post.wait_for(duration); }
};
struct Landed {
  tca::Post& post;
  bool test() { return post.flush_for(std::chrono::nanoseconds(0)); }
  bool wait_for(std::chrono::nanoseconds duration) { return post.flush_for(duration); }
};

bool wait_left(PostObject& self, std::optional<double> seconds = {}) {
  Left left{self.post()};
  return seconds ? wait(*self.place(), left, nanoseconds_of(*seconds)) : wait(*self.place(), left);
}

void start(PostObject& self) {
  tca::Post& post = self.post();
  at_once(*self.place(), [&] { post.start(); });
}

class NoticesObject final : public Member {
 public:
  NoticesObject(std::shared_ptr<Place> place, tca::Notices notices)
      : Member(std::move(place), Kind::step), handle_(std::move(notices)) {}
  void drop() override { handle_.drop(); }
  tca::Notices& notices() { return present(*this, handle_, "notices"); }

 private:
  Handle<tca::Notices> handle_;
};

// A wait for one notice. The world's time limit covers all its slices.
class Coming {
 public:
  Coming(tca::Notices& notices, const tca::Notice& notice) : notices_(notices), notice_(notice) {}
  bool test() { return notices_.test(notice_); }
  bool wait_for(std::chrono::nanoseconds duration) {
    return notices_.wait_for(notice_, duration, std::chrono::steady_clock::now() - begin_);
  }

 private:
  tca::Notices& notices_;
  tca::Notice notice_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

bool wait_notice(NoticesObject& self, const tca::Notice& notice, std::optional<double> seconds = {}) {
  Coming coming(self.notices(), notice);
  return seconds ? wait(*self.place(), coming, nanoseconds_of(*seconds)) : wait(*self.place(), coming);
}

void bind_notices(nb::module_& module) {
  nb::class_<NoticesObject>(
      module, "Notices",
      "The notices that other ranks have raised here. Each call that finds one consumes "
      "it, and what was posted before it is then in place.")
      .def(
          "__init__",
          [](NoticesObject* self, const WorldObject& world) {
            new (self) NoticesObject(world.place, tca::Notices(world.place->world()));
          },
          "world"_a)
      .def(
          "wait",
          [](NoticesObject& self, int source, int slot, std::uint32_t tag) {
            wait_notice(self, {source, slot, tag});
          },
          "source"_a, "slot"_a = 0, "tag"_a = 0,
          "Waits for a notice. Ctrl-C is heard. Raises TimedOut or RankLost.")
      .def(
          "wait_for",
          [](NoticesObject& self, double seconds, int source, int slot, std::uint32_t tag) {
            return wait_notice(self, {source, slot, tag}, seconds);
          },
          "seconds"_a, "source"_a, "slot"_a = 0, "tag"_a = 0,
          "Waits for at most so many seconds, and returns whether the notice has come.")
      .def(
          "test",
          [](NoticesObject& self, int source, int slot, std::uint32_t tag) {
            tca::Notices& notices = self.notices();
            return at_once(*self.place(), [&] { return notices.test({source, slot, tag}); });
          },
          "source"_a, "slot"_a = 0, "tag"_a = 0, "Returns whether the notice was here, without blocking.")
      .def(
          "test_any",
          [](NoticesObject& self, int source, int slot) -> std::optional<std::uint32_t> {
            tca::Notices& notices = self.notices();
            const auto found = at_once(*self.place(), [&] { return notices.test_any(source, slot); });
            return found ? std::optional(found->tag) : std::nullopt;
          },
          "source"_a, "slot"_a = 0, "The same for any tag: returns that of the notice, or None.")
      .def(
          "close", [](NoticesObject& self) { self.drop(); },
          "Gives up what it holds. Not collective, and never blocks.");
}

void bind_starts(nb::class_<PostObject>& post) {
  post.def("start", &start, "Sends the bytes as they are now, and never blocks.")
      .def(
          "test",
          [](PostObject& self) {
            tca::Post& of = self.post();
            return at_once(*self.place(), [&] { return of.test(); });
          },
          "Returns whether all sources may be overwritten, without blocking.")
      .def(
          "wait", [](PostObject& self) { wait_left(self); },
          "Waits until all sources may be overwritten, and the post started again.")
      .def(
          "wait_for", [](PostObject& self, double seconds) { return wait_left(self, seconds); }, "seconds"_a,
          "Waits for at most so many seconds, and returns whether that is so.")
      .def(
          "run",
          [](PostObject& self) {
            start(self);
            wait_left(self);
          },
          "A start and a wait.")
      .def(
          "flush",
          [](PostObject& self) {
            Landed landed{self.post()};
            wait(*self.place(), landed);
          },
          "Waits until everything that this post has ever sent is in place.")
      .def(
          "close", [](PostObject& self) { self.drop(); },
          "Gives up what it holds. Does not wait; what is on its way goes on.");
}

}  // namespace

void bind_posts(nb::module_& module) {
  nb::class_<PostObject> post(
      module, "Post",
      "Puts and notices that this rank makes and starts by itself, as often as it likes. Nothing is guarded: "
      "what is posted lands when it is started.");
  post.def(
          "__init__",
          [](PostObject* self, const WorldObject& world, const std::string& name) {
            new (self) PostObject(world.place, tca::Post(world.place->world(), name));
          },
          "world"_a, "name"_a = "")
      .def(
          "put",
          [](nb::handle_t<PostObject> self, nb::handle token, nb::handle source, nb::handle at,
             nb::handle shape) {
            nb::inst_ptr<PostObject>(self)->put(token, source, at, shape);
            return self;
          },
          "token"_a, "source"_a, "at"_a = 0, "shape"_a = nb::none(),
          "Adds a put of an array, or a slice of one, into the region of a token: from its element `at` on, "
          "or into the part `at` of a region that is an array of `shape`. The source is read at every start.",
          nb::sig("def put(self, token: bytes, source: typing.Any, at: typing.Any = 0, shape: typing.Any = "
                  "None) -> Post"))
      .def(
          "notify",
          [](nb::handle_t<PostObject> self, int rank, int slot, std::uint32_t tag) {
            nb::inst_ptr<PostObject>(self)->post().notify(rank, slot, tag);
            return self;
          },
          "rank"_a, "slot"_a = 0, "tag"_a = 0,
          "Adds a notice: a rank learns that everything that was added for it before is in place.",
          nb::sig("def notify(self, rank: int, slot: int = 0, tag: int = 0) -> Post"))
      .def(
          "clear",
          [](nb::handle_t<PostObject> self) {
            nb::inst_ptr<PostObject>(self)->clear();
            return self;
          },
          "Takes everything out again.", nb::sig("def clear(self) -> Post"));
  bind_starts(post);
  bind_notices(module);
}

}  // namespace opentca_python
