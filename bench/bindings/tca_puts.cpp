// What a put of TCA's calls (tca-api.h) costs beside the post that it is made of: tca run -n 2 -- tca_puts. Both bounce 8
// bytes between two ranks, on GPUs with OPENTCA_FABRIC=cuda; the hosts start them and wait for them alike, in turns.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "shared/program_rank.hpp"
#include "tca-api.h"
#include "tca/tca.hpp"

namespace {

constexpr int turns = 101, rounds = 200, slot = 3, tag = 0x100;

void done(tcaresult result) {
  if (result != TCA_SUCCESS) std::exit(1);  // it has said why
}

tcaHandle handle_of(double* memory) {
  tcaHandle handle;
  done(tcaCreateHandle(&handle, memory, sizeof *memory, tcaMemoryGPU));
  return handle;
}

// Microseconds one way. `start` puts, and `wait` returns when the other rank's put is here.
template <class Start, class Wait>
double one_way(tca::World& world, const Start& start, const Wait& wait) {
  using Clock = std::chrono::steady_clock;
  world.barrier();
  const Clock::time_point begin = Clock::now();
  for (int round = 0; round < rounds; ++round) {
    if (world.rank() == 1) wait();
    start();
    if (world.rank() == 0) wait();
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / rounds / 2;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int measure(tca::World& world) {
  if (world.size() != 2) {
    fmt::print(stderr, "tca_puts: start it on two ranks, tca run -n 2 -- tca_puts\n");
    return 2;
  }
  const int other = 1 - world.rank();
  void *source = nullptr, *target = nullptr;
  done(tcaMalloc(&source, sizeof(double), tcaMemoryGPU));
  done(tcaMalloc(&target, sizeof(double), tcaMemoryGPU));
  const tcaHandle from = handle_of(static_cast<double*>(source));
  const tcaHandle to =
      world.all_gather(handle_of(static_cast<double*>(target)))[static_cast<std::size_t>(other)];
  tcaDesc* const chain = tcaDescNew();
  done(tcaDescSetMemcpy(chain, &to, 0, &from, 0, sizeof(double), tcaDMANotify, slot, tag));
  done(tcaDescSet(chain, 0));

  auto sent = world.window<double>(1);
  const tca::Region region(world, sizeof(double));
  const tca::RegionToken token = world.all_gather(region.token())[static_cast<std::size_t>(other)];
  tca::Post post(world, "by itself");
  post.put(token, 0, sent.elements(), tca::block(1)).notify(other, slot, tag);
  tca::Notices notices(world);

  std::vector<double> by_tca, by_post, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    const auto by_calls = [&] {
      by_tca.push_back(one_way(
          world, [] { done(tcaStartDMADesc(0)); }, [&] { done(tcaWaitDMARecvDesc(&to, slot, tag)); }));
    };
    const auto by_itself = [&] {
      by_post.push_back(one_way(
          world, [&] { post.wait(), post.start(); },
          [&] {
            notices.wait({other, slot, tag});
          }));
    };
    if (turn % 2 == 0)
      by_calls(), by_itself();
    else
      by_itself(), by_calls();
    ratios.push_back(by_tca.back() / by_post.back());
  }
  post.wait();
  done(tcaWaitDMAC(0));
  world.barrier();
  if (world.rank() == 0)
    fmt::print(
        "8 bytes one way: TCA's calls {:.3f} us, a post {:.3f} us; ratio {:.3f} (median of {} turns)\n",
        median(by_tca), median(by_post), median(ratios), turns);
  return 0;
}

}  // namespace

int main() {
  try {
    tca::World world = tca::World::init();
    const tca::bindings::ProgramRank rank(world);
    done(tcaInit());
    return measure(world);
  } catch (const tca::Error& error) {
    fmt::print(stderr, "tca_puts: {}\n", error.what());
    return error.exit_code();
  }
}
