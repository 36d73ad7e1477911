"""The network under test: what runs inside the container and its guest kernel.

`python3 -m testbed` (``__main__``) takes one run specification and writes one
run document. It starts a platform (``uml``); inside, ``guest`` walks the steps
of a run: ``topology`` and ``links`` build the network, ``transport`` sets the
TCP stack, ``probes`` measures what was built, ``traffic`` sends, ``verification`` judges. Its rooms:
``network``, ``traffic``, ``readings``, ``checks``, ``machine``. The words that it shares with the workflow are in ``experiment``.

Arguments of many functions: ``specification`` is an `experiment.specification.RunSpecification`, ``path`` a
`network.topology.NetworkPath`, ``node`` a `network.bare_host.BareHost`, ``client`` a `traffic.traffic.Client`.
"""
