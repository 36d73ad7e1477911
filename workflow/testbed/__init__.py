"""The network under test: what runs inside the container and its guest kernel.

`python3 -m testbed` (``__main__``) takes one run specification and writes one
run document. It starts a platform (``uml``); inside, ``guest`` walks the steps
of a run: ``topology`` and ``links`` build the network, ``transport`` sets the
TCP stack, ``readback`` and ``probes`` measure what was built, ``traffic`` sends,
``verification`` judges.
"""
