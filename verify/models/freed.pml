/*
 * The end of a region that others post into. A source says that it is storing (an odd turn) before it looks whether the
 * region lives, and says that it is through after its stores. The owner takes the region from the board, and then waits
 * until the turn that it finds is over; then the memory is something else. The odd turn and the end of the region are
 * sequentially consistent: each is seen before its writer loads the other word. Everything else that the source stores
 * leaves through a buffer, where the word of a post may land at any time, and the even turn only after it.
 */
#define POSTS 3
#define WORD 1
#define TURN 2
#define OWN 100

bool live = true, is_through;
byte turns, memory;
chan buffer = [8] of { byte, byte };

#ifdef BREAK_RELAXED /* the even turn may overtake the word before it */
#define LANDS ??
#else
#define LANDS ?
#endif

proctype Memory() {
end:
  do
  :: buffer??WORD,memory
  :: buffer LANDS TURN,turns
  od
}

inline enter() {
  turn++;
#ifdef BREAK_PLAIN_STORE /* the odd turn may land after the load of the board */
  buffer!TURN,turn
#else
  atomic { empty(buffer) -> turns = turn }
#endif
}

inline leave() {
  turn++;
  buffer!TURN,turn
}

proctype Source() {
  byte n, turn;
  bool lives;
  for (n : 1 .. POSTS) {
#ifdef BREAK_LOOK_FIRST
    lives = live;
    enter();
#else
    enter();
    lives = live;
#endif
    if
    :: lives -> buffer!WORD,n
    :: else /* refused */
    fi;
    leave()
  }
  is_through = true
}

proctype Owner() {
  byte seen;
#ifdef BREAK_WAIT_FIRST
  seen = turns;
  (seen % 2 == 0 || turns != seen);
  live = false;
#else
  live = false;
#ifndef BREAK_NO_WAIT
  seen = turns;
  (seen % 2 == 0 || turns != seen);
#endif
#endif
  memory = OWN;
  (is_through && empty(buffer));
  assert(memory == OWN)
}

init {
  atomic {
    run Memory();
    run Source();
    run Owner()
  }
end:
accept: /* as in memory.pml: any cycle at all is an acceptance cycle */
  false
}
