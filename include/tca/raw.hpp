/// @file
/// The library without templates, for other languages and for programs that know the type of their elements
/// only at run time. World, Chain, Halo, Grid, Layout and Team have no type in the first place; what has one
/// stands here as bytes and the size of an element:
///
///     tca::World world = tca::World::init();
///     tca::raw::Window u(world, elements, 8, "u");                  // as world.window<double>(elements, "u")
///     tca::Chain chain = world.chain("faces");
///     chain.put(u.on(right), u.at(last), tca::block(1));            // as with a Window<double>
///     tca::Halo halo(world, "u", grid, interior);
///     halo.add(u);
///     tca::raw::Collective sum(world, {.kind = tca::CollectiveKind::all_reduce,
///                                      .name = "sum",
///                                      .type = tca::DataType::float64,
///                                      .element_bytes = 8,
///                                      .count = n});                // as AllReduce<double>(world, "sum", n)
///
/// Both are the same objects: `Window<T>(window)` gives a raw::Window its type, and `window.untyped()` takes it
/// away. Offsets and counts are elements in either case. An Error says in `fields()` what it has to do with.
#pragma once

#include "tca/chain.hpp"
#include "tca/error.hpp"
#include "tca/halo.hpp"
#include "tca/layout.hpp"
#include "tca/raw/collective.hpp"
#include "tca/raw/window.hpp"
#include "tca/team.hpp"
#include "tca/types.hpp"
#include "tca/version.hpp"
#include "tca/world.hpp"
