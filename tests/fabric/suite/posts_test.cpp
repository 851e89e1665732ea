// Posts and notices: what they carry, in what order, and how tokens that are good no longer, or never were,
// are refused.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;
using Value = std::int64_t;

bool is_of(const Backend& backend, std::string_view word) {
  return backend.name.find(word) != std::string::npos;
}

bool carries_posts(const Backend& backend) { return !is_of(backend, "shuffle"); }

// A region of elements, and the tokens of the same one on all ranks.
struct Everywhere {
  Everywhere(World& world, std::size_t elements)
      : region(world, elements * sizeof(Value)), tokens(world.all_gather(region.token())) {}

  std::vector<Value> values(std::size_t from, std::size_t count) const {
    std::vector<Value> all(count);
    region.read(from * sizeof(Value), std::as_writable_bytes(std::span(all)));
    return all;
  }
  Value value(std::size_t at) const { return values(at, 1)[0]; }
  void fill(Value value) const {
    const std::vector<Value> all(region.size() / sizeof(Value), value);
    region.write(0, std::as_bytes(std::span(all)));
  }
  const RegionToken& on(int rank) const { return tokens[static_cast<std::size_t>(rank)]; }

  Region region;
  std::vector<RegionToken> tokens;
};

bool is_zero(const Region& region) {
  std::vector<std::byte> bytes(region.size());
  region.read(0, bytes);
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Memory that the program has, where others reach it. Made by all ranks together.
class ProgramMemory {
 public:
  ProgramMemory(World& world, const Backend& backend, std::size_t count) {
    if (is_of(backend, "cuda"))
      window_ = world.window<Value>(static_cast<std::int64_t>(count));
    else
      vector_.resize(count);
  }

  Value* data() { return window_ ? window_->data() : vector_.data(); }
  std::size_t size() const { return window_ ? window_->size() : vector_.size(); }
  void fill(Value value) {
    const std::vector<Value> all(size(), value);
    window_ ? window_->write(0, all) : static_cast<void>(vector_ = all);
  }
  std::vector<Value> values() const { return window_ ? contents(*window_) : vector_; }

 private:
  std::vector<Value> vector_;
  std::optional<Window<Value>> window_;
};

std::vector<Value> numbered(std::size_t count, Value from) {
  std::vector<Value> all(count);
  std::iota(all.begin(), all.end(), from);
  return all;
}

// Every layout, from every rank to every other and to itself.
TEST_P(FabricTest, PostsOfEveryLayout) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  struct Case {
    Cells to, from;
  };
  const std::vector<Case> cases{{block_cells(1), block_cells(1)},
                                {block_cells(9000), block_cells(9000)},
                                {stride_cells(40, 3), block_cells(40)},
                                {block_stride_cells(90, 33, 40), block_stride_cells(90, 33, 35)},
                                {subarray_cells({4, 5, 3, 6}, {0, 1, 1, 2}, {4, 2, 2, 3}),
                                 subarray_cells({5, 4, 4, 3}, {1, 0, 2, 0}, {4, 2, 2, 3})}};
  run(3, [&](World& world) {
    constexpr std::size_t room = 10000;  // for each source and case
    const auto ranks = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
    const Everywhere all(world, ranks * cases.size() * room);
    require(all.on(2).rank() == 2 && all.on(2).bytes() == all.region.size(), "{}, {} bytes", all.on(2).rank(),
            all.on(2).bytes());
    all.fill(-1);
    world.barrier();
    const std::vector<Value> source = numbered(room, 100'000 * world.rank());
    Post post(world, "layouts");
    for (int rank = 0; rank < world.size(); ++rank) {
      for (std::size_t i = 0; i < cases.size(); ++i)
        post.put(all.on(rank), (me * cases.size() + i) * room, cases[i].to.layout, source,
                 cases[i].from.layout);
      post.notify(rank, 7, 70);
    }
    post.run();
    Notices notices(world);
    for (std::size_t from = 0; from < ranks; ++from) {
      notices.wait({static_cast<int>(from), 7, 70});
      for (std::size_t i = 0; i < cases.size(); ++i) {
        std::vector<Value> expected(room, -1);
        for (std::size_t k = 0; k < cases[i].to.at.size(); ++k)
          expected[static_cast<std::size_t>(cases[i].to.at[k])] =
              100'000 * static_cast<Value>(from) + cases[i].from.at[k];
        require(all.values((from * cases.size() + i) * room, room) == expected, "case {} from rank {}", i,
                from);
      }
    }
    post.flush();
    world.barrier();
  });
}

// Sources are read at the start, a notice comes after what was put before it, and notices count.
TEST_P(FabricTest, PostsLandInOrder) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  const int rounds = steps(30);
  run(2, [&](World& world) {
    constexpr std::size_t count = 1 << 17;  // a notice that came too early would find them on their way
    const Everywhere all(world, count);
    const int other = 1 - world.rank();
    std::vector<Value> values(count);
    Post post(world, "counter");
    post.put(all.on(other), 0, values, block(count)).notify(other, 0, 5);
    Post bare(world);
    bare.notify(other, 0, 6);
    Notices notices(world);
    for (int i = 1; i <= rounds; ++i) {
      std::ranges::fill(values, i);
      post.start();
      while (!post.wait_for(std::chrono::milliseconds(1))) continue;
      std::ranges::fill(values, -1);
      notices.wait({other, 0, 5});
      require(all.value(count - 1) == i, "the last element, which comes last, in round {}", i);
      require(all.values(0, count) == std::vector<Value>(count, i), "an element in round {}", i);
      bare.run();
      notices.wait({other, 0, 6});  // the other one has looked, too
    }
    for (int i = 0; i < 5; ++i) bare.run();
    for (int i = 0; i < 5; ++i) notices.wait({other, 0, 6});
    require(!notices.test({other, 0, 6}) && !notices.test({other, 0, 5}), "a notice too many");
    require(!notices.wait_for({other, 0, 6}, std::chrono::milliseconds(1)), "a notice too many");
    while (!post.flush_for(std::chrono::milliseconds(1))) continue;
    world.barrier();
  });
}

