/*
 * The memory and the ranks under every model: what release and acquire promise, and nothing more.
 *
 * A store leaves its writer through a buffer, one for each edge and direction, and lands later. Payload stores land
 * in any order and overtake whatever they like; a release store lands only after every store before it. Buffers are
 * not ordered with each other, which is less than C++ promises. Loads happen in program order, as acquire makes
 * them; a load that slips behind a later store is written as a broken variant of its model.
 *
 * An edge is an ordered pair of ranks, numbered by its sender where each rank has only one. Before it includes this
 * file a model sets PLACES, the payload words that an edge has in shared memory, and CHAINS if it has two.
 */
#ifndef CHAINS
#define CHAINS 1
#endif

#if defined(RING) /* each rank sends to the next of three */
#define RANKS 3
#define EDGES 3
#define INTO(rank) ((rank + RANKS - 1) % RANKS)
#define SENDS(rank) true
#define RECEIVES(rank) true
#elif defined(ONE_WAY) /* 0 sends to 1 */
#define RANKS 2
#define EDGES 1
#define INTO(rank) 0
#define SENDS(rank) (rank == 0)
#define RECEIVES(rank) (rank == 1)
#elif defined(ALL) /* every rank to every other; the model numbers the edges */
#ifndef RANKS
#define RANKS 3
#endif
#define EDGES (RANKS * (RANKS - 1))
#else /* two ranks send to each other */
#define RANKS 2
#define EDGES 2
#define INTO(rank) (1 - rank)
#define SENDS(rank) true
#define RECEIVES(rank) true
#endif

#ifndef STEPS
#define STEPS 4
#endif

/* What a buffered store is for: a payload word below PLACES, or the counter of a chain. */
#define ARRIVE 10
#define READY 20
#define DONE 30

/* A value says who sent it and in which step; no step writes JUNK. */
#define TAG(edge, step) ((edge) * 16 + (step))
#define JUNK 255

#define AT(edge, place) ((edge) * PLACES + (place))
#define OF(edge, chain) ((edge) * CHAINS + (chain))

byte data[EDGES * PLACES];
byte arrive[EDGES * CHAINS], ready[EDGES * CHAINS], done[EDGES * CHAINS];
chan forth[EDGES] = [10] of { byte, byte }; /* from the sender: where, value; large enough never to be full */
chan back[EDGES] = [5] of { byte, byte };   /* from the receiver */

#ifdef BREAK_RELAXED
#define LANDS ?? /* arrive may overtake the payload before it */
#else
#define LANDS ?
#endif

proctype Memory(byte e) {
end:
  do
  :: forth[e]??0,data[AT(e, 0)]
  :: forth[e]??1,data[AT(e, 1)]
#if PLACES > 2
  :: forth[e]??2,data[AT(e, 2)]
  :: forth[e]??3,data[AT(e, 3)]
#endif
  :: forth[e] LANDS ARRIVE,arrive[OF(e, 0)]
  :: back[e]?READY,ready[OF(e, 0)]
  :: back[e]?DONE,done[OF(e, 0)]
#if CHAINS > 1
  :: forth[e] LANDS eval(ARRIVE + 1),arrive[OF(e, 1)]
  :: back[e]?eval(READY + 1),ready[OF(e, 1)]
  :: back[e]?eval(DONE + 1),done[OF(e, 1)]
#endif
  od
}

/* Atomic, here and in the models, where only the rank's own variables and buffers are touched: nobody sees inside. */
#define FILL(array, value) atomic { array[0] = value; array[1] = value }

init {
  byte i;
  atomic {
    for (i : 0 .. EDGES - 1) { run Memory(i) }
    for (i : 0 .. RANKS - 1) { run Rank(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
