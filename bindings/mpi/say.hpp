// What a rank tells the user, on stderr.
#pragma once

#include <string_view>

namespace tca::interposer {

// Prints a line of a rank, and returns when the launcher has read it: it may be the last before the job ends. Makes no call of MPI.
void say_as(int rank, std::string_view line);

}  // namespace tca::interposer
