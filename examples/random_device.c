/*
 * std::random_device of GNU's C++ library reads random numbers from the processor (RDRAND), which differ from run to run. This file
 * replaces the function that reads them: getrandom(2) returns numbers that follow from the run's seed.
 *
 *   cc -shared -fPIC -o my/mine/librandom.so examples/random_device.c
 *
 * The command of the program then begins with `env LD_PRELOAD={folder}/librandom.so` (docs/programs.md).
 */
#include <sys/random.h>

/* std::random_device::_M_getval() */
unsigned int _ZNSt13random_device9_M_getvalEv(void *self)
{
	unsigned int number;

	(void)self;
	getrandom(&number, sizeof(number), 0);
	return number;
}
