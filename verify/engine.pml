/*
 * The resident engine's leaving and coming back. The host rings command after command, up to two ahead of those that are
 * done; a kernel rings in a ring of its own, one at a time. The engine obeys each ring in order and may find that it has
 * been idle for too long at any moment. Then it says that it leaves (the host) and is not awake (kernels), looks at both rings
 * a last time, and stays or ends. The host, once it has rung, looks whether it is still there, and launches it again when it
 * is not and has not obeyed the command before it went. The kernel cannot launch it: it calls, and a relauncher does.
 * Every command is obeyed once, and there are never two engines.
 *
 * Stores go through a buffer on each side, in order: that the engine sleeps and that the kernel calls are releases, whose readers
 * acquire. A sequentially consistent fence waits until it is empty.
 */
#define COMMANDS 3
#define KERNEL_COMMANDS 2
#define AHEAD 2

mtype = {ended, leaving, running, asleep, awake};

byte bell;            /* the last command rung, in the host's memory like the state */
byte kernel_bell;
mtype state = ended;
mtype listens = asleep;
bool call;
chan host_stores = [AHEAD] of {byte};
chan kernel_stores = [1] of {byte};
byte last, kernel_last; /* that the engine had obeyed when it ended */
chan engine_stores = [4] of {mtype, byte, byte};
byte obeyed, kernel_obeyed;
byte engines;
bool launching; /* a lock */

active proctype HostBuffer() {
end:
  do
  :: atomic { host_stores ? bell }
  od
}

active proctype KernelBuffer() {
end:
  do
  :: atomic { kernel_stores ? kernel_bell }
  od
}

active proctype EngineBuffer() {
  mtype what;
  byte h, k;
end:
  do
  :: atomic {
       engine_stores ? what, h, k;
       if
       :: what == asleep || what == awake -> listens = what
       :: else ->
         state = what;
         if
         :: what == ended -> last = h; kernel_last = k
         :: else
         fi
       fi
     }
  od
}

proctype Engine(byte seen, kernel_seen) {
  bool more;
  engine_stores ! awake, 0, 0;
  do
  :: bell > seen ->
    seen++;
    assert(obeyed == seen - 1);
    obeyed = seen
  :: kernel_bell > kernel_seen ->
    kernel_seen++;
    assert(kernel_obeyed == kernel_seen - 1);
    kernel_obeyed = kernel_seen
  :: true -> /* idle for too long */
    engine_stores ! leaving, 0, 0;
    engine_stores ! asleep, 0, 0;
#ifndef BREAK_ENGINE_FENCE
    empty(engine_stores);
#endif
#ifdef BREAK_LAST_LOOK
    more = false;
#else
#ifdef BREAK_KERNELS_LOOK
    more = bell > seen;
#else
    more = bell > seen || kernel_bell > kernel_seen;
#endif
#endif
    if
    :: more ->
      engine_stores ! awake, 0, 0;
      engine_stores ! running, 0, 0
    :: else -> break
    fi
  od;
  engines--;
  engine_stores ! ended, seen, kernel_seen
}

/* By who holds the lock. */
inline launch() {
  assert(engines == 0 && obeyed == last && kernel_obeyed == kernel_last);
  state = running;
  engines++;
  run Engine(last, kernel_last)
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
    atomic { !launching -> launching = true };
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
      assert(obeyed == n - 1);
      launch()
    :: else
    fi;
    launching = false
  }
  obeyed == COMMANDS
}

active proctype Kernel() {
  byte n;
  for (n : 1 .. KERNEL_COMMANDS) {
    kernel_stores ! n;
#ifndef BREAK_KERNEL_FENCE
    empty(kernel_stores);
#endif
    if
    :: listens == asleep -> call = true
    :: else
    fi;
    kernel_obeyed == n
  }
}

active proctype Caretaker() {
  mtype found;
end:
  do
  :: call ->
#ifndef BREAK_CALL
    call = false;
#endif
    atomic { !launching -> launching = true };
    atomic { state != leaving -> found = state };
    if
    :: found == ended -> launch()
    :: else
    fi;
    launching = false;
#ifdef BREAK_CALL
    call = false
#endif
  od
}
