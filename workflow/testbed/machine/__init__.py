"""Execution of a run: platforms, guest and host, and the handover of the specification and the document."""
