// Runs the suite over shared memory between processes, with what only processes meet.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// From here on the system lets this process neither read nor write the memory of others, as where Yama or a
// container forbids it.
void forbid_other_memory() {
  std::array<sock_filter, 5> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
          "no filter of system calls");
}

TEST(Processes, MemoryOfAProgramThatTheSystemProtectsIsRefused) {
  const auto body = [](World& world) {
    std::vector<int> memory(100, 3);
    const Region region(world, memory.data(), memory.size() * sizeof(int)), shared(world, 64);
    const std::vector<RegionToken> tokens = world.all_gather(region.token()),
                                   others = world.all_gather(shared.token());
    if (world.rank() == 0) {
      forbid_other_memory();
      Post post(world, "foreign");
      const std::vector<int> one{7};
      const auto refused = refuses(
          Errc::invalid_argument,
          {"post 'foreign'", "rank 1", "does not let", "not permitted", "PR_SET_PTRACER", "run_threads"},
          [&] { post.put(tokens[1], 0, one, block(1)); });
      require(static_cast<bool>(refused), "{}", refused.message());
      post.put(others[1], 0, one, block(1))
          .notify(1, 0, 0)
          .run();  // memory of the library's needs no permission
    } else {
      Notices(world).wait({0, 0, 0});
      require(*reinterpret_cast<const int*>(shared.data()) == 7, "nothing came");
    }
    world.barrier();
    require(std::ranges::all_of(memory, [](int value) { return value == 3; }), "something was written");
  };
  EXPECT_EQ(process_ranks()->run(2, body), "");
}

// The pages of a region go while it lives, which the program must not do.
TEST(Processes, MemoryOfAProgramThatHasGoneIsRefused) {
  const auto body = [](World& world) {
    constexpr std::size_t bytes = 1 << 16;
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const Region region(world, pages, bytes);
    const std::vector<RegionToken> tokens = world.all_gather(region.token());
    const std::vector<int> source(bytes / sizeof(int), 7);
    Post post(world, "foreign");
    const Caught attached =
        caught([&] { post.put(tokens[1], 0, source, block(source.size())).notify(1, 0, 0); });
    world.barrier();
    if (world.rank() == 1) munmap(pages, bytes);
    world.barrier();
    if (world.rank() == 0 && attached.code == Errc{}) {
      const auto refused =
          refuses(Errc::invalid_argument, {"rank 1", "no longer there"}, [&] { post.run(); });
      require(static_cast<bool>(refused), "{}", refused.message());
    }
    world.barrier();
    require(!Notices(world).test({0, 0, 0}), "a notice was raised");
    world.barrier();
  };
  EXPECT_EQ(process_ranks()->run(2, body), "");
}

// The target dies. Its memory is still there, and posts into it do nobody any harm; those that the system would
// have to store are refused, since its PID may be another's by now.
TEST(Processes, PostsToARankThatHasDied) {
  const auto body = [](World& world) {
    std::vector<int> memory(16);
    const Region shared(world, 64), foreign(world, memory.data(), 64);
    const std::vector<RegionToken> tokens = world.all_gather(shared.token()),
                                   others = world.all_gather(foreign.token());
    const std::vector<int> one{7};
    Post post(world, "shared"), by_system(world, "foreign");
    post.put(tokens[1], 0, one, block(1)).notify(1, 0, 0);
    const Caught attached = caught([&] { by_system.put(others[1], 0, one, block(1)); });
    world.barrier();
    if (world.rank() == 1) raise(SIGKILL);
    Notices notices(world);
    const auto lost = refuses(Errc::rank_lost, {"rank 1", "slot 9"}, [&] { notices.wait({1, 9, 0}); });
    require(static_cast<bool>(lost), "{}", lost.message());
    post.run();
    if (attached.code != Errc{}) return;
    const auto refused = refuses(Errc::rank_lost, {"rank 1"}, [&] { by_system.run(); });
    require(static_cast<bool>(refused), "{}", refused.message());
  };
  EXPECT_EQ(process_ranks()->run(2, body), "a rank was ended by signal 9");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(process_backend()), backend_name);
}  // namespace tca::test
