"""Readings from the kernel: sockets, queues, deliveries, RTTs of the empty path, processors."""
