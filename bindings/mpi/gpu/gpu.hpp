// Buffers in memory of GPUs. They are elements like others to the engine, which copies them through host memory, or has the receiver's
// GPU read them where they are, in one kernel, whatever the datatypes.
//
// CUDA is not brought up here: until the program has done that, it has no such buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "mpi/engine/request.hpp"
#include "mpi/p2p/type_map.hpp"

namespace tca::interposer::gpu {

// Whether a pointer may be of a GPU at all, so that programs on hosts without one lose no time.
inline bool may_be_there = false;

// Looks for the host's driver. Returns why buffers of GPUs could not be told from others; empty where they can, or where there are none.
std::string begin();

// Returns null for a buffer in host memory. `map` says where the elements are, of `size` bytes each; null for bytes in a row.
std::shared_ptr<const p2p::Scattering> find(std::byte* buffer, std::size_t bytes, std::size_t size,
                                            std::shared_ptr<const TypeMap> map);

// See p2p::Options::fetch.
bool fetch(int source, std::span<const std::byte> reach, std::size_t bytes, const p2p::Target& target);

// Forgets what of others is mapped here.
void end();

}  // namespace tca::interposer::gpu