// Tags of one slot, taken in another order, by number or as they come; and a notice to this rank itself.
TEST_P(FabricTest, NoticesHaveSlotsAndTags) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  run(2, [](World& world) {
    const int other = 1 - world.rank();
    Notices notices(world);
    for (int round = 0; round < 20; ++round) {
      const auto tag = [&](int i) { return static_cast<std::uint32_t>(round * 1000 + i); };
      Post post(world, "tags");
      for (int i = 0; i < notice_tags; ++i) post.notify(other, 255, tag(i));
      post.notify(other, 254, tag(3)).notify(world.rank(), 255, 9).notify(world.rank(), 255, 9);
      post.run();
      notices.wait({other, 255, tag(5)});
      notices.wait({other, 255, tag(2)});
      notices.wait({other, 254, tag(3)});
      std::vector<std::uint32_t> rest;
      while (rest.size() < notice_tags - 2)
        if (const std::optional<Notice> come = notices.test_any(other, 255)) rest.push_back(come->tag);
      std::ranges::sort(rest);
      require(rest == std::vector<std::uint32_t>{tag(0), tag(1), tag(3), tag(4), tag(6), tag(7)}, "round {}",
              round);
      require(!notices.test_any(other, 255) && !notices.test_any(other, 254), "a notice too many");
      notices.wait({world.rank(), 255, 9});
      notices.wait({world.rank(), 255, 9});
      require(!notices.test_any(world.rank(), 255), "a notice too many");
      world.barrier();  // all are taken: the next round has tags of its own
    }
  });
}

