// Options of chains, which halos take as well.
#pragma once

#include "c/options.hpp"
#include "tca/chain.hpp"

namespace tca::c {

ChainOptions chain_options_of(const tca_chain_options* given);

}  // namespace tca::c
