#include "pic/peers/nccl_pack.hpp"

namespace tca::pic {

namespace {

constexpr unsigned block_size = 256;

// One rank alone has no nodes to exchange.
unsigned blocks_of(const Nodes& nodes) {
  return nodes.count == 0 ? 1 : (nodes.count + block_size - 1) / block_size;
}

template <class Number>
__global__ void pack(Nodes nodes, const Vec<Number>* array, Vec<Number>* buffer) {
  const unsigned n = blockIdx.x * block_size + threadIdx.x;
  if (n < nodes.count) buffer[nodes.begin + n] = array[nodes.index[n]];
}

template <class Number>
__global__ void unpack(Nodes nodes, const Vec<Number>* buffer, Vec<Number>* array) {
  const unsigned n = blockIdx.x * block_size + threadIdx.x;
  if (n < nodes.count) array[nodes.index[n]] = buffer[nodes.begin + n];
}

__device__ void add_to(double& sum, double value) { atomicAdd(&sum, value); }
__device__ void add_to(std::int64_t& sum, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(value));
}

template <class Number>
__global__ void add(Nodes nodes, const Vec<Number>* buffer, Vec<Number>* array) {
  const unsigned n = blockIdx.x * block_size + threadIdx.x;
  if (n >= nodes.count) return;
  Vec<Number>& to = array[nodes.index[n]];
  const Vec<Number> by = buffer[nodes.begin + n];
  add_to(to.x, by.x);
  add_to(to.y, by.y);
  add_to(to.z, by.z);
}

}  // namespace

template <class Number>
cudaError_t launch_pack(const Nodes& nodes, const Vec<Number>* array, Vec<Number>* buffer,
                        cudaStream_t stream) {
  pack<<<blocks_of(nodes), block_size, 0, stream>>>(nodes, array, buffer);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_unpack(const Nodes& nodes, const Vec<Number>* buffer, Vec<Number>* array,
                          cudaStream_t stream) {
  unpack<<<blocks_of(nodes), block_size, 0, stream>>>(nodes, buffer, array);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_add(const Nodes& nodes, const Vec<Number>* buffer, Vec<Number>* array,
                       cudaStream_t stream) {
  add<<<blocks_of(nodes), block_size, 0, stream>>>(nodes, buffer, array);
  return cudaGetLastError();
}

template cudaError_t launch_pack(const Nodes&, const Vec<double>*, Vec<double>*, cudaStream_t);
template cudaError_t launch_pack(const Nodes&, const Vec<std::int64_t>*, Vec<std::int64_t>*, cudaStream_t);
template cudaError_t launch_unpack(const Nodes&, const Vec<double>*, Vec<double>*, cudaStream_t);
template cudaError_t launch_add(const Nodes&, const Vec<double>*, Vec<double>*, cudaStream_t);
template cudaError_t launch_add(const Nodes&, const Vec<std::int64_t>*, Vec<std::int64_t>*, cudaStream_t);

}  // namespace tca::pic
