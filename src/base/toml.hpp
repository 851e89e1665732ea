// toml++, to be included as this. It takes some of its own checks for granted, on damaged text wrongly, and where NDEBUG is
// defined it promises them to the compiler, which may then do anything. Without the promise the text is refused with a place.
#pragma once

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