// A rank that waits for whichever comes first gets each once, its own too.
TEST_P(FabricTest, NoticesOfAnyRankAreWaitedFor) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  run(2, [](World& world) {
    Notices notices(world);
    Post post(world, "to all");
    for (int rank = 0; rank < world.size(); ++rank)
      for (int i = 0; i < 4; ++i) post.notify(rank, 7, static_cast<std::uint32_t>(i));
    post.run();

    std::set<std::pair<int, std::uint32_t>> come;
    while (come.size() < 8) {
      const std::optional<Notice> notice = notices.wait_any_for(7, std::chrono::seconds(20));
      require(notice && notice->slot == 7, "{} have come", come.size());
      require(come.emplace(notice->source, notice->tag).second, "{} of {} twice", notice->tag,
              notice->source);
    }

    require(!notices.wait_any_for(7, std::chrono::milliseconds(1)), "a notice too many");
    require(!notices.wait_any_for(8, std::chrono::nanoseconds(0)), "a notice of another slot");
    world.barrier();
  });
}

TEST_P(FabricTest, FullSlotsAreRefused) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  run(2, [](World& world) {
    const Everywhere all(world, 1);
    if (world.rank() == 0) {
      const std::vector<Value> one{77};
      Post full(world, "full");
      for (std::uint32_t tag = 0; tag < notice_tags; ++tag) full.notify(1, 3, tag);
      full.run();
      Post post(world, "one more");
      post.put(all.on(1), 0, one, block(1)).notify(1, 3, 99);
      const Caught error = caught([&] {
        post.start();
        post.flush();
      });
      require(error.code == Errc::refused &&
                  says(error.message, {"one more", "slot 3", "rank 1", "8 other tags"}),
              "{}", error.message);
      full.run();  // more of the same tags fit
      world.barrier();
      world.barrier();
      post.run();  // now there is room
      post.flush();
      world.barrier();
    } else {
      Notices notices(world);
      world.barrier();
      require(all.value(0) == 0, "{} was written", all.value(0));
      for (std::uint32_t tag = 0; tag < notice_tags; ++tag)
        for (int twice = 0; twice < 2; ++twice) notices.wait({0, 3, tag});
      world.barrier();
      notices.wait({0, 3, 99});
      require(all.value(0) == 77, "{} came", all.value(0));
      world.barrier();
    }
  });
}

// Nothing is written into a region that is gone, whether its source knows it from before or not.
TEST_P(FabricTest, PostsIntoRegionsThatAreGoneAreRefused) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  for (const std::int64_t bytes : {64, 1 << 20}) {
    run(2, [&](World& world) {
      std::optional<Region> region(std::in_place, world, bytes);
      const std::vector<RegionToken> tokens = world.all_gather(region->token());
      const int other = 1 - world.rank();
      const std::vector<Value> one{5};
      Post before(world, "known"), after(world, "unknown");
      before.put(tokens[static_cast<std::size_t>(other)], 0, one, block(1)).notify(other, 1, 1);
      before.run();
      Notices notices(world);
      notices.wait({other, 1, 1});
      world.barrier();
      region.reset();
      Region next(world, bytes);  // may get the very same memory
      world.barrier();
      const auto is_refused = [&](const std::function<void()>& post, const char* name) {
        const Caught error = caught(post);
        require(error.code == Errc::invalid_argument &&
                    says(error.message, {name, fmt::format("rank {} is gone", other), "new token"}),
                "{}", error.message);
      };
      is_refused(
          [&] {
            before.start();
            before.flush();
          },
          "'known'");
      is_refused(
          [&] {
            after.put(tokens[static_cast<std::size_t>(other)], 0, one, block(1));
            after.start();
            after.flush();
          },
          "'unknown'");
      world.barrier();
      require(is_zero(next), "a byte was written");
      require(!notices.test_any(other, 1), "a notice was raised");
      world.barrier();
    });
  }
}

