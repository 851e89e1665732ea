"""The translator on damaged programs: it translates them, or says what is wrong and where.

Standard library only. XMPCC names the front end, EXAMPLES the folder of examples/xacc. SEED repeats a run, TRIES makes it
longer."""

import concurrent.futures
import os
import random
import re
import subprocess
import tempfile
import unittest

XMPCC = os.environ.get("XMPCC", "xmpcc")
EXAMPLES = os.environ.get("EXAMPLES", "examples/xacc")

PROGRAM = """\
#define N 64
double a[N], b[N][N], c[N];
int co[N]:[*], box[2][3]:[2][*];
#pragma xmp nodes p[*]
#pragma xmp nodes q(*)
#pragma xmp template t(0:N-1)
#pragma xmp distribute t(block) onto p
#pragma xmp template s[N]
#pragma xmp distribute s[cyclic(3)] onto p
#pragma xmp align a[i] with t(i)
#pragma xmp align b[i][*] with t(i)
#pragma xmp align c[i] with s[i]
#pragma xmp shadow b[1:2][0]
int main(void) {
  int n = 4, sum = 0, i;
#pragma acc data copy(a, b[0:n]) create(c)
  {
#pragma xmp reflect (b) width(/periodic/1:1, 0) orthogonal async(1)
#pragma xmp wait_async (1)
#pragma xmp loop on t(i) reduction(+:sum)
#pragma acc parallel loop collapse(1) private(n)
    for (i = N - 1; i >= 0; i -= 2) a[i] = b[i + 1][n] + (i > 3 ? 1 : 2);
#pragma xmp loop on s[i]
    for (i = 0; i < N; i++) { c[i] = i; }
  }
#pragma xmp gmove in
  a[0:n] = c[1:n];
#pragma xmp array on t(:)
  a[:] = a[:] + 1;
#pragma xmp task on p[0:2]
  if (sum) co[0:n:2]:[1] = co[n];
#pragma xmp bcast (sum) from p[0]
  co[0:2] = co[2:2]:[n];
  sum = box[0][1]:[1][0] + co[n]:[0];
#pragma xmp reduce_shadow (b)
#pragma xmp post (p[1], 3)
#pragma xmp wait (p[0], 3)
#pragma xmp barrier on p
  return sizeof(a) == xmp_desc_of(a);
}
"""
WORDS = ["(", ")", "[", "]", "{", "}", ":", ";", ",", "*", "=", "#", '"', "'", "/", "\\", "a", "co", "p", "t", "0", "-1", "9" * 30, "on", "for", "int",
         "\n", "\n#pragma xmp ", "\n#pragma acc ", "loop", "reflect", "data", "\xff", "\0", "/*", "struct", "else", "?"]  # fmt: skip
PIECE = re.compile(r"\w+|\s+|.", re.S)
SAID = re.compile(r"(.+:\d+(:\d+)?: (error|warning|note): .+|.*: fatal error: .*)")


def damaged(random_, text):
    pieces = PIECE.findall(text)
    for _ in range(random_.randint(1, 3)):
        at, other = random_.randrange(len(pieces)), random_.randrange(len(pieces))
        kind = random_.randrange(5)
        if kind == 0:
            del pieces[at : at + random_.choice((1, 1, 2, 20))]
        elif kind == 1:
            pieces.insert(at, random_.choice(WORDS))
        elif kind == 2:
            pieces[at] = random_.choice(WORDS)
        elif kind == 3:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        else:
            pieces[at:at] = pieces[other : other + 12]
        if not pieces:
            break
    return "".join(pieces)


class Fuzz(unittest.TestCase):
    def test_damaged_programs_are_translated_or_refused_with_a_place(self):
        seed = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 32)))
        tries = int(os.environ.get("TRIES", "40"))
        with open(os.path.join(EXAMPLES, "heat.c")) as file:
            sources = [PROGRAM, PROGRAM, file.read()]
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            for fault in pool.map(lambda i: self.look_at(folder, seed, i, sources), range(tries)):
                self.assertIsNone(fault, f"repeat it with SEED={seed} TRIES={tries}")

    def look_at(self, folder, seed, number, sources):
        """Returns what is wrong with the answer to one program, and the program."""
        random_ = random.Random(f"{seed} {number}")
        source = damaged(random_, random_.choice(sources))
        name = f"x{number}.c"
        with open(os.path.join(folder, name), "w", encoding="latin-1") as file:
            file.write(source)
        try:
            done = subprocess.run([XMPCC, "cc", "--emit", name], cwd=folder, capture_output=True, text=True, errors="replace", timeout=10)
        except subprocess.TimeoutExpired:
            return f"it hangs\n{source}"
        lines = [line for line in done.stderr.splitlines() if line and not line.startswith((" ", "In file", "compilation"))]
        if done.returncode not in (0, 1) or (done.returncode == 1 and not any(SAID.match(line) for line in lines)):
            return f"exit code {done.returncode}\n{done.stderr}\n{source}"
        return None


if __name__ == "__main__":
    unittest.main()
