/*
 * The world's barrier and all-gather: a rank publishes its chunk in its mailbox and stores an odd round, reads the
 * others' chunks once all have that round, and stores an even round; the mailbox is overwritten once all have that.
 * A rank's round is the `arrive` of its edges, and all readers see it and the mailbox independently of each other.
 */
#define ALL
#define PLACES 2
#include "memory.pml"

#define EDGE(writer, reader) ((writer) * (RANKS - 1) + (reader > writer -> reader - 1 : reader))

byte entered[RANKS];

inline store_round(round) {
  for (q : 0 .. RANKS - 1) {
    if
    :: q != me -> forth[EDGE(me, q)]!ARRIVE,round
    :: else
    fi
  }
}

inline await_round(round) {
  for (q : 0 .. RANKS - 1) { q == me || arrive[EDGE(q, me)] >= round }
}

inline read() {
  for (q : 0 .. RANKS - 1) {
    assert(q == me || data[AT(EDGE(q, me), 0)] == TAG(q, k));
    assert(q == me || data[AT(EDGE(q, me), 1)] == TAG(q, k))
  }
}

proctype Rank(byte me) {
  byte k, q;
  for (k : 1 .. STEPS) {
    atomic {
      entered[me] = k;
      for (q : 0 .. RANKS - 1) {
        if
        :: q != me -> forth[EDGE(me, q)]!0,TAG(me, k); forth[EDGE(me, q)]!1,TAG(me, k)
        :: else
        fi
      }
      store_round(2 * k - 1)
    }
#ifdef BREAK_READ_EARLY /* without acquire, the mailboxes may be read before the round is */
    read();
#endif
    await_round(2 * k - 1);
#ifdef BREAK_READ_LATE /* without release, the store of the even round may become visible before the reads */
    atomic { store_round(2 * k) }
#endif
    read();
    atomic { for (q : 0 .. RANKS - 1) { assert(entered[q] >= k) } } /* nobody leaves before all have come */
#if !defined(BREAK_ONE_PHASE) && !defined(BREAK_READ_LATE)
    atomic { store_round(2 * k) }
#endif
#ifndef BREAK_ONE_PHASE
    await_round(2 * k)
#endif
  }
}
