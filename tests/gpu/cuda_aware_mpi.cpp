// Makes an MPI without GPU support accept GPU memory, for tests. This file replaces the MPI calls that carry
// the messages of stages, and copies between the GPU and host memory around MPI's own calls. A test program
// that links it finds these functions before the library's.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "mpi/mpi_ranks.hpp"
#include "ranks.hpp"

namespace {

struct Message {
  std::byte* gpu;
  std::vector<std::byte> host;
  bool receives;
};

// Open MPI 4 is not asked for its GPU support, so the variable states it.
[[maybe_unused]] const bool told = setenv("OPENTCA_CUDA_AWARE", "on", 1) == 0;

std::mutex mutex;
std::map<MPI_Request, Message> messages;  // persistent requests whose memory is on a GPU
// The host copies of short sends. Their requests are gone when they complete, so the copies stay until the
// end.
std::deque<std::vector<std::byte>> short_sends;
std::atomic<int> carried = 0;

void ok(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "cuda_aware_mpi: %s\n", cudaGetErrorString(result));
  std::abort();
}

// Returns the device of the memory, or -1 for host memory.
int gpu_of(const void* memory) {
  cudaPointerAttributes attributes{};
  if (memory == nullptr || cudaPointerGetAttributes(&attributes, memory) != cudaSuccess ||
      attributes.type != cudaMemoryTypeDevice) {
    cudaGetLastError();
    return -1;
  }
  return attributes.device;
}

// Returns the one stream of a device for all threads and worlds. A stream for each thread that ever copied
// would exceed CUDA's connections, and two streams on one connection wait for each other's kernels.
cudaStream_t stream_on(int device) {
  static std::mutex making;
  static std::map<int, cudaStream_t> streams;
  const std::lock_guard lock(making);
  cudaStream_t& stream = streams[device];
  if (stream == nullptr) ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

// Copies on its own stream, so that a kernel that waits on another stream cannot delay it.
void copy(void* to, const void* from, std::size_t bytes, int device) {
  int before = 0;
  ok(cudaGetDevice(&before));
  ok(cudaSetDevice(device));
  const cudaStream_t stream = stream_on(device);
  ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  ok(cudaStreamSynchronize(stream));
  ok(cudaSetDevice(before));
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

void keep(MPI_Request request, Message message) {
  const std::lock_guard lock(mutex);
  messages[request] = std::move(message);
}

}  // namespace

extern "C" {

int MPIX_Query_cuda_support(void) { return 1; }

int MPI_Send_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (gpu_of(from) < 0) return PMPI_Send_init(from, count, type, to, tag, comm, request);
  auto* const gpu = static_cast<std::byte*>(const_cast<void*>(from));
  Message message{gpu, std::vector<std::byte>(bytes_of(count, type)), false};
  const int result = PMPI_Send_init(message.host.data(), static_cast<int>(message.host.size()), MPI_BYTE, to,
                                    tag, comm, request);
  keep(*request, std::move(message));
  return result;
}

int MPI_Recv_init(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (gpu_of(into) < 0) return PMPI_Recv_init(into, count, type, from, tag, comm, request);
  Message message{static_cast<std::byte*>(into), std::vector<std::byte>(bytes_of(count, type)), true};
  const int result = PMPI_Recv_init(message.host.data(), static_cast<int>(message.host.size()), MPI_BYTE,
                                    from, tag, comm, request);
  keep(*request, std::move(message));
  return result;
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int device = gpu_of(from);
  if (device < 0) return PMPI_Isend(from, count, type, to, tag, comm, request);
  const std::size_t bytes = bytes_of(count, type);
  const std::lock_guard lock(mutex);
  std::byte* const host = short_sends.emplace_back(bytes).data();
  copy(host, from, bytes, device);
  ++carried;
  return PMPI_Isend(host, static_cast<int>(bytes), MPI_BYTE, to, tag, comm, request);
}

int MPI_Start(MPI_Request* request) {
  {
    const std::lock_guard lock(mutex);
    const auto found = messages.find(*request);
    if (found != messages.end() && !found->second.receives) {
      Message& message = found->second;
      copy(message.host.data(), message.gpu, message.host.size(), gpu_of(message.gpu));
      ++carried;
    }
  }
  return PMPI_Start(request);
}

int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  const int result = PMPI_Testsome(count, requests, done, indices, statuses);
  const std::lock_guard lock(mutex);
  for (int i = 0; i < *done; ++i) {
    const auto found = messages.find(requests[indices[i]]);
    if (found == messages.end() || !found->second.receives) continue;
    Message& message = found->second;
    copy(message.gpu, message.host.data(), message.host.size(), gpu_of(message.gpu));
  }
  return result;
}

int MPI_Request_free(MPI_Request* request) {
  {
    const std::lock_guard lock(mutex);
    messages.erase(*request);
  }
  return PMPI_Request_free(request);
}

int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int to, int tag, void* into, int most,
                 MPI_Datatype into_type, int source, int into_tag, MPI_Comm comm, MPI_Status* status) {
  if (gpu_of(from) < 0)
    return PMPI_Sendrecv(from, count, type, to, tag, into, most, into_type, source, into_tag, comm, status);
  std::vector<std::byte> sent(bytes_of(count, type)), come(bytes_of(most, into_type));
  copy(sent.data(), from, sent.size(), gpu_of(from));
  const int result = PMPI_Sendrecv(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, to, tag, come.data(),
                                   static_cast<int>(come.size()), MPI_BYTE, source, into_tag, comm, status);
  copy(into, come.data(), come.size(), gpu_of(into));
  return result;
}

}  // extern "C"

namespace tca::test {
namespace {

TEST(CudaAware, MessagesGoFromOneGpusMemoryToTheOthers) {
  const std::string failure = mpi_backend("cuda+mpi", 1, {}).make()->run(2, [](World& world) {
    const Window<int> window = world.window<int>(200'000);
    Chain chain = world.chain("pair");
    const int partner = 1 - world.rank(), before = carried;
    chain.put(window.on(partner).at(0), window.at(100'000), block(100'000)).expect(partner).commit();
    fill(window, 100'000, 100'000, world.rank() + 7);
    chain.start();
    chain.wait();
    require(element(window, 99'999) == partner + 7, "the wrong bytes came");
    require(carried > before, "they went through host memory");
  });
  EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace tca::test
