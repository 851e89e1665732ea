// Marks what a shared library exports. Everything else is compiled hidden, so that programs cannot come to
// depend on anything that is not in these headers.
#pragma once

#include "tca/detail/language.hpp"

#define TCA_API __attribute__((visibility("default")))
