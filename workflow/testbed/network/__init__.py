"""The network under test: hosts, links, queues, paths and their changes."""
