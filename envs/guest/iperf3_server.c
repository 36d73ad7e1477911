/*
 * Mends iperf3's server (3.18). Preloaded into it.
 *
 * Its receiver waits for a whole block inside the kernel (MSG_WAITALL) where it would
 * call read(2) for every packet until the block is full, and leaves the payload there
 * (MSG_TRUNC of tcp(7)), which iperf3 only counts: the same bytes leave the socket at the
 * same time, and the guest saves two changes between kernel and process a packet, and
 * the copy. Only reads of whole blocks are touched; control connections read single
 * bytes. With SAWTOOTH_WAIT=process it reads as it does by itself.
 *
 * It gives up when the first bytes of a connection do not come within ten seconds
 * (Nread of net.c). Here it waits for as long as it takes.
 *
 * It answers the datagram that opens a stream of UDP once (iperf_udp_accept). Here it
 * answers each repetition, and does not take it for data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#define BLOCK_BYTES 65536
#define OPENING 0x36373839 /* UDP_CONNECT_MSG of iperf.h */
#define ANSWER 0x39383736 /* UDP_CONNECT_REPLY */
#define NREAD_TIMEOUT_S 10

/* Whether to wait for whole blocks, and the socket of the stream of UDP, of which a server has one. */
static int waits, datagrams = -1;

__attribute__((constructor)) static void begin(void)
{
	const char *wait = getenv("SAWTOOTH_WAIT");

	waits = !wait || strcmp(wait, "process");
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
	static int (*next)(int, fd_set *, fd_set *, fd_set *, struct timeval *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "select");
	if (timeout && !writes && timeout->tv_sec == NREAD_TIMEOUT_S && !timeout->tv_usec)
		timeout = NULL;
	return next(count, reads, writes, exceptions, timeout);
}

ssize_t recvfrom(int fd, void *buffer, size_t count, int flags, struct sockaddr *from, socklen_t *length)
{
	static ssize_t (*next)(int, void *, size_t, int, struct sockaddr *, socklen_t *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "recvfrom");
	datagrams = fd;
	return next(fd, buffer, count, flags, from, length);
}

ssize_t read(int fd, void *buffer, size_t count)
{
	static ssize_t (*next)(int, void *, size_t);
	const uint32_t answer = ANSWER;
	uint32_t opening;
	ssize_t got;

	if (count >= BLOCK_BYTES && waits)
		return recv(fd, buffer, count, MSG_WAITALL | MSG_TRUNC);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "read");
	for (;;) {
		got = next(fd, buffer, count);
		if (fd != datagrams || got != sizeof(opening))
			return got;
		memcpy(&opening, buffer, sizeof(opening));
		if (opening != OPENING)
			return got;
		send(fd, &answer, sizeof(answer), 0);
	}
}
