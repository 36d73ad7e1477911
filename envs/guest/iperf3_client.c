/*
 * Mends four things of iperf3's client (3.18). Preloaded into it.
 *
 * After the last byte it waits for the server's answer with timers that nobody runs
 * any more: once one of them is due, it polls without a pause (esnet/iperf issue 2018),
 * which under a virtual clock takes minutes where the answer waits behind a long queue.
 * Here a poll that follows one in vain waits until there is something, or a second.
 *
 * Its control connection goes where its data go, and a path that loses nearly all
 * packets loses the run with it. With SAWTOOTH_CONTROL, an address of the server
 * on another network, the first connection, which is the control connection, goes there.
 *
 * It gives up when a message of the other side does not come within ten seconds (Nread of
 * net.c). Here it waits for as long as it takes.
 *
 * It sends the datagram that opens a stream of UDP once (iperf_udp_connect), and gives up
 * after thirty seconds without an answer. Here it sends it each second until there is one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>

#define OPENING 0x36373839 /* UDP_CONNECT_MSG of iperf.h */
#define NREAD_TIMEOUT_S 10

int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
	static int (*next)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	static __thread int polled_in_vain;
	struct timeval patience = { .tv_sec = 1 };
	int polls, ready;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "select");
	if (timeout && !writes && timeout->tv_sec == NREAD_TIMEOUT_S && !timeout->tv_usec)
		timeout = NULL;
	polls = timeout && !timeout->tv_sec && !timeout->tv_usec;
	ready = next(count, reads, writes, exceptions, polls && polled_in_vain ? &patience : timeout);
	polled_in_vain = polls && !ready;
	return ready;
}

ssize_t recv(int fd, void *buffer, size_t count, int flags)
{
	static ssize_t (*next)(int, void *, size_t, int);
	struct pollfd answer = { .fd = fd, .events = POLLIN };
	const uint32_t opening = OPENING;
	int type = 0;
	socklen_t size = sizeof(type);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "recv");
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	if (type == SOCK_DGRAM && count == sizeof(opening))
		while (!poll(&answer, 1, 1000))
			send(fd, &opening, sizeof(opening), 0);
	return next(fd, buffer, count, flags);
}

/* The text's address in place of the one in `address`, of the same family. */
static void replace(struct sockaddr_storage *address, const char *text)
{
	void *place = address->ss_family == AF_INET ? (void *)&((struct sockaddr_in *)address)->sin_addr :
						      (void *)&((struct sockaddr_in6 *)address)->sin6_addr;

	if (inet_pton(address->ss_family, text, place) != 1)
		abort();
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static int (*next)(int, const struct sockaddr *, socklen_t);
	static int connected;
	const char *control = getenv("SAWTOOTH_CONTROL");
	struct sockaddr_storage elsewhere;
	int type = 0;
	socklen_t size = sizeof(type);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "connect");
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	if (!control || connected || type != SOCK_STREAM ||
	    (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return next(fd, address, length);
	connected = 1;
	__builtin_memcpy(&elsewhere, address, length);
	replace(&elsewhere, control);
	return next(fd, (struct sockaddr *)&elsewhere, length);
}
