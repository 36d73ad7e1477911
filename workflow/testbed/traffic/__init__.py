"""The traffic: programs that send and receive."""
