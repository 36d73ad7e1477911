/*
 * Lets an FTP server use MPTCP: vsftpd wants urgent data in line (SO_OOBINLINE, for
 * a client's ABOR) and gives up without it, and Linux's MPTCP sockets, which have no
 * urgent data at all, refuse the option. The refusal is hidden, everything else passes.
 * Preloaded into the server.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	static int (*next)(int, int, int, const void *, socklen_t);
	int status;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "setsockopt");
	status = next(fd, level, name, value, length);
	if (status && level == SOL_SOCKET && name == SO_OOBINLINE && (errno == EOPNOTSUPP || errno == ENOPROTOOPT))
		return 0;
	return status;
}
