/*
 * Notices: a source raises them in a lane, one word that has the tag and how many it has ever raised there; the owner of
 * the lane takes them one by one, and says in a word of its own how many. A slot has one lane here. The source gives it
 * another tag only when all are taken; until then its post is refused, and tried again. Each notice has a word of the
 * post in front of it. `arrive` is the lane, `ready` what is taken.
 *
 * With TWO_SIDES the source stores the lane twice, for streams and for the host of the owner, in any order. Each side
 * counts what it takes by itself, and one side's lane may be behind what the other has taken.
 */
#define ONE_WAY
#define PLACES 4
#ifdef TWO_SIDES
#define CHAINS 2
#endif
#include "memory.pml"

#define NOTICES 3
#define TAG_OF(n) ((n) % 3 == 2) /* 0 1 0 */
#ifdef SAME_TAG
#undef TAG_OF
#define TAG_OF(n) ((n) == 3) /* 0 0 1: two are in the lane at once */
#endif

#ifdef BREAK_TAG_LATE /* two words, of which the count comes first */
#define LANE_TAG data[AT(0, 3)]
#define LANE_COUNT arrive[0]
#else
#define LANE_TAG (arrive[0] / 16)
#define LANE_COUNT (arrive[0] % 16)
#endif

#ifdef BREAK_NOT_TAKEN /* a lane gets another tag whether its notices are taken or not */
#define MAY_CHANGE true
#elif defined(TWO_SIDES)
#define MAY_CHANGE (ready[0] + ready[1] == count)
#else
#define MAY_CHANGE (ready[0] == count)
#endif

inline raise() {
#ifdef BREAK_TAG_LATE
  forth[0]!ARRIVE,count;
  forth[0]!3,tag
#elif defined(TWO_SIDES)
  if
  :: forth[0]!ARRIVE,(tag * 16 + count); forth[0]!ARRIVE + 1,(tag * 16 + count)
  :: forth[0]!ARRIVE + 1,(tag * 16 + count); forth[0]!ARRIVE,(tag * 16 + count)
  fi
#else
  forth[0]!ARRIVE,(tag * 16 + count)
#endif
}

inline post() { forth[0]!(n - 1),TAG(0, n) }

inline source() {
  byte tag, count;
  for (n : 1 .. NOTICES) {
    if
    :: count > 0 && tag == TAG_OF(n)
    :: MAY_CHANGE
    fi;
    tag = TAG_OF(n);
    count++;
#ifdef BREAK_ORDER
    raise();
    post()
#else
    post();
    raise()
#endif
  }
}

#ifdef BREAK_OTHER_SIDE /* a side knows only what it has taken itself */
#define TAKEN by[side]
#else
#define TAKEN (by[0] + by[1])
#endif
#ifdef BREAK_BEHIND /* a lane that is behind differs from what is taken, too */
#define HAS_NOTICES (arrive[side] % 16 != TAKEN)
#else
#define HAS_NOTICES (arrive[side] % 16 > TAKEN)
#endif

inline owner_of_two_sides() {
  byte by[2], side;
  for (n : 1 .. NOTICES) {
    if
    :: side = 0
    :: side = 1
    fi;
    HAS_NOTICES;
    assert(arrive[side] / 16 == TAG_OF(n));
    assert(data[AT(0, n - 1)] == TAG(0, n));
    by[side]++;
    back[0]!READY + side,by[side]
  }
  (arrive[0] % 16 == NOTICES && arrive[1] % 16 == NOTICES)
}

inline owner() {
  byte taken, word;
  for (n : 1 .. NOTICES) {
#ifdef BREAK_READ_EARLY /* without acquire, what was posted may be loaded before the lane is */
    word = data[AT(0, n - 1)];
#endif
    (LANE_COUNT != taken);
    assert(LANE_TAG == TAG_OF(n));
#ifndef BREAK_READ_EARLY
    word = data[AT(0, n - 1)];
#endif
    assert(word == TAG(0, n));
    taken++;
    back[0]!READY,taken
  }
  assert(LANE_COUNT == taken)
}

proctype Rank(byte me) {
  byte n;
  if
  :: me == 0 -> source()
#ifdef TWO_SIDES
  :: else -> owner_of_two_sides()
#else
  :: else -> owner()
#endif
  fi
}
