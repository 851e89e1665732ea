// Compiles the puts between ranks into the requests that carry them.
#pragma once

#include "fabric/fabric.hpp"
#include "fabric/mpi/program.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// Returns the first tag for the messages of a chain. `number` is the same on every rank and was never used
// before. Throws Error{refused} if MPI has no tags left.
int first_tag(std::uint32_t number, std::string_view chain);

// Returns the tag of the stamps of a timed chain.
int stamp_tag(int first_tag);

Operations compile(const fabric::ChainSpec& share, int first_tag, MPI_Comm comm);

// These two are for puts through a stage: the messages that the stage is made for, and the requests that
// carry them.
std::vector<fabric::StagedMessage> staged_messages(const fabric::ChainSpec& share);
Operations compile(std::span<const fabric::StagedMessage> messages, const fabric::Stage& stage, int first_tag,
                   MPI_Comm comm);

}  // namespace tca::mpi
