/*
 * ll: each half of a line carries its step, so that no store waits for another. The sender's start n gathers into
 * buffer n % 2 at the receiver, once the lines of n - 2 there are acknowledged; the receiver's wait n polls until both
 * halves carry n, scatters, and acknowledges. Acknowledgements are `done` of memory.pml.
 *
 * One chunk of one line: chunks know nothing of each other, and each has its own acknowledgement.
 */
#define PLACES 4
#include "memory.pml"

#if defined(BREAK_NO_ACK)
#define MAY_SEND true
#elif defined(BREAK_ACK_LATE)
#define MAY_SEND (done[me] + 3 >= n)
#else
#define MAY_SEND (done[me] + 2 >= n)
#endif

#ifdef BREAK_ONE_BUFFER
#define HALF(half) (half)
#else
#define HALF(half) (n % 2 * 2 + half)
#endif

#define LINE(half) data[AT(INTO(me), HALF(half))]
#define CARRIES(half) (LINE(half) % 16 == n)

#ifdef BREAK_ONE_TAG
#define BOTH_CARRY true
#else
#define BOTH_CARRY CARRIES(1)
#endif

inline send() {
  forth[me]!HALF(0),source[0];
  forth[me]!HALF(1),source[1]
}

inline receive() {
#ifdef BREAK_ACK_FIRST
  back[INTO(me)]!DONE,n;
#endif
  do /* loads both halves again until both carry the step; waits only where nothing changes meanwhile */
  :: atomic { CARRIES(0) -> ghost[0] = LINE(0) };
    if
    :: atomic { BOTH_CARRY -> ghost[1] = LINE(1) }; break
    :: atomic { !BOTH_CARRY -> skip }; CARRIES(1)
    fi
  od;
  assert(ghost[0] == TAG(INTO(me), n) && ghost[1] == TAG(INTO(me), n));
#ifndef BREAK_ACK_FIRST
  back[INTO(me)]!DONE,n
#endif
}

proctype Rank(byte me) {
  byte n, source[2], ghost[2];
  for (n : 1 .. STEPS) {
    FILL(source, TAG(me, n));

    /* start */
    if
    :: SENDS(me) -> MAY_SEND; atomic { send() }
    :: else
    fi;
    FILL(source, JUNK);

    /* wait */
    if
    :: RECEIVES(me) -> receive()
    :: else
    fi
  }
}
