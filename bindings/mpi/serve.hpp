// Everybody who serves calls, so that all entries know of them.
#pragma once

#include "mpi/coll/serve.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/session.hpp"
