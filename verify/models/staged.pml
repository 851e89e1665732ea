/*
 * Staged: the sender gathers into slot n % 2 of a ring at the receiver, the receiver's wait scatters it.
 *
 * Two ranks that send to each other need no further signal. My start n implies that my wait n - 1 returned, so I have
 * the partner's arrive n - 1; the partner stored it in its start n - 1 or later, after its wait n - 2, in which it
 * scattered my n - 2 and so emptied slot n % 2. A receiver that sends nothing back says ready n in its start n; the sender
 * goes by what it saw when it last looked: behind its last arrive, or when that does not do.
 */
#define PLACES 4
#include "memory.pml"

#if defined(ONE_WAY) || defined(RING)
#define ONE_SIDED true
#else
#define ONE_SIDED false
#endif

#if defined(BREAK_NO_READY)
#define MAY_SEND true
#elif defined(BREAK_READY_LATE)
#define MAY_SEND (!ONE_SIDED || seen + 2 >= n)
#else
#define MAY_SEND (!ONE_SIDED || seen + 1 >= n)
#endif

#ifdef BREAK_RING_OF_ONE
#define SLOT(step) 0
#else
#define SLOT(step) ((step) % 2 * 2)
#endif

#ifdef BREAK_SCATTER_LATE /* without release, what start n + 1 stores may become visible before the loads that scatter n */
#define SCATTER_IN_WAIT (n == STEPS)
#define SCATTER_AFTER_START (RECEIVES(me) && n > 1)
#else
#define SCATTER_IN_WAIT true
#define SCATTER_AFTER_START false
#endif

#ifdef BREAK_SCATTER_EARLY /* without acquire, the slot may be loaded before arrive is */
#define LOAD_BEFORE_WAIT RECEIVES(me)
#define LOAD_IN_WAIT false
#else
#define LOAD_BEFORE_WAIT false
#define LOAD_IN_WAIT true
#endif

inline send() {
  forth[me]!SLOT(n),source[0];
  forth[me]!SLOT(n) + 1,source[1];
  forth[me]!ARRIVE,n
}

inline load(step) {
  ghost[0] = data[AT(INTO(me), SLOT(step))];
  ghost[1] = data[AT(INTO(me), SLOT(step) + 1)]
}

inline scatter(step) {
  if
  :: LOAD_IN_WAIT -> load(step)
  :: else
  fi;
  assert(ghost[0] == TAG(INTO(me), step) && ghost[1] == TAG(INTO(me), step))
}

proctype Rank(byte me) {
  byte n, seen, source[2], ghost[2];
  bool pending, missing;
  for (n : 1 .. STEPS) {
    FILL(source, TAG(me, n));

    /* start */
    if
    :: RECEIVES(me) && ONE_SIDED -> back[INTO(me)]!READY,n
    :: else
    fi;
    atomic { pending = SENDS(me); missing = RECEIVES(me) }
    if /* between partners there is nothing to wait for, so the whole step is sent in start */
    :: pending && !ONE_SIDED -> atomic { send(); pending = false }
    :: else
    fi;
    if
    :: SCATTER_AFTER_START -> scatter(n - 1)
    :: else
    fi;
    if
    :: LOAD_BEFORE_WAIT -> load(n)
    :: else
    fi;

    /* wait */
    do
    :: pending && MAY_SEND -> atomic { send(); seen = ready[me]; pending = false }
    :: pending && !MAY_SEND && seen < ready[me] -> seen = ready[me]
    :: missing && arrive[INTO(me)] >= n ->
      if
      :: SCATTER_IN_WAIT -> scatter(n)
      :: else
      fi;
      missing = false
    :: !pending && !missing -> break
    od;

    FILL(source, JUNK)
  }
}
