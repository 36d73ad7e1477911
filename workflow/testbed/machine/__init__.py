"""Execution of a run: platforms, guest and host, the hand-over of the specification and the document."""
