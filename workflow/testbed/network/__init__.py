"""The network under test: hosts, links, queues, paths, and what changes on them."""
