// Decks as files of TOML: what they give replaces a built-in deck's.
#pragma once

#include <string>

#include "pic/deck.hpp"

namespace tca::tool {

// Takes the name of a built-in deck, or that of a file, which ends in .toml; and extents that replace the deck's own unless
// they are empty. Throws Error{invalid_argument} for a name that is none, for what a file may not say, with its line, and
// for what cannot be simulated.
pic::Deck read_deck(const std::string& name, const pic::Extents& extents = {});

}  // namespace tca::tool
