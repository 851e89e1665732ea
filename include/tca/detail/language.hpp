// Refuses a compiler that is not set to C++20 in one sentence, before it stumbles over what follows.
#pragma once

#if __cplusplus < 202002L
#error "OpenTCA needs C++20: compile with -std=c++20 (GCC 12 or later); in CMake, link with OpenTCA::opentca"
// Compilers continue after an #error, through hundreds of messages, but not after a header that does not
// exist.
#include <no_header_without_cplusplus_twenty>
#endif