// A source posts as fast as it can while the target ends the region and uses the memory for something else.
TEST_P(FabricTest, RegionsMayEndAtAnyTime) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  const int rounds = steps(40);
  run(2, [&](World& world) {
    std::mt19937 random(4711 + static_cast<unsigned>(world.rank()));
    ProgramMemory memory(world, GetParam(), 1 << 16);  // so much that it takes a while to store
    std::vector<Value> junk(memory.size(), 999);
    bool is_allowed = true;
    for (int round = 0; round < rounds && is_allowed; ++round) {
      std::optional<Region> region;
      if (world.rank() == 1) region.emplace(world, memory.data(), memory.size() * sizeof(Value));
      const RegionToken token = world.all_gather(region ? region->token() : RegionToken{})[1];
      if (world.rank() == 0) {
        Post post(world, "hail");
        const Caught error = caught([&] {
          post.put(token, 0, junk, block(junk.size()));
          for (;;) {
            post.start();
            post.wait();
            world.progress();
          }
        });
        require(error.code == Errc::invalid_argument, "{}", error.message);
        is_allowed = error.message.find("does not let") == std::string::npos;
      } else {
        const auto until = world.now() + std::chrono::microseconds(random() % 300);
        while (world.now() < until) world.progress();
        region.reset();
        memory.fill(round);
        for (int look = 0; look < 10; ++look) {
          world.progress();
          require(memory.values() == std::vector<Value>(memory.size(), round), "written in round {}", round);
        }
      }
      is_allowed = world.all_gather(is_allowed ? 1 : 0)[0] == 1;
    }
  });
}

// Memory that the program has. Where the system forbids it, the first put says so and what to do.
TEST_P(FabricTest, PostsIntoMemoryOfTheProgram) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  run(2, [&](World& world) {
    ProgramMemory memory(world, GetParam(), 3000);
    memory.fill(-1);
    const Region region(world, memory.data() + 10, 2980 * sizeof(Value));
    require(region.data() == reinterpret_cast<std::byte*>(memory.data() + 10), "other memory");
    const std::vector<RegionToken> tokens = world.all_gather(region.token());
    const int other = 1 - world.rank();
    const std::vector<Value> source = numbered(1000, 100);
    Post post(world, "foreign");
    const Caught error = caught([&] {
      post.put(tokens[static_cast<std::size_t>(other)], 2, block_stride(500, 2, 5), source, block(1000));
      post.notify(other, 0, 0).run();
    });
    if (error.code != Errc{}) {
      require(error.code == Errc::invalid_argument && !is_of(GetParam(), "cuda") &&
                  says(error.message, {"does not let", "PR_SET_PTRACER", "run_threads"}),
              "{}", error.message);
      return;
    }
    Notices notices(world);
    notices.wait({other, 0, 0});
    const std::vector<Value> come = memory.values();
    for (std::size_t i = 0; i < come.size(); ++i) {
      const std::size_t row = (i - 12) / 5, column = (i - 12) % 5;
      const bool is_put = i >= 12 && row < 500 && column < 2;
      const Value expected = is_put ? static_cast<Value>(100 + 2 * row + column) : -1;
      require(come[i] == expected, "element {} is {}", i, come[i]);
    }
    world.barrier();
  });
}

// Host memory, wherever other regions are; and what is read and written of a region by calls.
TEST_P(FabricTest, RegionsInHostMemory) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  run(2, [](World& world) {
    const Region region = Region::on_host(world, 100);
    const std::vector<RegionToken> tokens = world.all_gather(region.token());
    const int other = 1 - world.rank();
    const std::vector<std::uint8_t> source(50, static_cast<std::uint8_t>(7 + world.rank()));
    Post post(world, "to the host");
    post.put(tokens[static_cast<std::size_t>(other)], 30, source, block(50)).notify(other, 1, 2).run();
    Notices(world).wait({other, 1, 2});
    for (int i = 0; i < 100; ++i) {
      const int expected = i < 30 || i >= 80 ? 0 : 7 + other;
      require(static_cast<int>(region.data()[i]) == expected, "byte {}", i);
    }
    std::array<std::byte, 3> some{std::byte{1}, std::byte{2}, std::byte{3}};
    region.write(97, some);
    some = {};
    region.read(97, some);
    require(some[2] == std::byte{3} && region.data()[99] == std::byte{3}, "the last byte");
    for (const std::int64_t outside : {-1, 98, 101}) {
      const auto result = refuses(Errc::invalid_argument, {"3 bytes", "outside of the region", "100"},
                                  [&] { region.read(outside, some); });
      require(static_cast<bool>(result), "{}", result.message());
    }
    world.barrier();
  });
}

