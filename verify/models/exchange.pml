/*
 * Letters and votes of the world's exchange: before a rank arrives at the odd round it marks whom it has mail for and
 * raises the tally of this meeting; once all have that round it reads the tally, takes its marks and reads the
 * mailboxes of those; then it stores the even round. Meetings take turns with two tallies, and rank 0 clears that of
 * the meeting before. Marks and tallies are words that all change in place, and rounds a counter, as `board` proves it.
 */
#define RANKS 3
#define STEPS 3
#define NOBODY RANKS
#define TAG(rank, step) ((rank) * 16 + (step))

#ifdef BREAK_ONE_TALLY /* cleared while others have voted already */
#define NOW(step) 0
#define BEFORE(step) 0
#else
#define NOW(step) ((step) % 2)
#define BEFORE(step) (((step) + 1) % 2)
#endif

byte mailbox[RANKS], marks[RANKS], tally[2];
byte addressee[RANKS * (STEPS + 1)]; /* whom each writes to in each meeting, for the assertions */
byte arrivals, round;

inline arrive(number) {
  atomic {
    arrivals++;
    if
    :: arrivals == RANKS * (number) -> round = number
    :: else
    fi
  }
}

inline mark() {
  if
  :: to != NOBODY -> marks[to] = marks[to] | (1 << me)
  :: else
  fi
}

inline take() {
  atomic { mine = marks[me] }
  marks[me] = 0
}

inline read_letters() {
  atomic {
    for (q : 0 .. RANKS - 1) {
      assert(((mine >> q) & 1) == (addressee[q * (STEPS + 1) + k] == me));
      assert(((mine >> q) & 1) == 0 || mailbox[q] == TAG(q, k))
    }
  }
}

proctype Rank(byte me) {
  byte k, q, to, mine;
  for (k : 1 .. STEPS) {
    round >= 2 * k - 2;
    atomic {
      if
      :: to = (me + 1) % RANKS
      :: to = NOBODY
      fi;
      addressee[me * (STEPS + 1) + k] = to;
      mailbox[me] = TAG(me, k)
    }
    if
    :: me == 0 -> tally[BEFORE(k)] = 0
    :: else
    fi;
    if /* rank 2 alone votes, in every other meeting */
    :: me == 2 && k % 2 == 1 -> tally[NOW(k)] = 1
    :: else
    fi;
#ifndef BREAK_MARK_LATE /* after it has arrived, its reader may have looked already */
    atomic { mark() }
#endif
    arrive(2 * k - 1);
#ifdef BREAK_MARK_LATE
    atomic { mark() }
#endif
    round >= 2 * k - 1;
    assert(tally[NOW(k)] == k % 2);
#ifdef BREAK_TAKE_LATE /* the others may have marked the next meeting's mail by then */
    arrive(2 * k);
    take();
    read_letters()
#else
    take();
    read_letters();
    arrive(2 * k)
#endif
  }
}

init {
  byte i;
  atomic {
    for (i : 0 .. RANKS - 1) { run Rank(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
