// Ranks in a ring. Each sends a strided face to its right neighbour and another to its left one. Values
// differ between ranks and steps.
#pragma once

#include "cuda_ok.hpp"
#include "kernels/field.hpp"
#include "ranks.hpp"
#include "replay.hpp"

namespace tca::test {

class Ring {
 public:
  Ring(World& all, const ChainOptions& options)
      : world(all),
        shared(threads_share_a_gpu(world)),
        rank(world.rank()),
        left((rank + world.size() - 1) % world.size()),
        right((rank + 1) % world.size()),
        u(world.window<long>(rows * pitch)),
        chain(world.chain("ring", options)) {
    const Layout face = block_stride(rows, width, pitch);
    chain.put(u.on(left).at(pitch - width), u.at(width), face);
    chain.put(u.on(right).at(0), u.at(pitch - 2 * width), face);
    chain.expect(left);
    if (left != right) chain.expect(right);
    // Everything is allocated before the commit, in which ranks wait for each other. On a shared GPU, an
    // allocation may wait for a kernel that waits for the allocating rank.
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    here = {u.data(), rank, left, right, nullptr};
    ok(cudaMallocHost(&here.wrong, sizeof *here.wrong));
    ok(cudaMalloc(&step, sizeof *step));
    *here.wrong = 0;
    chain.commit();
    world.barrier();  // all kernels of the other ranks' commits have ended
  }
  ~Ring() {
    cudaStreamDestroy(stream);
    cudaFreeHost(here.wrong);
    cudaFree(step);
  }

  void by_host(long s) {
    write_faces(here, s, stream);
    ok(cudaStreamSynchronize(stream));
    chain.start();
    chain.wait();
    check_ghosts(here, s, stream);
    ok(cudaStreamSynchronize(stream));
  }
  void by_stream(long s, bool fused) {
    write_faces(here, s, stream);
    if (fused) {
      chain.run(stream);
    } else {
      chain.start(stream);
      chain.wait(stream);
    }
    check_ghosts(here, s, stream);
  }
  void by_kernel(long s, int steps) { ok(run_steps(chain.device(), here, s, steps, stream)); }
  void by_ringing_kernel(long s, int steps) { ok(ring_steps(chain.doorbell(), here, s, steps, stream)); }
  // Called between one of these and what follows on the stream. On a shared GPU it waits for the stream.
  void keep_pace() {
    if (shared) ok(cudaStreamSynchronize(stream));
  }
  Replay capture(int steps) {
    ok(cudaMemsetAsync(step, 0, sizeof *step, stream));
    ok(cudaStreamSynchronize(stream));
    return Replay(world, stream, steps, [&](int i) {
      write_next_faces(here, step, stream);
      if (i % 2 == 0) {
        chain.run(stream);
      } else {
        chain.start(stream);
        chain.wait(stream);
      }
      check_next_ghosts(here, step, stream);
    });
  }
  void finish() {
    ok(cudaStreamSynchronize(stream));
    world.check();
    require(*here.wrong == 0, "rank {}: {} ghost elements are wrong", rank, *here.wrong);
  }

  World& world;
  bool shared;
  int rank, left, right;
  Window<long> u;
  Chain chain;
  cudaStream_t stream{};
  Field here{};
  long* step = nullptr;
};

}  // namespace tca::test