TEST_P(FabricTest, TokensOfOtherWorldsAreRefused) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  // Where ranks are processes, those of the second world are others than those of the first.
  void* const page =
      mmap(nullptr, sizeof(RegionToken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  RegionToken& old = *new (page) RegionToken;
  const std::vector<Value> one{5};
  run(2, [&](World& world) {
    const Region region(world, 64);
    const RegionToken first = world.all_gather(region.token())[1];
    if (world.rank() == 0) old = first;
  });
  run(2, [&](World& world) {
    const Region region(world, 64);
    world.barrier();
    if (world.rank() == 0) {
      Post post(world, "late");
      const Caught error = caught([&] {
        post.put(old, 0, one, block(1)).start();
        post.flush();
      });
      require(error.code == Errc::incompatible && says(error.message, {"late", "another world"}), "{}",
              error.message);
    }
    world.barrier();
    require(is_zero(region), "a byte was written");
  });
  munmap(page, sizeof(RegionToken));
}

TEST_P(FabricTest, WrongPostsAreRefused) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  run(2, [&](World& world) {
    const Everywhere all(world, 10);
    const std::vector<Value> source(20);
    Post post(world, "wrong");
    const auto refused = [&](Errc code, std::initializer_list<std::string_view> parts,
                             const std::function<void()>& call) {
      const auto result = refuses(code, parts, call);
      require(static_cast<bool>(result), "{}", result.message());
    };
    refused(Errc::invalid_argument, {"put of post 'wrong'", "element 8", "region", "10 elements"},
            [&] { post.put(all.on(1), 8, source, block(3)); });
    refused(Errc::invalid_argument, {"element -1"}, [&] { post.put(all.on(1), -1, source, block(1)); });
    refused(Errc::invalid_argument, {"source", "20 elements"},
            [&] { post.put(all.on(1), 0, block(10), source, stride(10, 3)); });
    refused(Errc::invalid_argument, {"notify", "no rank 2"}, [&] { post.notify(2, 0, 0); });
    refused(Errc::invalid_argument, {"no slot 256", "255"}, [&] { post.notify(1, 256, 0); });
    refused(Errc::invalid_argument, {"no slot -1"}, [&] {
      static_cast<void>(Notices(world).test({1, -1, 0}));
    });
    refused(Errc::invalid_argument, {"no rank -1"}, [&] { Notices(world).wait({-1, 0, 0}); });
    refused(Errc::invalid_argument, {"a region of rank", "0 bytes"}, [&] { Region(world, 0); });
    refused(Errc::invalid_argument, {"no memory is given"}, [&] { Region(world, nullptr, 8); });
    refused(Errc::incompatible, {"no token", "128"}, [&] { post.put(RegionToken{}, 0, source, block(1)); });
    refused(Errc::incompatible, {"no token"}, [&] { static_cast<void>(RegionToken{}.rank()); });
    const auto changed = [&](std::size_t byte) {
      RegionToken token = all.on(1);
      reinterpret_cast<std::byte*>(&token)[byte] ^= std::byte{0x40};
      return token;
    };
    refused(Errc::incompatible, {"of version"}, [&] { post.put(changed(8), 0, source, block(1)); });
    refused(Errc::incompatible, {"damaged"}, [&] { post.put(changed(24), 0, source, block(1)); });
    // As another user, and another world, would have made it.
    const auto made_elsewhere = [&](std::initializer_list<std::size_t> changes) {
      constexpr std::size_t checked = 112;
      RegionToken token = all.on(1);
      auto* const bytes = reinterpret_cast<std::byte*>(&token);
      for (const std::size_t byte : changes) bytes[byte] ^= std::byte{0x40};
      const std::uint64_t check = base::fnv1a({bytes, checked});
      std::memcpy(bytes + checked, &check, sizeof check);
      return token;
    };
    refused(Errc::incompatible, {"another user's"},
            [&] { post.put(made_elsewhere({15}), 0, source, block(1)); });
    refused(Errc::incompatible, {"another world"},
            [&] { post.put(made_elsewhere({19}), 0, source, block(1)); });
    refused(Errc::incompatible, {"another world"}, [&] {
      post.put(made_elsewhere({32, 72}), 0, source, block(1)).start();
      post.flush();
    });
    if (!is_of(GetParam(), "cuda")) {
      Post empty(world, "empty");
      refused(Errc::invalid_argument, {"start of post 'empty'", "streams", "cuda"},
              [&] { empty.notify(1, 0, 0).start(Stream{}); });
      refused(Errc::invalid_argument, {"streams", "cuda"}, [&] { Notices(world).wait({1, 0, 0}, Stream{}); });
    }
    post.clear();
    World group = world.group({0, 1});
    refused(Errc::invalid_argument, {"of a group", "world around it"}, [&] { Region(group, 8); });
    refused(Errc::invalid_argument, {"of a group"}, [&] { Post of_group(group); });
    post.put(all.on(1), 0, block(0), source, block(0));  // nothing, and legal
    post.run();
    world.barrier();
  });
}

