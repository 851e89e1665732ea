// From the puts between ranks to the requests that carry them.
#pragma once

#include "fabric/fabric.hpp"
#include "fabric/mpi/program.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// `number` is the chain's: the same on every rank, and never used before. Throws Error{refused} when MPI has no tags left.
Operations compile(const fabric::Share& share, std::uint32_t number, MPI_Comm comm);

// The same by way of a stage, which has been made for these messages.
std::vector<fabric::StagedMessage> staged_messages(const fabric::Share& share);
Operations compile(const fabric::Share& share, std::uint32_t number, MPI_Comm comm,
                   std::span<const fabric::StagedMessage> messages, const fabric::Stage& stage);

}  // namespace tca::mpi
