/*
 * Sets a receive low-water mark (SO_RCVLOWAT) on iperf3's data connections, so
 * that the receiver wakes for SAWTOOTH_RECEIVE_LOW_WATER bytes and not for every
 * packet. Preloaded into the server. A data connection is a TCP socket that a
 * whole block is read from; control connections read single bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BLOCK_BYTES 65536
#define DESCRIPTORS 1024

static unsigned char marked[DESCRIPTORS];

static void mark(int fd, size_t count)
{
	const char *text;
	int bytes;

	if (count < BLOCK_BYTES || fd < 0 || fd >= DESCRIPTORS || marked[fd])
		return;
	marked[fd] = 1;
	text = getenv("SAWTOOTH_RECEIVE_LOW_WATER");
	bytes = text ? atoi(text) : 0;
	if (bytes > 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

ssize_t read(int fd, void *buffer, size_t count)
{
	static ssize_t (*next)(int, void *, size_t);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "read");
	mark(fd, count);
	return next(fd, buffer, count);
}

ssize_t recv(int fd, void *buffer, size_t count, int flags)
{
	static ssize_t (*next)(int, void *, size_t, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "recv");
	mark(fd, count);
	return next(fd, buffer, count, flags);
}
