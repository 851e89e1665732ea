// Includes toml++; nothing else includes it directly. toml++ asserts conditions that do not hold for
// damaged text. If NDEBUG is defined, it tells the compiler to assume them, so the behaviour is undefined.
// Without NDEBUG, and with an empty assertion, such text is rejected with an error that names the place.
#pragma once

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
