/*
 * The lanes of a slot as its source knows them. Kernels of two streams post there and take turns, which a lock counts. A
 * post raises its notice with what it knows from its own last turn, if nobody has had the next one since; otherwise it
 * looks at the lane. Each stores the new count at the owner, where it may land at any time after; counts of different
 * turns land in their order, since each turn ends with a release. The owner sees what has been raised, never less than
 * before, and all of it in the end.
 */
#define POSTS 3 /* of each stream */
#define STREAMS 2
#define LANE 1

#ifdef BREAK_SAME_TURN /* turns are not counted */
#define NEXT before
#else
#define NEXT (before + 2)
#endif

byte lock;          /* even: free */
byte count;         /* of the lane, here */
byte there;         /* at the owner */
byte done;          /* streams that are through */
chan buffer = [8] of { byte, byte }; /* of stores to the owner */

proctype Memory() {
end:
  do
  :: buffer?LANE,there
  od
}

/* Makes the lock odd; whoever finds it even has the turn. The others try again until it is. */
inline begin_turn() { atomic { lock % 2 == 0 -> before = lock; lock = lock | 1 } }

proctype Stream() {
  byte n, before, mine, memo_turn, memo_count;
  for (n : 1 .. POSTS) {
#ifdef BREAK_NO_LOCK
    before = lock;
#else
    begin_turn();
#endif
    if
#ifdef BREAK_ANY_TURN /* what a post knows of its last turn, whoever has had one since */
    :: memo_turn != 0 -> mine = memo_count
#else
    :: memo_turn == before + 1 -> mine = memo_count
#endif
    :: else -> mine = count
    fi;
    mine++;
#ifdef BREAK_RAISE_LATE /* the turn ends before its store has left */
    lock = NEXT;
#endif
    buffer!LANE,mine;
    count = mine;
    memo_turn = NEXT + 1;
    memo_count = mine;
#ifndef BREAK_RAISE_LATE
    lock = NEXT
#endif
  }
  done++
}

proctype Owner() {
  byte seen;
  do
  :: there != seen -> assert(there > seen); seen = there
  :: done == STREAMS && empty(buffer) && there == seen -> break
  od;
  assert(seen == STREAMS * POSTS)
}

init {
  byte i;
  atomic {
    run Memory();
    run Owner();
    for (i : 1 .. STREAMS) { run Stream() }
  }
end:
accept: /* as in memory.pml: any cycle at all is an acceptance cycle */
  false
}
