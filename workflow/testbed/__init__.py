"""The testbed: the program that builds the emulated network and executes a run.

`python3 -m testbed` (``__main__``) reads a run specification and writes a run document. It first starts a platform, such as ``uml``.
Inside the platform, ``guest`` executes the steps of the run: ``topology`` and ``links`` build the network, ``transport`` sets up the
TCP stack, ``probes`` measures the network, ``traffic`` generates the traffic, and ``verification`` judges the run.

The subpackages are ``network``, ``traffic``, ``readings``, ``checks`` and ``machine``. Code that the
testbed shares with the workflow is in ``experiment``.

Common arguments: ``specification`` (an `experiment.specification.RunSpecification`), ``path`` (a
`network.topology.NetworkPath`), ``node`` (a `network.bare_host.BareHost`) and ``client`` (a `traffic.client_plan.Client`).
"""
