/*
 * Reuse of a signal slot. Chain A sits in slot 0 and goes its two steps at any time; two collective commits come at any
 * time too, and the second creates chain B. Both are staged and one way, which leaves the latest store behind: the
 * sender may be through with A while the receiver's last ready is still to come. Each rank chooses the slot for B in
 * its own memory, zeroes its counters, and publishes the choice in the commit: the slot of A once both ranks had
 * announced that they released A, an exchange earlier (in the code the first exchange of the same commit); a fresh one otherwise.
 * With ABANDON either may let go of A in the middle of a step, and then does no more for it; its partner gives up, too.
 */
#define ONE_WAY
#define PLACES 4
#define CHAINS 2
#include "memory.pml"

#ifdef BREAK_SAME_COMMIT /* a single step, so that no later signal makes up for a lost one */
#define LAST_B 1
#else
#define LAST_B 4
#endif

#define A 0
#define B 1
#define COMMITS 2
#define LAST(chain) (chain == A -> 2 : LAST_B)
#define FINISHED(chain) (next[chain] > LAST(chain))
#define EXISTS(chain) (chain == A || commits == COMMITS)

/* The ring is in the receiver's memory and so is arrive; ready is in the sender's. */
#define PLACE(chain) (slot[OF(1, chain)] * 2 + next[chain] % 2)

byte slot[2 * CHAINS]; /* of rank and chain */
bool released[2 * (COMMITS + 1)]; /* of A, as announced by a rank in a commit; board.pml proves the exchange */
byte entered[2];

#ifdef ABANDON
#define MAY_ABANDON (!FINISHED(A))
#else
#define MAY_ABANDON false
#endif

#define ALL_RELEASED(commit) (released[2 * (commit)] && released[2 * (commit) + 1])

inline zero_counters() {
  if
  :: me == 0 -> ready[0] = 0
  :: else -> arrive[0] = 0
  fi
}

inline take_slot(free) {
  if
  :: free -> zero_counters(); slot[OF(me, B)] = 0
  :: else -> slot[OF(me, B)] = 1
  fi
}

inline commit() {
#if defined(BREAK_REUSE_EARLY)
  if
  :: commits == 1 -> take_slot(FINISHED(A))
  :: else
  fi;
#elif !defined(BREAK_SAME_COMMIT)
  if
  :: commits == 1 -> take_slot(ALL_RELEASED(1))
  :: else
  fi;
#endif
  commits++;
  /* The announcement is a release store: it lands after this rank's signals. */
  atomic {
    (me == 0 && empty(forth[0])) || (me == 1 && empty(back[0])) ->
      released[2 * commits + me] = FINISHED(A);
      entered[me] = commits
  }
  entered[1 - me] >= commits;
#ifdef BREAK_SAME_COMMIT
  /* Both come to the same choice, but a partner that is through with it may signal before the counters are zeroed. */
  if
  :: commits == 2 && ALL_RELEASED(2) -> zero_counters()
  :: commits == 2 && !ALL_RELEASED(2) -> atomic { slot[OF(0, B)] = 1; slot[OF(1, B)] = 1 }
  :: else
  fi
#endif
}

#define MAY_SEND(chain) \
  (EXISTS(chain) && !FINISHED(chain) && ready[OF(0, slot[OF(0, chain)])] + 1 >= next[chain])
#define MAY_START(chain) (EXISTS(chain) && !FINISHED(chain) && !started[chain])
#define MAY_TAKE(chain) (started[chain] && arrive[OF(0, slot[OF(1, chain)])] >= next[chain])

inline send(chain) {
  atomic {
    forth[0]!PLACE(chain),TAG(chain, next[chain]);
    forth[0]!ARRIVE + slot[OF(1, chain)],next[chain];
    next[chain]++
  }
}

inline start(chain) {
  atomic { back[0]!READY + slot[OF(0, chain)],next[chain]; started[chain] = true }
}

inline take(chain) {
  assert(data[AT(0, PLACE(chain))] == TAG(chain, next[chain]));
#ifdef SHOW_REUSE
  assert(chain == A || slot[OF(0, B)] == 1 || slot[OF(1, B)] == 1);
#endif
  atomic { started[chain] = false; next[chain]++ }
}

inline abandon() {
#ifdef BREAK_DRIVES_ON /* the sender's part stays under way, and is sent when the receiver lets it */
  left_open = (me == 0 -> next[A] : 0);
#endif
  next[A] = LAST(A) + 1;
  started[A] = false
}

proctype Rank(byte me) {
  byte commits, next[CHAINS];
  bool started[CHAINS];
#ifdef BREAK_DRIVES_ON
  byte left_open;
#endif
  FILL(next, 1);
  do
  :: commits < COMMITS -> commit()
  :: MAY_ABANDON -> atomic { abandon() }
#ifdef BREAK_DRIVES_ON
  :: left_open > 0 && ready[0] + 1 >= left_open ->
    atomic { forth[0]!left_open % 2,TAG(A, left_open); forth[0]!ARRIVE,left_open; left_open = 0 }
#endif
  :: me == 0 && MAY_SEND(A) -> send(A)
  :: me == 0 && MAY_SEND(B) -> send(B)
  :: me == 1 && MAY_START(A) -> start(A)
  :: me == 1 && MAY_TAKE(A) -> take(A)
  :: me == 1 && MAY_START(B) -> start(B)
  :: me == 1 && MAY_TAKE(B) -> take(B)
  :: commits == COMMITS && FINISHED(A) && FINISHED(B) -> break
  od
}
