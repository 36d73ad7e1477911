// SPDX-License-Identifier: GPL-2.0
/* A scalable sender for L4S, after the public description of TCP Prague
 * (draft-briscoe-iccrg-prague-congestion-control). It needs a kernel with
 * examples/l4s-ect1.patch, so that its data carry ECT(1).
 *
 * - Marks: once a round trip cwnd falls by half the smoothed share of marked
 *   packets (gain 1/16), as in DCTCP. AccECN counts each mark.
 * - Loss: cwnd is halved, as by Reno (RFC 9331, section 4.3).
 * - Growth: one segment a round trip, and less on paths shorter than 25 ms, so
 *   that flows get equal rates whatever their RTTs are (section 4.4).
 * - Pacing by TCP, so that no burst fills a shallow queue (section 4.7).
 *
 * Not Prague: it has no fall-back to classic behaviour behind a queue that
 * treats ECT(1) as ECT(0), and its window is in whole segments.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define ALPHA_SHIFT 20
#define GAIN_SHIFT 4
/* Below this RTT growth is that of a flow with it, in us << 3 as srtt_us. */
#define TARGET_SRTT (25000u << 3)
/* A segment of growth, in parts. */
#define SEGMENT 1024u

struct l4s {
	u32 next_seq;
	u32 delivered;
	u32 delivered_ce;
	u32 alpha;
	u32 grown;
	u32 prior_cwnd;
};

static void l4s_mark_round(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct l4s *l4s = inet_csk_ca(sk);

	l4s->next_seq = tp->snd_nxt;
	l4s->delivered = tp->delivered;
	l4s->delivered_ce = tp->delivered_ce;
}

static void l4s_init(struct sock *sk)
{
	struct l4s *l4s = inet_csk_ca(sk);

	l4s_mark_round(sk);
	l4s->alpha = 1u << ALPHA_SHIFT;
	l4s->grown = 0;
	l4s->prior_cwnd = 0;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static void l4s_in_ack_event(struct sock *sk, u32 flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct l4s *l4s = inet_csk_ca(sk);
	u32 delivered, marked;
	u64 share;

	if (before(tp->snd_una, l4s->next_seq))
		return;
	delivered = tp->delivered - l4s->delivered;
	marked = tp->delivered_ce - l4s->delivered_ce;
	share = (u64)min(marked, delivered) << ALPHA_SHIFT;
	share = delivered ? div_u64(share, delivered) : 0;
	l4s->alpha += (u32)(share >> GAIN_SHIFT) - (l4s->alpha >> GAIN_SHIFT);
	l4s_mark_round(sk);
}

static u32 l4s_ssthresh(struct sock *sk)
{
	struct l4s *l4s = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));
	u32 less = ((u64)cwnd * l4s->alpha) >> (ALPHA_SHIFT + 1);

	l4s->prior_cwnd = cwnd;
	l4s->grown = 0;
	return max(cwnd - less, 2U);
}

/* TCP asks for ssthresh before it says whether marks or losses were the
 * reason: after a loss it is corrected.
 */
static void l4s_react_to_loss(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct l4s *l4s = inet_csk_ca(sk);

	tp->snd_ssthresh = max(l4s->prior_cwnd >> 1, 2U);
}

static void l4s_set_state(struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Recovery &&
	    new_state != inet_csk(sk)->icsk_ca_state)
		l4s_react_to_loss(sk);
}

static void l4s_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_LOSS)
		l4s_react_to_loss(sk);
}

static void l4s_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct l4s *l4s = inet_csk_ca(sk);
	u64 step = SEGMENT;
	u32 srtt = tp->srtt_us;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	if (srtt && srtt < TARGET_SRTT)
		step = div_u64(div_u64(step * srtt, TARGET_SRTT) * srtt, TARGET_SRTT);
	/* So much for each window that was acknowledged. */
	l4s->grown += max_t(u32, step * acked / tcp_snd_cwnd(tp), 1);
	if (l4s->grown >= SEGMENT) {
		tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp) + l4s->grown / SEGMENT,
					 tp->snd_cwnd_clamp));
		l4s->grown %= SEGMENT;
	}
}

static u32 l4s_undo_cwnd(struct sock *sk)
{
	struct l4s *l4s = inet_csk_ca(sk);

	return max(tcp_snd_cwnd(tcp_sk(sk)), l4s->prior_cwnd);
}

static struct tcp_congestion_ops l4s __read_mostly = {
	.init		= l4s_init,
	.in_ack_event	= l4s_in_ack_event,
	.ssthresh	= l4s_ssthresh,
	.cong_avoid	= l4s_cong_avoid,
	.undo_cwnd	= l4s_undo_cwnd,
	.set_state	= l4s_set_state,
	.cwnd_event	= l4s_cwnd_event,
	.flags		= TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN |
			  TCP_CONG_ECT_1_NEGOTIATION,
	.owner		= THIS_MODULE,
	.name		= "l4s",
};

static int __init l4s_register(void)
{
	BUILD_BUG_ON(sizeof(struct l4s) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&l4s);
}

static void __exit l4s_unregister(void)
{
	tcp_unregister_congestion_control(&l4s);
}

module_init(l4s_register);
module_exit(l4s_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Scalable congestion control for L4S");
