"""Platform ``ns3``: runs in the ns-3 simulator."""
