// The kernel that copies elements from where a datatype says to where another one says.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tca::interposer::gpu {

// So many pieces of as many bytes, `pitch` apart, the first of which is `begin` bytes into the element's message.
struct Piece {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0, count = 1;
  std::int64_t pitch = 0;
  std::uint64_t begin = 0;
};

inline constexpr std::uint32_t most_pieces = 8;

// Where the bytes of a message are: elements of `size` bytes, `extent` apart.
struct Places {
  std::byte* base = nullptr;
  std::int64_t extent = 0;
  std::uint64_t size = 0;
  std::uint32_t pieces = 0;  // 0: bytes in a row
  Piece piece[most_pieces];
};

// A word that the last block stores when all is copied, as seen by the host that waits, and what blocks count themselves in.
struct Signal {
  volatile std::uint32_t* done = nullptr;
  std::uint32_t* blocks = nullptr;
  std::uint32_t ticket = 0;
};

// Bytes `from_at` and on of one message become those from `to_at` on of another.
cudaError_t launch_copy(const Places& from, std::uint64_t from_at, const Places& to, std::uint64_t to_at,
                        std::uint64_t bytes, const Signal& signal, cudaStream_t stream);

}  // namespace tca::interposer::gpu
