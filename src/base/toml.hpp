// Includes toml++; nobody includes it directly. toml++ asserts conditions that do not hold on damaged text.
// Where NDEBUG is defined it tells the compiler to assume them, so that the behaviour is then undefined.
// Without NDEBUG, and with an empty assertion, such text is refused with an error that names the place.
#pragma once

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
