"""Readings from the kernel: sockets, queues, deliveries, packets, idle RTTs, and CPU times."""
