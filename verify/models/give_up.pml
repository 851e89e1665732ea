/*
 * Waits of a device end although a partner has stopped for good: who has waited too long gives up, and nobody is left at
 * a barrier. Two members of one rank, lanes of a block or blocks of a grid, lack a signal each; whether the limit has
 * passed may look different to each. They meet in every step, and go on or end together.
 *
 * Without WORD the barrier itself says whether all are good (a vote of a warp or a block). With WORD it does not (a
 * grid): who gives up writes a word before the barrier of wait, all read it behind that and before the barrier of start.
 */
#ifndef STEPS
#define STEPS 4
#endif
#define MEMBERS 2

byte signal[MEMBERS];
byte here, round, against;
bool verdict[2]; /* of the barrier, by round */
bool failed;     /* the word */

/* The partner may stop after any signal. */
proctype Partner() {
  byte n, to;
  for (n : 1 .. STEPS) {
    for (to : 0 .. MEMBERS - 1) {
      if
      :: signal[to] = n
      :: goto stopped
      fi
    }
  }
stopped:
  skip
}

inline meet() {
  atomic {
    mine = round;
    here++;
    against = against + (good -> 0 : 1);
    if
    :: here == MEMBERS -> verdict[round % 2] = (against == 0); here = 0; against = 0; round++
    :: else
    fi
  }
  round != mine
}

proctype Member(byte me) {
  byte n, mine;
  bool good = true;
  for (n : 1 .. STEPS) {
#if defined(WORD) && !defined(BREAK_ONE_BARRIER)
    meet(); /* in start */
#endif
    if
    :: signal[me] >= n
    :: good = false /* the limit may pass at any moment */
    fi;
#ifdef BREAK_LEAVES
    if
    :: !good -> break
    :: else
    fi;
#endif
#ifdef WORD
    if
    :: !good -> failed = true
    :: else
    fi;
    meet();
    good = !failed;
#else
    meet();
#ifndef BREAK_OWN_VERDICT
    good = verdict[mine % 2];
#endif
#endif
    if
    :: !good -> break
    :: else
    fi;
    assert(signal[0] >= n && signal[1] >= n) /* all that this step brings is there */
  }
}

init {
  byte i;
  atomic {
    run Partner();
    for (i : 0 .. MEMBERS - 1) { run Member(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
