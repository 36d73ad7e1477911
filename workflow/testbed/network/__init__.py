"""The network under test: hosts, links, queues, and paths that may change."""
