/*
 * Partners with different protocols: rank 0 stages without ready, and what rank 1 sends back travels direct, or is
 * pulled with PULL. Rank 0's staging relies on nothing but rank 1's arrive, so it must hold whatever raises that.
 */
#define PLACES 4
#include "memory.pml"

#define SLOT (n % 2 * 2)

inline check(edge) { assert(ghost[0] == TAG(edge, n) && ghost[1] == TAG(edge, n)) }

inline copy(edge, place) {
  ghost[0] = data[AT(edge, place)];
  ghost[1] = data[AT(edge, place + 1)]
}

inline send(edge, place) {
  forth[edge]!place,TAG(edge, n);
  forth[edge]!place + 1,TAG(edge, n);
  forth[edge]!ARRIVE,n
}

inline stager() {
  for (n : 1 .. STEPS) {
#ifndef PULL
    back[1]!READY,n;
#endif
    atomic { send(0, SLOT) }
#ifndef BREAK_NO_ARRIVE /* the arrive of rank 1 is what keeps rank 0 from running ahead */
    arrive[1] >= n;
    copy(1, 0);
#ifdef PULL
    back[1]!DONE,n;
#endif
    check(1)
#endif
  }
}

inline partner() {
  for (n : 1 .. STEPS) {
#ifdef PULL
    atomic { send(1, 0) }
#endif
    atomic { pending = true; missing = true }
    do
#ifdef PULL
    :: pending && done[1] >= n -> pending = false
#else
    :: pending && ready[1] >= n -> atomic { send(1, 0); pending = false }
#endif
    :: missing && arrive[0] >= n -> copy(0, SLOT); missing = false
    :: !pending && !missing -> break
    od;
#ifdef PULL
    atomic { forth[1]!0,JUNK; forth[1]!1,JUNK }
#endif
    check(0)
  }
}

proctype Rank(byte me) {
  byte n, ghost[2];
  bool pending, missing;
  if
  :: me == 0 -> stager()
  :: else -> partner()
  fi
}
