/* Pull: the receiver's wait copies from the sender's source and says done; until then the source stays as it is. */
#define PLACES 2
#include "memory.pml"

#ifdef BREAK_NO_DONE
#define TAKEN true
#else
#define TAKEN (done[me] >= n)
#endif

#ifdef BREAK_DONE_FIRST /* without release, the store of done may become visible before the loads of the copy */
#define DONE_BEFORE_COPY true
#else
#define DONE_BEFORE_COPY false
#endif

#ifdef BREAK_COPY_EARLY /* without acquire, the source may be loaded before arrive is */
#define COPY_BEFORE_ARRIVE RECEIVES(me)
#else
#define COPY_BEFORE_ARRIVE false
#endif

inline copy() {
  ghost[0] = data[AT(INTO(me), 0)];
  ghost[1] = data[AT(INTO(me), 1)]
}

/* The application's own stores, which the reader sees late like any other. */
#define WRITE_SOURCE(value) atomic { forth[me]!0,value; forth[me]!1,value }

proctype Rank(byte me) {
  byte n, ghost[2];
  bool taken, missing;
  for (n : 1 .. STEPS) {
    if
    :: SENDS(me) ->
      WRITE_SOURCE(TAG(me, n));
      /* start */
      forth[me]!ARRIVE,n
    :: else
    fi;
    atomic { taken = !SENDS(me); missing = RECEIVES(me) }
    if
    :: COPY_BEFORE_ARRIVE -> copy()
    :: else
    fi;

    /* wait */
    do
    :: missing && arrive[INTO(me)] >= n ->
      if
      :: DONE_BEFORE_COPY -> back[INTO(me)]!DONE,n
      :: else
      fi;
      if
      :: !COPY_BEFORE_ARRIVE -> copy()
      :: else
      fi;
      if
      :: !DONE_BEFORE_COPY -> back[INTO(me)]!DONE,n
      :: else
      fi;
      missing = false
    :: !taken && TAKEN -> taken = true
    :: taken && !missing -> break
    od;

    if
    :: SENDS(me) -> WRITE_SOURCE(JUNK)
    :: else
    fi;
    assert(!RECEIVES(me) || (ghost[0] == TAG(INTO(me), n) && ghost[1] == TAG(INTO(me), n)))
  }
}
