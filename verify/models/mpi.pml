/*
 * Messages over MPI: what arrives lands when its receive has been started, and the receives of step n are started by the
 * receiver's start n. That is the guard. Where a sender gets nothing back every PERIODth start is confirmed, and the wait of such a
 * step needs the confirmation before.
 *
 * A link is MPI between an ordered pair of ranks for one chain: messages of one tag stay in order, wait at the receiver as long as
 * no receive is started, and otherwise land at any later moment, word by word. MPI has taken a source over at any moment up to
 * the completion of the send. What waits at the receiver is memory of MPI's that nobody has set aside: it must be bounded.
 */
#ifdef RING /* each rank sends to the next of three */
#define RANKS 3
#define EDGES 3
#define INTO(rank) ((rank + RANKS - 1) % RANKS)
#define SENDS(rank) true
#define RECEIVES(rank) true
#define CONFIRMED true
#elif defined(ONE_WAY) /* 0 sends to 1 */
#define RANKS 2
#define EDGES 1
#define INTO(rank) 0
#define SENDS(rank) (rank == 0)
#define RECEIVES(rank) (rank == 1)
#define CONFIRMED true
#else /* two ranks send to each other */
#define RANKS 2
#define EDGES 2
#define INTO(rank) (1 - rank)
#define SENDS(rank) true
#define RECEIVES(rank) true
#define CONFIRMED false
#endif

#ifndef STEPS
#define STEPS 4
#endif
#ifndef PERIOD
#define PERIOD 1
#endif
#define IS_CONFIRMED(n) ((n) % PERIOD == 0)
#define MOST_WAITING (2 * PERIOD)
#define TAG(edge, step) ((edge) * 16 + (step))
#define JUNK 255
#define AT(edge, place) ((edge) * 2 + (place))

#ifdef BREAK_NO_CONFIRMATION
#define MAY_RETURN true
#else
#define MAY_RETURN (!CONFIRMED || !IS_CONFIRMED(n) || confirmed[me] >= n - PERIOD)
#endif

byte source[EDGES * 2], ghost[EDGES * 2]; /* an edge is numbered by its sender */
bool sending[EDGES];                      /* a send is started and MPI may still read its source */
bool posted[EDGES];                       /* a receive is started and not yet through */
byte confirmed[EDGES];                    /* the last start of the receiver that the sender knows of */
chan wire[EDGES] = [8] of { byte, byte }; /* messages that have left their source */
chan told[EDGES] = [8] of { byte };       /* confirmations on their way */

/* MPI: takes sources over, lands what has a receive, brings confirmations. */
proctype Mpi(byte e) {
  byte first, second, number;
end:
  do
  :: atomic {
       sending[e] ->
       wire[e]!source[AT(e, 0)],source[AT(e, 1)];
       sending[e] = false;
       assert(len(wire[e]) <= MOST_WAITING + 1)
     }
#ifdef RING /* at once: three ranks have states enough */
  :: d_step { posted[e] && len(wire[e]) > 0 ->
     wire[e]?first,second; ghost[AT(e, 0)] = first; ghost[AT(e, 1)] = second; posted[e] = false }
#else
  :: posted[e] && len(wire[e]) > 0 ->
     wire[e]?first,second;
     if
     :: ghost[AT(e, 0)] = first; ghost[AT(e, 1)] = second
     :: ghost[AT(e, 1)] = second; ghost[AT(e, 0)] = first
     fi;
     posted[e] = false
#endif
  :: told[e]?number -> confirmed[e] = number
  od
}

proctype Rank(byte me) {
  byte n;
#ifdef BREAK_POSTED_AHEAD
  if
  :: RECEIVES(me) -> posted[INTO(me)] = true
  :: else
  fi;
#endif
  for (n : 1 .. STEPS) {
    if
    :: SENDS(me) -> atomic { source[AT(me, 0)] = TAG(me, n); source[AT(me, 1)] = TAG(me, n) }
    :: else
    fi;

    /* start */
    if
    :: RECEIVES(me) ->
#ifndef BREAK_POSTED_AHEAD
       posted[INTO(me)] = true;
#endif
       if
       :: CONFIRMED && IS_CONFIRMED(n) -> told[INTO(me)]!n
       :: else
       fi
    :: else
    fi;
    if
    :: SENDS(me) -> sending[me] = true
    :: else
    fi;

    /* wait */
#ifndef BREAK_RETURN_EARLY
    !SENDS(me) || !sending[me];
#endif
    !SENDS(me) || MAY_RETURN;
    !RECEIVES(me) || !posted[INTO(me)];
#ifdef BREAK_POSTED_AHEAD /* a persistent receive that is started again as soon as it is through */
    if
    :: RECEIVES(me) -> posted[INTO(me)] = true
    :: else
    fi;
#endif

    if
    :: SENDS(me) -> atomic { source[AT(me, 0)] = JUNK; source[AT(me, 1)] = JUNK }
    :: else
    fi;
    if
    :: RECEIVES(me) ->
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
