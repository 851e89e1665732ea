// Encodes errors as bytes: what a rank that cannot continue tells the others.
#pragma once

#include "base/codec.hpp"

namespace tca::base {

void write(Writer& writer, const Error& error);
Error read_error(Reader& reader);

}  // namespace tca::base
