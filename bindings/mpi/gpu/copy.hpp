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

// Few bytes in a row are copied by a kernel that stays for some microseconds in case more come, as they do where ranks answer each other:
// to ask it costs less than half of a launch. The host writes `asked` last, and the kernel `done` when a copy is complete. It
// writes `gone` last of all, and has not seen what was asked and is not done then.
struct alignas(64) Question {
  volatile std::uint32_t asked;
  volatile std::uint32_t bytes;
  std::byte* volatile to;
  const std::byte* volatile from;
};
struct alignas(64) Answer {
  volatile std::uint32_t done;
  volatile std::uint32_t gone;
};
inline constexpr std::uint64_t few_bytes = 4096;

// `done` is what was asked last and is done; `number` that of this launch.
cudaError_t launch_attendant(const Question* question, Answer* answer, std::uint32_t done,
                             std::uint32_t number, cudaStream_t stream);

}  // namespace tca::interposer::gpu
