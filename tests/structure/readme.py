"""The program that README.md begins with is examples/first.cpp, which is built and run: readme.py SOURCE_DIR"""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
shown = re.search(r"```cpp\n(.*?)```", (source / "README.md").read_text(), re.DOTALL).group(1)
if shown != (source / "examples/first.cpp").read_text():
    sys.exit("README.md: its first program is not examples/first.cpp; copy it there")
