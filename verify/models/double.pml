/*
 * Direct, unguarded: two chains in turn, each with its own ghost, and no ready. Odd steps go through chain 1, even
 * ones through chain 0. The application reads a ghost only until its next start, of whichever chain.
 */
#define PLACES 4
#define CHAINS 2
#include "memory.pml"

#ifdef BREAK_ONE_BUFFER
#define GHOST 0
#else
#define GHOST (n % 2 * 2)
#endif

#ifdef BREAK_READ_ON /* the application goes on reading in the overlap of the next step */
#define READ_NOW (n == STEPS)
#define READ_BEFORE (n > 1)
#else
#define READ_NOW true
#define READ_BEFORE false
#endif

inline read(step, ghost) {
  assert(data[AT(INTO(me), ghost)] == TAG(INTO(me), step));
  assert(data[AT(INTO(me), ghost + 1)] == TAG(INTO(me), step))
}

proctype Rank(byte me) {
  byte n;
  for (n : 1 .. STEPS) {
    /* start */
    if
    :: SENDS(me) ->
      atomic {
        forth[me]!GHOST,TAG(me, n);
        forth[me]!GHOST + 1,TAG(me, n);
        forth[me]!ARRIVE + n % 2,n
      }
    :: else
    fi;

    if
    :: RECEIVES(me) && READ_BEFORE -> read(n - 1, 2 - GHOST)
    :: else
    fi;

    /* wait */
    if
    :: RECEIVES(me) ->
      arrive[OF(INTO(me), n % 2)] >= n;
      if
      :: READ_NOW -> read(n, GHOST)
      :: else
      fi
    :: else
    fi
  }
}
