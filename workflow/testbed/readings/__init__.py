"""What is read of the kernel: sockets, queues, deliveries, times of the empty path, processors."""
