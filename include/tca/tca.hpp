/// @file
/// Everything a host program names.
#pragma once

#include "tca/chain.hpp"
#include "tca/coll.hpp"
#include "tca/counted.hpp"
#include "tca/error.hpp"
#include "tca/fold.hpp"
#include "tca/grid.hpp"
#include "tca/halo.hpp"
#include "tca/layout.hpp"
#include "tca/operations.hpp"
#include "tca/post.hpp"
#include "tca/produced.hpp"
#include "tca/raw.hpp"
#include "tca/rounds.hpp"
#include "tca/team.hpp"
#include "tca/timing.hpp"
#include "tca/types.hpp"
#include "tca/version.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"
