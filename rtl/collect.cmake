# Writes all.cpp, which includes all that Verilator wrote to `folder`, and a header with a name in lower case.
file(GLOB generated ${folder}/${name}*.cpp)
list(SORT generated)
list(TRANSFORM generated PREPEND "#include \"")
list(TRANSFORM generated APPEND "\"\n")
string(CONCAT text ${generated})
file(WRITE ${folder}/all.cpp "${text}")
string(TOLOWER ${name} lower)
file(WRITE ${folder}/${lower}.h "#pragma once\n#include \"${name}.h\"\n")
