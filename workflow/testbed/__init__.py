"""The network under test: the code that runs inside the container and its guest kernel.

`python3 -m testbed` (``__main__``) takes one run specification and writes one
run document. It starts a platform (``uml``); inside it, ``guest`` executes the steps
of a run: ``topology`` and ``links`` build the network, ``transport`` sets up the
TCP stack, ``probes`` measures the network, ``traffic`` sends, ``verification`` judges. The subpackages are
``network``, ``traffic``, ``readings``, ``checks`` and ``machine``. Terms shared with the workflow are in ``experiment``.

Common arguments: ``specification`` (an `experiment.specification.RunSpecification`), ``path`` (a
`network.topology.NetworkPath`), ``node`` (a `network.bare_host.BareHost`) and ``client`` (a `traffic.traffic.Client`).
"""
