// The signals and lines behind a team.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "fabric/cuda/inbox.hpp"
#include "fabric/fabric.hpp"

namespace tca::cuda {

// Collective. `id` is not 0.
std::unique_ptr<fabric::Team> make_team(std::string_view name, std::size_t max_values,
                                        std::chrono::milliseconds time_limit, Word id,
                                        fabric::Control& control, Inbox& inbox, cudaStream_t stream);

}  // namespace tca::cuda
