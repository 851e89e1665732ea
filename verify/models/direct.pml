/* Direct, guarded: the sender stores into the final place once the receiver has said that it is done reading. */
#define PLACES 2
#include "memory.pml"

#if defined(BREAK_NO_GUARD)
#define MAY_SEND true
#elif defined(BREAK_GUARD_LATE)
#define MAY_SEND (ready[me] >= n - 1)
#else
#define MAY_SEND (ready[me] >= n)
#endif

#ifdef BREAK_RETURN_EARLY
#define SENT true
#else
#define SENT (!pending)
#endif

#ifdef BREAK_READ_LATE /* without release, the store of ready n + 1 may become visible before the reads of n */
#define READY_IN_START (RECEIVES(me) && n == 1)
#define READY_BEFORE_READS RECEIVES(me)
#else
#define READY_IN_START RECEIVES(me)
#define READY_BEFORE_READS false
#endif

#ifdef BREAK_READ_EARLY /* without acquire, the reads may be served before the load of arrive */
#define READ_BEFORE_WAIT RECEIVES(me)
#else
#define READ_BEFORE_WAIT false
#endif

inline read() {
  ghost[0] = data[AT(INTO(me), 0)];
  ghost[1] = data[AT(INTO(me), 1)]
}

inline send() {
#ifdef BREAK_ORDER
  forth[me]!ARRIVE,n;
  forth[me]!0,source[0];
  forth[me]!1,source[1]
#else
  forth[me]!0,source[0];
  forth[me]!1,source[1];
  forth[me]!ARRIVE,n
#endif
}

proctype Rank(byte me) {
  byte n, source[2], ghost[2];
  bool pending, missing;
  for (n : 1 .. STEPS) {
    FILL(source, TAG(me, n));

    /* start */
    if
    :: READY_IN_START -> back[INTO(me)]!READY,n
    :: else
    fi;
    atomic { pending = SENDS(me); missing = RECEIVES(me) }
    if
    :: READ_BEFORE_WAIT -> read()
    :: else
    fi;

    /* wait; to send at once, in start, is one of the orders that this loop allows */
    do
    :: pending && MAY_SEND -> atomic { send(); pending = false }
    :: missing && arrive[INTO(me)] >= n -> missing = false
    :: SENT && !missing -> break
#ifdef BREAK_NO_END
    :: missing -> skip /* polls without end: shows that the search finds a run that never finishes */
#endif
    od;

    FILL(source, JUNK);
    if
    :: pending -> atomic { MAY_SEND -> send() } /* only where wait returned early */
    :: else
    fi;
    if
    :: READY_BEFORE_READS -> back[INTO(me)]!READY,n + 1
    :: else
    fi;
    if
    :: RECEIVES(me) && !READ_BEFORE_WAIT -> read()
    :: else
    fi;
    assert(!RECEIVES(me) || (ghost[0] == TAG(INTO(me), n) && ghost[1] == TAG(INTO(me), n)))
  }
}
