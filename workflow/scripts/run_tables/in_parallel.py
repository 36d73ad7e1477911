"""Apply a function to many items in several processes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

#: Number of results per process that may wait until the caller takes them. The limit bounds the memory.
AHEAD = 4

_function = None


def in_order(function: Callable, items: Iterable, processes: int) -> Iterator:
    """Yield the result of ``function`` for each item, in the items' order.

    With more than one process, the results and raised exceptions are pickled, but not the function: it may be any callable object.
    """
    if processes == 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(processes, get_context("fork"), _begin, (function,)) as pool:
        waiting = deque()
        for item in items:
            waiting.append(pool.submit(_apply, item))
            if len(waiting) > AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _begin(function):
    """Store the function in a worker process of the pool."""
    global _function
    _function = function


def _apply(item):
    return _function(item)
