/*
 * Two chains between two ranks. In every step each rank starts both in an order of its own and waits for both in an
 * order of its own; with BARRIER it also meets the other at a barrier, before or after its waits. Whatever a rank
 * blocks in, it does what is pending for all its started chains: sends in a direct chain, copies in a pull chain.
 */
#define PLACES 2
#define CHAINS 2
#include "memory.pml"

#if defined(PULL)
#define PULLS(c) true
#elif defined(DIRECT_AND_PULL)
#define PULLS(c) (c == 1)
#else
#define PULLS(c) false
#endif

#ifdef BREAK_OWN_CHAIN
#define DRIVES(waited, c) (waited == c)
#else
#define DRIVES(waited, c) true
#endif

#define OTHER (1 - me)
#define BARRIER_ID 2

/* What chain c still has to do for the other rank, and what it then needs from the other rank. */
#define CAN_DO(c) ((PULLS(c) && arrive[OF(OTHER, c)] >= n) || (!PULLS(c) && ready[OF(me, c)] >= n))
#define COMPLETE(c) ((PULLS(c) && done[OF(me, c)] >= n) || (!PULLS(c) && arrive[OF(OTHER, c)] >= n))

byte joined[RANKS]; /* the barrier's counters; board.pml proves the barrier itself */

inline do_pending(c) {
  if
  :: PULLS(c) ->
    ghost[c] = data[AT(OTHER, c)];
    back[OTHER]!DONE + c,n
  :: else -> atomic { forth[me]!c,source[c]; forth[me]!ARRIVE + c,n }
  fi;
  pending[c] = false
}

inline start(c) {
  if
  :: PULLS(c) -> atomic { forth[me]!c,source[c]; forth[me]!ARRIVE + c,n }
  :: else -> back[OTHER]!READY + c,n
  fi;
  pending[c] = true;
#ifdef BREAK_START_BLOCKS
  CAN_DO(c) -> do_pending(c)
#else
  if
  :: !PULLS(c) && CAN_DO(c) -> do_pending(c)
  :: else
  fi
#endif
}

inline block(waited, condition) {
  do
  :: pending[0] && DRIVES(waited, 0) && CAN_DO(0) -> do_pending(0)
  :: pending[1] && DRIVES(waited, 1) && CAN_DO(1) -> do_pending(1)
  :: condition -> break
  od
}

inline wait(c) {
  block(c, !pending[c] && COMPLETE(c));
  if
  :: PULLS(c) -> forth[me]!c,JUNK
  :: else -> ghost[c] = data[AT(OTHER, c)]
  fi;
  source[c] = JUNK;
  assert(ghost[c] == TAG(OTHER, n))
}

inline barrier() {
  joined[me] = n;
#ifdef BREAK_BARRIER_IDLE
  joined[OTHER] >= n
#else
  block(BARRIER_ID, joined[OTHER] >= n)
#endif
}

inline choose(x) {
  if
  :: x = 0
  :: x = 1
  fi
}

proctype Rank(byte me) {
  byte n, first, source[2], ghost[2];
  bool pending[2], late;
  for (n : 1 .. STEPS) {
    FILL(source, TAG(me, n));
    choose(first);
    start(first);
    start((1 - first));
#ifdef BARRIER
    choose(late);
    if
    :: !late -> barrier()
    :: else
    fi;
#endif
    choose(first);
    wait(first);
    wait((1 - first));
#ifdef BARRIER
    if
    :: late -> barrier()
    :: else
    fi
#endif
  }
}
