"""Count the distinct bytes of a TCP stream; a retransmitted byte counts only once."""

from bisect import bisect_left, bisect_right


class SequenceNumbers:
    """The bytes seen so far, stored as ranges of sequence numbers; ``distinct`` is the number of these bytes."""

    def __init__(self):
        self.distinct, self._highest = 0, None
        self._begins, self._ends = [], []

    def add(self, number, length) -> int:
        """Add a segment with a 32-bit sequence number; return the number of its bytes that were not seen before.

        >>> seen = SequenceNumbers()
        >>> [seen.add(*one) for one in ((2**32 - 100, 200), (300, 100), (0, 100), (50, 300))]
        [200, 100, 0, 200]
        >>> seen.distinct
        500
        """
        begin = self._unwrapped(number)
        end = begin + length
        # All ranges that the segment overlaps or touches are merged into one.
        first, last = bisect_left(self._ends, begin), bisect_right(self._begins, end)
        known = sum(
            min(end, range_end) - max(begin, range_begin)
            for range_begin, range_end in zip(self._begins[first:last], self._ends[first:last], strict=True)
        )
        whole_begin = min([begin, *self._begins[first : first + 1]]) if first < last else begin
        whole_end = max([end, *self._ends[last - 1 : last]]) if first < last else end
        self._begins[first:last], self._ends[first:last] = [whole_begin], [whole_end]
        self.distinct += length - known
        return length - known

    def _unwrapped(self, number):
        """Return a 32-bit sequence number without wraparound: the candidate closest to the highest number so far."""
        if self._highest is None:
            self._highest = number
        ahead = (number - self._highest + 2**31) % 2**32 - 2**31
        unwrapped = self._highest + ahead
        self._highest = max(self._highest, unwrapped)
        return unwrapped
