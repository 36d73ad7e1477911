/*
 * Answers getrandom(2) of the guest kernel's process from the run's seed, so
 * that the guest's random pool (initial sequence numbers, ports, hashes) is
 * the same in every execution of a run. Preloaded; the seed is the decimal
 * number in SAWTOOTH_GUEST_SEED. Generator: SplitMix64 (Steele et al., 2014).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static uint64_t state;
static int seeded;

static void read_seed(void)
{
	const char *text = getenv("SAWTOOTH_GUEST_SEED");
	char *end = NULL;

	if (text && *text)
		state = strtoull(text, &end, 10);
	if (!end || *end) {
		fputs("getrandom: SAWTOOTH_GUEST_SEED is not a decimal number\n", stderr);
		abort();
	}
	seeded = 1;
}

static uint64_t next_word(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;
	uint64_t word = 0;

	(void)flags;
	if (!seeded)
		read_seed();
	for (size_t i = 0; i < length; i++) {
		if (i % 8 == 0)
			word = next_word();
		bytes[i] = word >> (8 * (i % 8));
	}
	return length;
}
