"""What carries a run out: platforms, guest and host, the hand-over of a run and its document."""
