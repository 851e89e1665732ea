"""Heat in a plate with a hot edge, by one process: python plate.py"""

import numpy as np

CELLS, STEPS = 64, 2000


def warm(u, new):
    """New temperatures of all cells but those at the rim, which are ghosts or the plate's fixed edge."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.2 * (around - 4 * u[1:-1, 1:-1])


def plate():
    u = np.zeros((CELLS + 2, CELLS + 2))
    u[0] = 100
    new = u.copy()
    for _ in range(STEPS):
        warm(u, new)
        u, new = new, u
    return u


if __name__ == "__main__":
    u = plate()
    print(f"{u[1:-1, 1:-1].mean():.6f} degrees on average, {u[CELLS // 2, CELLS // 2]:.6f} in the middle")
