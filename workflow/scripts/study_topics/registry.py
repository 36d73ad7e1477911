"""The topics there are, in the order of the report: a line each."""

from study_topics import buffers, fairness, multipath, packet_size, platforms, time_series

TOPICS = (time_series.TOPIC, fairness.TOPIC, buffers.TOPIC, platforms.TOPIC, packet_size.TOPIC, multipath.TOPIC)
