/*
 * The resident engine's leaving and coming back. The host rings command after command, up to two ahead of those that are
 * done; the engine obeys them in order and may find that it has been idle for too long at any moment. Then it says that it
 * leaves, looks at the bell a last time, and stays or ends; the host, once it has rung, looks whether it is still
 * there, and launches it again when it is not and has not obeyed the command before it went. Every command is obeyed once,
 * and there are never two engines.
 *
 * Stores go through a buffer on either side; a sequentially consistent fence waits until it is empty.
 */
#define COMMANDS 4
#define AHEAD 2

mtype = {ended, leaving, running};

byte bell;            /* the last command rung, in the host's memory like the state */
mtype state = ended;
chan host_stores = [AHEAD] of {byte};
byte last; /* that the engine had obeyed when it ended */
chan engine_stores = [2] of {mtype, byte};
byte obeyed;
byte engines;

active proctype HostBuffer() {
end:
  do
  :: atomic { host_stores ? bell }
  od
}

active proctype EngineBuffer() {
end:
  do
  :: atomic { engine_stores ? state, last }
  od
}

proctype Engine(byte seen) {
  bool more;
  do
  :: bell > seen ->
    seen++;
    assert(obeyed == seen - 1);
    obeyed = seen
  :: true -> /* idle for too long */
    engine_stores ! leaving, 0;
#ifndef BREAK_ENGINE_FENCE
    empty(engine_stores);
#endif
#ifdef BREAK_LAST_LOOK
    more = false;
#else
    more = bell > seen;
#endif
    if
    :: more -> engine_stores ! running, 0
    :: else -> break
    fi
  od;
  engines--;
  engine_stores ! ended, seen
}

active proctype Host() {
  byte n;
  mtype found;
  for (n : 1 .. COMMANDS) {
    obeyed + AHEAD >= n;
    host_stores ! n;
#ifndef BREAK_HOST_FENCE
    empty(host_stores);
#endif
#ifdef BREAK_WAIT
    found = state;
#else
    atomic { state != leaving -> found = state };
#endif
    if
#ifdef BREAK_LAST
    :: found == ended ->
#else
    :: found == ended && last != n ->
#endif
      assert(engines == 0 && obeyed == n - 1);
      state = running;
      engines++;
      run Engine(n - 1)
    :: else
    fi
  }
  obeyed == COMMANDS
}
