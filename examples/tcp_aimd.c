// SPDX-License-Identifier: GPL-2.0-only
/*
 * AIMD with parameters: congestion avoidance adds `increase` segments per round trip, and a loss reduces cwnd to
 * `decrease` percent of its value. With 1 and 50, it is Reno (RFC 5681). An example to start from: copy it, rename
 * the file, the CCA and its functions, and change what you like. See "Your own algorithm" in README.md.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int increase __read_mostly = 1;
module_param(increase, uint, 0644);
MODULE_PARM_DESC(increase, "segments added each round trip");

static unsigned int decrease __read_mostly = 50;
module_param(decrease, uint, 0644);
MODULE_PARM_DESC(decrease, "percent of cwnd that a loss leaves");

/* Called at each acknowledgement that covers new data. */
static void aimd_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	/* One more segment each time this many segments were acknowledged. */
	tcp_cong_avoid_ai(tp, max(tcp_snd_cwnd(tp) / max(increase, 1U), 1U), acked);
}

/* Called at a loss; returns the value that cwnd is reduced to. */
static u32 aimd_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) * min(decrease, 100U) / 100U, 2U);
}

static struct tcp_congestion_ops tcp_aimd __read_mostly = {
	.cong_avoid	= aimd_cong_avoid,
	.ssthresh	= aimd_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "aimd",
};

static int __init aimd_register(void)
{
	return tcp_register_congestion_control(&tcp_aimd);
}

module_init(aimd_register);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("AIMD with parameters");
