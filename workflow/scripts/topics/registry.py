"""All topics, in the order of the report's questions and findings: each folder here with a ``topic.py`` is a topic."""

from importlib import import_module
from pathlib import Path

from topics.topic import Topic

TOPICS: tuple[Topic, ...] = tuple(
    sorted(
        (import_module(f"topics.{path.parent.name}.topic").TOPIC for path in Path(__file__).parent.glob("*/topic.py")),
        key=lambda topic: (topic.order, topic.name),
    )
)
