"""What scripts/wheels.sh asks of an installed wheel: try_wheel.py [ranks]"""

import importlib.util
import shutil
import subprocess
import sys

IMPORT = "import time; begin = time.perf_counter(); import opentca; print(time.perf_counter() - begin)"


def import_time():
    """The least of several, each in a new interpreter: on a machine that others use as well, the others are waits."""
    return min(float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(7))


def swap(world):
    import opentca as tca

    u = world.zeros(2)
    memory = memoryview(u)
    chain = world.chain("swap").signal(1 - world.rank).expect(1 - world.rank)
    chain.commit()
    chain.run()
    memory[0] = world.rank
    return tca.AllReduce(world, "sum").reduce(memory[0] + 1)


import opentca as tca  # noqa: E402

if sys.argv[1:] == ["ranks"]:
    with tca.World() as world:
        assert swap(world) == 3
        if world.rank == 0:
            print("wheels: two ranks of tca run: right")
    sys.exit()

for absent in ("cc", "gcc", "nvcc", "mpirun", "cmake"):
    assert shutil.which(absent) is None, f"{absent} is in PATH"
assert importlib.util.find_spec("numpy") is None
assert tca.run_threads(2, swap) == [3, 3]
assert tca.run_threads(2, swap, fabric="sim", machine="ha-pacs-tca") == [3, 3]
try:
    tca.World(fabric="cuda")
except tca.Error as error:
    print(f"wheels: without GPU code: {error}")
seconds = import_time()
print(f"wheels: opentca {tca.__version__}: imported in {1000 * seconds:.0f} ms")
sys.exit("wheels: that is more than 100 ms" if seconds > 0.1 else 0)
