// What a shared library exports. The library is compiled with everything else hidden, so that programs cannot come to
// depend on what is not in these headers.
#pragma once

#include "tca/detail/language.hpp"

#define TCA_API __attribute__((visibility("default")))
