/*
 * ll: a packet is stored and loaded as a whole, its step with it, so that no store waits for another. The sender's
 * start n gathers into buffer n % 2 at the receiver, once the packet of n - 2 there is acknowledged; the receiver's wait n
 * polls until it carries n, scatters, and acknowledges. Acknowledgements are `done` of memory.pml.
 *
 * One chunk of one packet: chunks know nothing of each other, and each has its own acknowledgement.
 */
#ifdef BREAK_HALVES /* a packet lands as two stores, of which one has the step */
#define PLACES 4
#else
#define PLACES 2
#endif
#include "memory.pml"

#if defined(BREAK_NO_ACK)
#define MAY_SEND true
#elif defined(BREAK_ACK_LATE)
#define MAY_SEND (done[me] + 3 >= n)
#else
#define MAY_SEND (done[me] + 2 >= n)
#endif

#ifdef BREAK_ONE_BUFFER
#define BUFFER 0
#else
#define BUFFER (n % 2)
#endif

#define LINE data[AT(INTO(me), BUFFER)]
#define OTHER_HALF data[AT(INTO(me), 2 + BUFFER)]

inline send() {
  forth[me]!BUFFER,source;
#ifdef BREAK_HALVES
  forth[me]!2 + BUFFER,source
#endif
}

inline receive() {
#ifdef BREAK_ACK_FIRST
  back[INTO(me)]!DONE,n;
#endif
  atomic { LINE % 16 == n -> ghost = LINE };
  assert(ghost == TAG(INTO(me), n));
#ifdef BREAK_HALVES
  assert(OTHER_HALF == TAG(INTO(me), n));
#endif
#ifndef BREAK_ACK_FIRST
  back[INTO(me)]!DONE,n
#endif
}

proctype Rank(byte me) {
  byte n, source, ghost;
  for (n : 1 .. STEPS) {
    source = TAG(me, n);

    /* start */
    if
    :: SENDS(me) -> MAY_SEND; atomic { send() }
    :: else
    fi;
    source = JUNK;

    /* wait */
    if
    :: RECEIVES(me) -> receive()
    :: else
    fi
  }
}
