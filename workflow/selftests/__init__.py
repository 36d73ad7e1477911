"""The kernel's own tests: packetdrill scripts, each in a separate guest kernel with a virtual clock."""
