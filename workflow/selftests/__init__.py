"""The kernel's own tests: packetdrill's scripts, each in a guest kernel of its own with a virtual clock."""
