#!/bin/bash
# The path h1 - r1 - r2 - h2 of the testbed on the machine's own kernel, without emulation and
# without segmentation offload; prints iperf3's JSON of 5 s. Needs a user and a network
# namespace of its own around it (unshare --user --map-root-user --net --mount).
set -euo pipefail
declare -A node
for name in h1 r1 r2 h2; do
    unshare --net sleep 60 &
    node[$name]=$!
done
trap 'kill "${node[@]}" 2>/dev/null || true' EXIT
sleep 0.3

on() { nsenter --net="/proc/${node[$1]}/ns/net" "${@:2}"; }

join() { # NODE INTERFACE ADDRESS NODE INTERFACE ADDRESS
    ip link add "$2" type veth peer name "$5"
    ip link set "$2" netns "${node[$1]}"
    ip link set "$5" netns "${node[$4]}"
    for end in "$1 $2 $3" "$4 $5 $6"; do
        # shellcheck disable=SC2086
        set -- $end
        on "$1" ip address add "$3" dev "$2"
        on "$1" ip link set "$2" up
        on "$1" ethtool -K "$2" tso off gso off gro off >/dev/null
    done
}

join h1 h1-eth0 10.0.1.2/24 r1 r1-eth0 10.0.1.1/24
join r1 r1-eth1 10.0.12.1/24 r2 r2-eth1 10.0.12.2/24
join r2 r2-eth0 10.0.2.1/24 h2 h2-eth0 10.0.2.2/24
for router in r1 r2; do
    on "$router" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
done
on h1 ip route add default via 10.0.1.1
on h2 ip route add default via 10.0.2.1
on r1 ip route add 10.0.2.0/24 via 10.0.12.2
on r2 ip route add 10.0.1.0/24 via 10.0.12.1
on h2 iperf3 --server --one-off >/dev/null &
sleep 0.3
on h1 iperf3 --client 10.0.2.2 --time 5 --json
