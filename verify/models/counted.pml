/*
 * Counted puts: how many words a step moves, here none or one, is stored beside the signal, for odd and even steps in turn. The
 * receiver reads it once it has the signal, and takes no more words than that. Direct; with STAGED or PULL as in their models.
 */
#define PLACES 4
#include "memory.pml"

#if defined(ONE_WAY)
#define ONE_SIDED true
#else
#define ONE_SIDED false
#endif

#define LENGTH(step) ((step) % 4 == 1 || (step) % 4 == 2) /* differs from that of one of the next two steps */

#ifdef BREAK_ONE_WORD
#define LENGTH_AT(step) 2
#else
#define LENGTH_AT(step) (2 + (step) % 2)
#endif

#if defined(STAGED)
#define WORD_AT(step) ((step) % 2)
#define TELLS_READY (RECEIVES(me) && ONE_SIDED)
#define MAY_SEND (!ONE_SIDED || ready[me] + 1 >= n)
#elif defined(PULL)
#define WORD_AT(step) 0
#define TELLS_READY false
#define MAY_SEND true
#else
#define WORD_AT(step) 0
#define TELLS_READY RECEIVES(me)
#define MAY_SEND (ready[me] >= n)
#endif

#ifdef PULL
#define FETCHED (!SENDS(me) || done[me] >= n)
#else
#define FETCHED true
#endif

#ifdef BREAK_SET_LATE /* the length is taken when the step is sent, not when it is started */
#define LENGTH_SENT set
#else
#define LENGTH_SENT taken
#endif

#ifdef BREAK_WHOLE /* the receiver takes all that may have come */
#define LENGTH_TAKEN 1
#else
#define LENGTH_TAKEN length
#endif

#ifdef BREAK_READ_EARLY /* without acquire, the length may be loaded before arrive is */
#define LOAD_BEFORE_WAIT RECEIVES(me)
#else
#define LOAD_BEFORE_WAIT false
#endif

inline load_length() { length = data[AT(INTO(me), LENGTH_AT(n))] }

inline send() {
#ifndef PULL
  if
  :: LENGTH_SENT > 0 -> forth[me]!WORD_AT(n),TAG(me, n)
  :: else
  fi;
#endif
#ifdef BREAK_ORDER
  forth[me]!ARRIVE,n;
  forth[me]!LENGTH_AT(n),LENGTH_SENT
#else
  forth[me]!LENGTH_AT(n),LENGTH_SENT;
  forth[me]!ARRIVE,n
#endif
}

inline receive() {
  if
  :: !LOAD_BEFORE_WAIT -> load_length()
  :: else
  fi;
#if defined(STAGED) || defined(PULL)
  if
  :: LENGTH_TAKEN > 0 -> ghost = data[AT(INTO(me), WORD_AT(n))]
  :: else
  fi;
#endif
#ifdef PULL
  back[INTO(me)]!DONE,n
#endif
}

proctype Rank(byte me) {
  byte n, set, taken, length, ghost, newest; /* newest: the last step that moved a word */
  bool pending, missing;
  for (n : 1 .. STEPS) {
    atomic {
      set = LENGTH(n);
      if
      :: LENGTH(n) -> newest = n
      :: else
      fi
    }
#ifdef PULL
    forth[me]!0,TAG(me, n);
#endif

    /* start */
    if
    :: TELLS_READY -> back[INTO(me)]!READY,n
    :: else
    fi;
    atomic { taken = set; pending = SENDS(me); missing = RECEIVES(me) }
    if
    :: LOAD_BEFORE_WAIT -> load_length()
    :: else
    fi;

    /* the program may set the next length at once; wait */
    do
    :: pending && MAY_SEND -> atomic { send(); pending = false }
    :: missing && arrive[INTO(me)] >= n -> receive(); missing = false
    :: set != LENGTH(n + 1) -> set = LENGTH(n + 1)
    :: !pending && !missing && FETCHED -> break
    od;

#ifdef PULL
    forth[me]!0,JUNK;
#elif !defined(STAGED)
    if
    :: RECEIVES(me) -> ghost = data[AT(INTO(me), 0)]
    :: else
    fi;
#endif
    assert(!RECEIVES(me) || (length == LENGTH(n) && ghost == TAG(INTO(me), newest)))
  }
}