TEST_P(FabricTest, NoticesOfRanksThatAreLost) {
  if (!carries_posts(GetParam())) GTEST_SKIP() << "carries no posts";
  if (GetParam().name.find("mpi") != std::string::npos)
    GTEST_SKIP() << "ranks leave together; see mpi_ends_test.cpp";
  run(2, [](World& world) {
    Notices notices(world);
    world.barrier();
    if (world.rank() == 1) return;
    const Caught error = caught([&] { notices.wait({1, 4, 12}); });
    require(error.code == Errc::rank_lost && says(error.message, {"rank 1", "slot 4", "tag 12"}) &&
                error.fields.missing == std::vector<int>{1},
            "{}", error.message);
    const Caught of_any = caught_while_looking([&] { return notices.wait_any_for(4, 1us).has_value(); });
    require(of_any.code == Errc::rank_lost && of_any.fields.missing == std::vector<int>{1}, "{}",
            of_any.message);
  });
}

// The wait is the same on every fabric, and the ranks of these two come up well within its short limit.
TEST_P(FabricTest, NoticesThatDoNotCome) {
  if (GetParam().name != "shm_threads" && GetParam().name != "shm_processes") GTEST_SKIP() << "tested on shm";
  const auto body = [](World& world) {
    const Everywhere all(world, 1);
    Notices notices(world);
    if (world.rank() == 1) {  // stays until rank 0 has given up
      while (!notices.test({0, 0, 0})) continue;
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto in_slices = [&] {
      while (!notices.wait_for({1, 4, 12}, std::chrono::milliseconds(5),
                               std::chrono::steady_clock::now() - begin))
        continue;
    };
    for (const Caught& error : {caught(in_slices), caught([&] { notices.wait({1, 4, 12}); })}) {
      require(error.code == Errc::timed_out && says(error.message, {"slot 4", "tag 12", "rank 1"}), "{}",
              error.message);
    }
    const std::vector<Value> one{1};
    Post post(world);
    post.put(all.on(1), 0, one, block(1)).notify(1, 0, 0).run();
  };
  EXPECT_EQ(GetParam().make()->run(2, body, {.time_limit = std::chrono::milliseconds(500)}), "");
}

// Where posts are not carried, the first object says so, and what to do.
TEST_P(FabricTest, FabricsWithoutPostsSaySo) {
  if (carries_posts(GetParam())) GTEST_SKIP() << "carries posts";
  run(1, [](World& world) {
    const auto result = refuses(Errc::invalid_argument, {"fabric", "carries no posts", "World::chain"},
                                [&] { Region(world, 8); });
    require(static_cast<bool>(result), "{}", result.message());
  });
}

}  // namespace
}  // namespace tca::test
