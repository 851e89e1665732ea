/*
 * An immediate put over MPI, and the signal behind it. Messages of different kinds may overtake each other; the signal is sent
 * once its target has said that the put is stored.
 */
#define STEPS 3
#define JUNK 255

byte place[2]; /* the target's; the two alternate, since nothing guards an immediate put */
chan puts = [4] of { byte, byte };
chan signals = [4] of { byte };
chan stored = [4] of { byte };
chan answers = [4] of { byte };

#define STORE_ARRIVED \
  atomic { puts?at,value -> place[at] = value; stored!at }

active proctype Sender() {
  byte n, at;
  for (n : 1 .. STEPS) {
    puts!(n % 2),n;
#ifdef BREAK_NO_CONFIRMATION
    signals!n;
    stored?at;
#else
    stored?at;
    signals!n;
#endif
    answers?eval(n)
  }
}

/* It stores what has arrived while it waits, before or after it sees the signal. */
active proctype Target() {
  byte n, at, value;
  bool seen;
  for (n : 1 .. STEPS) {
    seen = false;
    do
    :: STORE_ARRIVED
    :: !seen && len(signals) > 0 -> signals?eval(n); seen = true
    :: seen -> break
    od;
    assert(place[n % 2] == n);
#ifdef BREAK_NO_CONFIRMATION
    do
    :: STORE_ARRIVED
    :: len(stored) + len(puts) == 0 -> break
    :: len(stored) > 0 -> break
    od;
#endif
    answers!n
  }
}

init {
end:
accept:
  false
}
