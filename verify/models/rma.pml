/*
 * One-sided puts over MPI: post and start, put, complete and wait, between ranks of which each may be a target and an origin. A target
 * posts in its start n, where nobody waits, and then invites the origin; the origin puts while it waits, once it is invited. So
 * neither MPI_Win_start nor MPI_Win_complete ever waits for a rank that is somewhere else.
 *
 * An edge is a window of the target's, and numbered by the origin. Puts land word by word, from the moment at which the origin
 * starts until its complete returns, but only in an exposure that is posted: MPI_Win_start waits for the post. MPI tells the
 * target of the complete at any later moment; MPI_Win_test then ends the exposure.
 */
#ifdef RING /* each rank puts to the next of three */
#define RANKS 3
#define EDGES 3
#define INTO(rank) ((rank + RANKS - 1) % RANKS)
#define PUTS(rank) true
#define IS_TARGET(rank) true
#elif defined(ONE_WAY) /* 0 puts to 1 */
#define RANKS 2
#define EDGES 1
#define INTO(rank) 0
#define PUTS(rank) (rank == 0)
#define IS_TARGET(rank) (rank == 1)
#else /* two ranks put to each other */
#define RANKS 2
#define EDGES 2
#define INTO(rank) (1 - rank)
#define PUTS(rank) true
#define IS_TARGET(rank) true
#endif

#ifndef STEPS
#define STEPS 3
#endif
#define TAG(edge, step) ((edge) * 16 + (step))
#define JUNK 255
#define AT(edge, place) ((edge) * 2 + (place))

byte source[EDGES * 2], ghost[EDGES * 2];
byte posted[EDGES];                          /* exposures that the target has posted so far */
bool exposed[EDGES];                         /* posted and not yet seen complete */
byte begun[EDGES];                           /* accesses that the origin has started so far */
bool putting[EDGES];                         /* the origin is between start and complete, its puts have not all landed */
bool completed[EDGES];                       /* the target may learn that the origin is through */
chan invitation[EDGES] = [2] of { byte };    /* messages of our own */

/* MPI: lands the words of a put in either order, then lets complete return. */
proctype Mpi(byte e) {
end:
  do
  :: putting[e] ->
     if
     :: ghost[AT(e, 0)] = source[AT(e, 0)]; ghost[AT(e, 1)] = source[AT(e, 1)]
     :: ghost[AT(e, 1)] = source[AT(e, 1)]; ghost[AT(e, 0)] = source[AT(e, 0)]
     fi;
     putting[e] = false
  od
}

inline put() {
  /* MPI_Win_start waits for the post that belongs to it: here it must be there already, for nothing can end that call */
  assert(posted[me] > begun[me]);
  begun[me]++;
  putting[me] = true;
#ifndef BREAK_NO_COMPLETE
  !putting[me]; /* MPI_Win_complete */
#endif
  completed[me] = true
}

proctype Rank(byte me) {
  byte n, number;
  bool put_is_due, expects;
  for (n : 1 .. STEPS) {
    if
    :: PUTS(me) -> atomic { source[AT(me, 0)] = TAG(me, n); source[AT(me, 1)] = TAG(me, n) }
    :: else
    fi;

    /* start: never waits */
    if
    :: IS_TARGET(me) ->
#ifdef BREAK_INVITED_FIRST
       invitation[INTO(me)]!n;
#endif
       atomic { assert(!exposed[INTO(me)]); exposed[INTO(me)] = true; posted[INTO(me)]++ }
#if !defined(BREAK_INVITED_FIRST) && !defined(BREAK_NO_INVITATION)
       invitation[INTO(me)]!n
#endif
    :: else
    fi;

    /* wait: looks at both ends in turn until both are through */
    put_is_due = PUTS(me);
    expects = IS_TARGET(me);
    do
#ifdef BREAK_NO_INVITATION
    :: put_is_due -> put(); put_is_due = false
#elif defined(BREAK_TARGET_FIRST) /* puts once its own ghosts are here */
    :: put_is_due && !expects && nempty(invitation[me]) -> invitation[me]?number; put(); put_is_due = false
#else
    :: put_is_due && nempty(invitation[me]) -> invitation[me]?number; put(); put_is_due = false
#endif
#ifdef BREAK_NO_TEST
    :: expects -> exposed[INTO(me)] = false; completed[INTO(me)] = false; expects = false
#else
    :: atomic { expects && completed[INTO(me)] -> /* MPI_Win_test */
       completed[INTO(me)] = false; exposed[INTO(me)] = false; expects = false }
#endif
    :: !put_is_due && !expects -> break
    od;

    if
    :: PUTS(me) -> atomic { source[AT(me, 0)] = JUNK; source[AT(me, 1)] = JUNK }
    :: else
    fi;
    if
    :: IS_TARGET(me) ->
       assert(ghost[AT(INTO(me), 0)] == TAG(INTO(me), n));
       assert(ghost[AT(INTO(me), 1)] == TAG(INTO(me), n))
    :: else
    fi
  }
}

init {
  byte i;
  atomic {
    for (i : 0 .. EDGES - 1) { run Mpi(i) }
    for (i : 0 .. RANKS - 1) { run Rank(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
