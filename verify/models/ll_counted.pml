/*
 * ll with a length: each chunk has one packet that always comes and says how many others do; here there is one other,
 * or none. Both are stored without any order. The receiver waits for the first, and then for the other if it comes;
 * only then does it acknowledge the chunk. See ll.pml.
 *
 * WRAP: the numbers in packets go round, here after eight steps. A packet that has not been sent for so long would carry
 * the number of a step that has yet to come, so that two steps of every four
 * send and await all.
 */
#define PLACES 4 /* the first packets of both buffers, then the others */
#include "memory.pml"

#if defined(BREAK_NO_ACK)
#define MAY_SEND true
#else
#define MAY_SEND (done[me] + 2 >= n)
#endif

#ifdef WRAP
#define NUMBER(value) ((value) % 8)
#else
#define NUMBER(value) ((value) % 16)
#endif
#if defined(WRAP) && !defined(BREAK_STALE)
#define SENDS_ALL (n % 4 < 2)
#else
#define SENDS_ALL false
#endif

#ifdef BREAK_ONE_BUFFER
#define BUFFER 0
#else
#define BUFFER (n % 2)
#endif

#define LENGTH 64
#define FIRST data[AT(INTO(me), BUFFER)]
#define OTHER data[AT(INTO(me), 2 + BUFFER)]
#define SENT(edge) sent[(edge) * (STEPS + 1) + n]

bit sent[EDGES * (STEPS + 1)];

inline send() {
  SENT(me) = length;
  forth[me]!BUFFER,source + LENGTH * length;
  if
  :: length == 1 || SENDS_ALL -> forth[me]!2 + BUFFER,source
  :: else
  fi
}

inline receive() {
#ifdef BREAK_LENGTH_EARLY
  first = FIRST;
  length = first / LENGTH;
  NUMBER(FIRST) == NUMBER(n);
#else
  atomic { NUMBER(FIRST) == NUMBER(n) -> first = FIRST; length = first / LENGTH };
#endif
#ifdef BREAK_ACK_FIRST
  back[INTO(me)]!DONE,n;
#endif
#ifdef BREAK_WAITS_FOR_ALL
  NUMBER(OTHER) == NUMBER(n);
#endif
#ifndef BREAK_STALE
  if
  :: SENDS_ALL && length == 0 -> NUMBER(OTHER) == NUMBER(n)
  :: else
  fi;
#endif
  if
  :: length == 1 ->
#ifdef BREAK_UNCHECKED
     ghost = OTHER;
#else
     atomic { NUMBER(OTHER) == NUMBER(n) -> ghost = OTHER };
#endif
     assert(ghost == TAG(INTO(me), n))
  :: else
  fi;
  assert(length == SENT(INTO(me)));
#ifndef BREAK_ACK_FIRST
  back[INTO(me)]!DONE,n
#endif
}

proctype Rank(byte me) {
  byte n, source, first, ghost;
  bit length;
  for (n : 1 .. STEPS) {
    source = TAG(me, n);

    /* start */
    if
    :: SENDS(me) ->
       if
       :: length = 0
       :: length = 1
       fi;
       MAY_SEND;
       atomic { send() }
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
