// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of TCP's functions as lines of the trace buffer: "> name" at the begin,
 * "< name" at the end. The compiler calls both functions below
 * (-finstrument-functions, tracing.patch).
 *
 * /sys/module/trace_functions/parameters/globs: names of functions, with * and
 * ?, separated by commas; without any, nothing is recorded.
 */
#include <linux/glob.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#if __has_include(<linux/trace_printk.h>)
#include <linux/trace_printk.h>
#endif

#define BITS 12

/* What is known of a function already: whether it is asked for, and its name. */
struct known {
	void *function;
	bool asked;
	char name[KSYM_NAME_LEN];
};

static char globs[4000];
static struct known *known[1 << BITS];

/* Prototypes: no header has them. */
void notrace __cyg_profile_func_enter(void *function, void *caller);
void notrace __cyg_profile_func_exit(void *function, void *caller);

static bool is_asked(const char *name)
{
	char glob[KSYM_NAME_LEN];
	const char *from = globs;

	while (*from) {
		size_t length = strcspn(from, ",\n");

		if (length < sizeof(glob)) {
			memcpy(glob, from, length);
			glob[length] = '\0';
			if (length && glob_match(glob, name))
				return true;
		}
		from += length + !!from[length];
	}
	return false;
}

/* There are far fewer functions than places, and no interrupt comes but to an idle guest. */
static struct known *known_of(void *function)
{
	unsigned int place = hash_ptr(function, BITS);
	struct known *one;

	for (; known[place]; place = (place + 1) % (1 << BITS))
		if (known[place]->function == function)
			return known[place];
	one = kzalloc(sizeof(*one), GFP_ATOMIC);
	if (!one)
		return NULL;
	one->function = function;
	sprint_symbol_no_offset(one->name, (unsigned long)function);
	/* What the compiler makes of a function is called name.isra.0, name.part.1, ... */
	*strchrnul(one->name, '.') = '\0';
	one->asked = is_asked(one->name);
	known[place] = one;
	return one;
}

static void record(char sign, void *function)
{
	char line[KSYM_NAME_LEN + 4];
	struct known *one = known_of(function);

	if (one && one->asked) {
		scnprintf(line, sizeof(line), "%c %s\n", sign, one->name);
		__trace_puts((unsigned long)function, line);
	}
}

void notrace __cyg_profile_func_enter(void *function, void *caller)
{
	if (unlikely(globs[0]))
		record('>', function);
}

void notrace __cyg_profile_func_exit(void *function, void *caller)
{
	if (unlikely(globs[0]))
		record('<', function);
}

module_param_string(globs, globs, sizeof(globs), 0600);
