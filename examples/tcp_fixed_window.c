// SPDX-License-Identifier: GPL-2.0-only
/*
 * No congestion control: cwnd is always `window` segments, whatever is lost or marked. The default is ten bandwidth-delay
 * products of 20 Mbit/s and 40 ms. Its purpose is to fail an exam (RFC 9743): never use it on other people's networks.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int window __read_mostly = 660;
module_param(window, uint, 0644);
MODULE_PARM_DESC(window, "segments of cwnd");

/* Called at each acknowledgement, instead of TCP's own control of cwnd. */
static void fixed_window_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	tcp_snd_cwnd_set(tcp_sk(sk), max(window, 1U));
}

/* Called at a loss; returns the slow-start threshold. */
static u32 fixed_window_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static struct tcp_congestion_ops tcp_fixed_window __read_mostly = {
	.cong_control	= fixed_window_cong_control,
	.ssthresh	= fixed_window_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "fixed_window",
};

static int __init fixed_window_register(void)
{
	return tcp_register_congestion_control(&tcp_fixed_window);
}

module_init(fixed_window_register);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("No congestion control");
