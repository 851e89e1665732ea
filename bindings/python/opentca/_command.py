"""The console script `tca`: the command line that came with the package, or the one in PATH."""

import os
import shutil
import sys
from pathlib import Path


def main() -> None:
    package = Path(__file__).resolve().parent
    command = package / "bin" / "tca"
    if not command.exists():
        # This script may stand in PATH itself.
        here = os.path.realpath(sys.argv[0])
        places = (shutil.which("tca", path=folder) for folder in os.get_exec_path())
        command = next((place for place in places if place and os.path.realpath(place) != here), None)
    if command is None:
        sys.exit("tca: this package was built without the command line, and PATH has no other one")
    os.execv(command, ["tca", *sys.argv[1:]])
