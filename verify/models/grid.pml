/*
 * Sums over all blocks of all ranks, by packets in two sets of places for odd and even steps. In one trip each block
 * sends its share to every rank and reads those of all blocks. In two (TWO) it sends its share to the block of its rank
 * that adds up in this step, which sends the total to every rank, and each block reads the totals. MIXED takes turns.
 * Stores of a block to one place land in order, and in no order otherwise. A sum also orders what a rank's blocks have
 * stored before it.
 */
#define RANKS 2
#define BLOCKS 2 /* of a rank */
#define ALL_BLOCKS 4
#ifndef STEPS
#define STEPS 4
#endif

#ifdef BREAK_ONE_SET
#define SET 0
#else
#define SET (n % 2)
#endif
#if defined(TWO)
#define IN_TWO true
#elif defined(MIXED)
#define IN_TWO (n % 3 == 0)
#else
#define IN_TWO false
#endif

#define RANK(block) ((block) / BLOCKS)
#define ADDS_UP (n / 2 % BLOCKS) /* which block of its rank */

/* Places of packets at a rank, by set and sender: shares of blocks, and totals of ranks. */
#define SHARE(rank, set, block) (((rank) * 2 + (set)) * (ALL_BLOCKS + RANKS) + (block))
#define TOTAL(rank, set, of) (((rank) * 2 + (set)) * (ALL_BLOCKS + RANKS) + ALL_BLOCKS + (of))
#define PLACES 24

byte place[PLACES];               /* the step whose packet is there */
chan wire[PLACES] = [2] of { byte }; /* on the way to a place */
byte data[ALL_BLOCKS];            /* what a block stores before a sum: the step */
chan stored[ALL_BLOCKS] = [2] of { byte };

#define LANDS(p) ::wire[p]?place[p]
#define SIX_LAND(p) LANDS(p) LANDS(p + 1) LANDS(p + 2) LANDS(p + 3) LANDS(p + 4) LANDS(p + 5)
#define IS_STORED(block) ::stored[block]?data[block]

proctype Memory() {
end:
  do
  SIX_LAND(0) SIX_LAND(6) SIX_LAND(12) SIX_LAND(18)
  IS_STORED(0) IS_STORED(1) IS_STORED(2) IS_STORED(3)
  od
}

proctype Block(byte me) {
  byte n, i;
  for (n : 1 .. STEPS) {
    stored[me]!n;
    if
    :: !IN_TWO -> /* to other ranks without waiting for anything */
      atomic { for (i : 0 .. RANKS - 1) { if :: i != RANK(me) -> wire[SHARE(i, SET, me)]!n :: else fi } }
    :: else
    fi;
#ifndef BREAK_NO_FENCE
    data[me] == n; /* the fence before a packet to this rank */
#endif
    if
    :: !IN_TWO ->
      wire[SHARE(RANK(me), SET, me)]!n;
      for (i : 0 .. ALL_BLOCKS - 1) { place[SHARE(RANK(me), SET, i)] == n }
    :: else ->
      wire[SHARE(RANK(me), SET, me)]!n;
      if
      :: me % BLOCKS == ADDS_UP ->
#ifndef BREAK_TOTAL_EARLY
        for (i : RANK(me) * BLOCKS .. RANK(me) * BLOCKS + BLOCKS - 1) { place[SHARE(RANK(me), SET, i)] == n }
#endif
        atomic { for (i : 0 .. RANKS - 1) { wire[TOTAL(i, SET, RANK(me))]!n } }
      :: else
      fi;
      for (i : 0 .. RANKS - 1) { place[TOTAL(RANK(me), SET, i)] == n }
    fi;
    for (i : RANK(me) * BLOCKS .. RANK(me) * BLOCKS + BLOCKS - 1) { assert(data[i] >= n) }
  }
}

init {
  byte i;
  atomic {
    run Memory();
    for (i : 0 .. ALL_BLOCKS - 1) { run Block(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
