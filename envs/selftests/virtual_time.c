/*
 * Preloaded into packetdrill in the guest, whose clock stands still while a program computes: sleeping where it spins.
 * It spins on times(2) until the tick has changed ten times, and on sched_yield(2).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* A tick of times(2) has 10 ms. Its end is looked for in steps of 100 us, the wait before that is one. */
enum { STEP_NS = 100000, MOST_OF_TICK_NS = 9800000, YIELD_NS = 1000 };

static void nap(long ns)
{
	struct timespec time = { 0, ns };

	syscall(SYS_nanosleep, &time, 0);
}

clock_t times(struct tms *buffer)
{
	static clock_t last;
	static long wait = STEP_NS;
	struct tms own;
	clock_t now;

	nap(wait);
	now = syscall(SYS_times, buffer ? buffer : &own);
	wait = last && now != last ? MOST_OF_TICK_NS : STEP_NS;
	last = now;
	return now;
}

int sched_yield(void)
{
	nap(YIELD_NS);
	return 0;
}

/* Packets and errors come out in their order; the commands that a script starts are not preloaded. */
__attribute__((constructor)) static void begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	unsetenv("LD_PRELOAD");
}
