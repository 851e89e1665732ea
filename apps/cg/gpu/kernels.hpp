// The host's interface to the kernels. Pointers are to device memory. No function here waits for the device.
#pragma once

#include <cuda_runtime.h>

#include "cg/gpu/cluster_blocks.hpp"
#include "cg/gpu/grid_blocks.hpp"
#include "tca/device/chain.hpp"

namespace tca::cg {

// The whole benchmark in one kernel, cooperatively, with a block for each tile.

// Returns how many blocks a rank may launch when `ranks` share the GPU, so that all of them are resident, and
// the shared memory of each.
cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks, std::size_t& shared_bytes);
cudaError_t launch_run(const GridRun& run, cudaStream_t stream);

// The same where ranks have blocks of the matrix. `chains` are those of the reductions, and then the one
// across the diagonal; they and `barrier`, zeroed, are in device memory.
struct BlockChains {
  static constexpr Word most_reductions = 3;
  const DeviceChain* chains = nullptr;
  std::uint64_t* barrier = nullptr;
  Word reductions = 0;
  struct {
    const double* received;
    Word begin, size;  // what it is added to
  } of[most_reductions] = {};
};
cudaError_t launch_blocks_run(const GridRun& run, const BlockChains& chains, cudaStream_t stream);

// The whole benchmark in one kernel of one cluster.

// Returns how many blocks a cluster has, where `ranks` that share the GPU run one each, and the shared memory of a
// block. There are none where the GPU has no clusters, or too few at once.
cudaError_t cluster_at_once(unsigned ranks, unsigned& blocks, std::size_t& shared_bytes);
cudaError_t launch_cluster_run(const ClusterRun& run, cudaStream_t stream);

// The same step by step, as kernels between which ranks exchange.

struct Scalars {
  double dots[4];  // p.q and, in the merged order, r.q, q.q and r.r
  double squares;  // r.r of the new residual
  double rho;      // r.r of the present one
  double ends[2];  // x.z and z.z
  double left;     // squares of x - A z
};

// A rank's part of the vectors, and where a kernel adds up. A kernel's sums are those of this rank.
struct OwnVectors {
  double *x, *z, *r, *p;
  const double* q;
  Word n;
  Scalars* scalars;
  double* partial;  // room for most_sums of each block
  Word* count;      // 0 between kernels
};
unsigned blocks_for(Word n);

// Multiplies: each part of the columns into a vector of its own in `products`, each as long as the rank has
// rows.
cudaError_t prepare_multiply(std::size_t shared_bytes);
cudaError_t launch_multiply(const TileArrays& matrix, Word most_columns, const double* operand,
                            double* products, Word rows, cudaStream_t stream);
// product = the sum of so many `products`.
cudaError_t launch_combine(const double* products, Word parts, double* product, Word rows,
                           cudaStream_t stream);
// sums += received
cudaError_t launch_accumulate(double* sums, const double* received, Word n, cudaStream_t stream);

cudaError_t launch_begin(const OwnVectors& v, cudaStream_t stream);              // z = 0, r = p = x; rho
cudaError_t launch_dots(const OwnVectors& v, bool merged, cudaStream_t stream);  // dots
cudaError_t launch_advance(const OwnVectors& v, cudaStream_t stream);            // z, r; squares
cudaError_t launch_turn(const OwnVectors& v, cudaStream_t stream);               // p; rho
cudaError_t launch_advance_and_turn(const OwnVectors& v, cudaStream_t stream);   // z, r, p
cudaError_t launch_end(const OwnVectors& v, cudaStream_t stream);                // p = z; ends
cudaError_t launch_scale(const OwnVectors& v, cudaStream_t stream);              // left; x
// Appends what a step has found, and counts it.
cudaError_t launch_keep(const OwnVectors& v, Found* found, Word* steps, cudaStream_t stream);

}  // namespace tca::cg
