// NCCL's exchanges that go by while a GPU computes.
#pragma once

#include "gpu/contenders.hpp"
#include "gpu/peers/nccl_calls.hpp"

namespace tca::bench::gpu::nccl {

std::unique_ptr<Passing> send_and_receive(const Way& way, const World& world, std::size_t bytes);
// An allgather in place.
std::unique_ptr<Passing> gather(const Way& way, const World& world, std::size_t bytes);

}  // namespace tca::bench::gpu::nccl
