/// @file
/// The library without templates, for other languages and for programs that know the type of their elements
/// only at run time. World, Chain, Halo, Grid, Layout and Team have no element type anyway; windows and
/// collectives are here as bytes with the size of an element:
///
///     tca::World world = tca::World::init();
///     tca::raw::Window u(world, elements, 8, "u");                // as world.window<double>(elements, "u")
///     tca::Chain chain = world.chain("faces");
///     chain.put(u.on(right), u.at(last), tca::block(1));          // as with a Window<double>
///     tca::Halo halo(world, "u", grid, interior);
///     halo.add(u);
///     tca::raw::Collective sum(world, {.kind = tca::CollectiveKind::all_reduce,
///                                      .name = "sum",
///                                      .type = tca::DataType::float64,
///                                      .element_bytes = 8,
///                                      .count = n});              // as AllReduce<double>(world, "sum", n)
///
/// Both layers share their objects: `Window<T>(window)` gives a raw::Window its type, and
/// `window.untyped()` removes it. Offsets and counts are in elements in either case. Error::fields() says
/// what an error concerns.
#pragma once

#include "tca/chain.hpp"
#include "tca/error.hpp"
#include "tca/fold.hpp"
#include "tca/halo.hpp"
#include "tca/layout.hpp"
#include "tca/raw/collective.hpp"
#include "tca/raw/window.hpp"
#include "tca/team.hpp"
#include "tca/types.hpp"
#include "tca/version.hpp"
#include "tca/world.hpp"
