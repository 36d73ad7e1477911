"""Place labels near their marks, within the panel.

Labels are placed in the given order. The candidate positions of a label lie on rings around its marks, and the position with the lowest
cost is chosen: distance costs little; covering marks or other labels costs much more. The method is deterministic: the same marks give the
same positions.
"""

import math

import numpy as np

from figure_parts.scenario_panels import LETTER_SHARE

RINGS_PT = (8, 12, 17, 23, 30, 38, 48, 60, 74, 90)
DIRECTIONS = 16
LINE_HEIGHT = 1.1
# Costs of a position, in points of distance: per overlapping label, per covered mark, per covered dot, and per crossing with a line.
OVERLAP, MARK, DOT, CROSSING = 1000.0, 60.0, 3.0, 80.0
# Half the size of a mark, in points.
MARK_PT = 4.0
# Maximum number of dots to consider; more dots don't change which positions are free.
DOTS_LOOKED_AT = 400


def place_labels(texts, marks, dots, width, height, size, dot_cost=DOT) -> list[tuple[float, float, float, float]]:
    """Return the position of each label in points: x and y of its centre, then x and y of the mark that it names.

    Parameters
    ----------
    texts : list of str
        Labels, in the order in which they are placed.
    marks : list of array of float, shape (k, 2)
        Marks of each label, in points from the plot's lower left corner; the label is placed near one of its marks.
    dots : array of float, shape (n, 2)
        Points that labels should preferably not cover.
    width, height : float
        Size of the panel's plot, in points.
    size : float
        Type size, in points.
    dot_cost : float
        Additional distance in points that is accepted to avoid covering a dot.
    """
    dots = dots[:: max(1, math.ceil(len(dots) / DOTS_LOOKED_AT))]
    everything = np.concatenate(marks) if marks else np.empty((0, 2))
    taken, leaders, places = np.empty((0, 4)), np.empty((0, 2)), []
    for text, own in zip(texts, marks, strict=True):
        half = np.array([LETTER_SHARE * size * len(text) / 2, LINE_HEIGHT * size / 2])
        centres, anchors, distance = _candidates(own, half, width, height)
        boxes = np.hstack([centres - half, centres + half])
        cost = distance + OVERLAP * _overlaps(boxes, taken)
        cost += MARK * _inside(boxes, everything, MARK_PT) + dot_cost * _inside(boxes, dots, 1.0)
        cost += CROSSING * _inside(boxes, leaders, 0.5)
        cost += CROSSING * _crossings(anchors, centres, taken)
        best = int(np.argmin(cost))
        places.append((*map(float, centres[best]), *map(float, anchors[best])))
        taken = np.vstack([taken, boxes[best]])
        leaders = np.vstack([leaders, _along(anchors[best : best + 1], centres[best : best + 1])[0]])
    return places


def _candidates(marks, half, width, height):
    # Candidate positions lie on rings around the label's own marks, and are moved inwards if the label would extend beyond the plot.
    angles = np.arange(DIRECTIONS) * 2 * math.pi / DIRECTIONS
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = np.concatenate([around * ring + around * half for ring in RINGS_PT])
    centres = (marks[:, None, :] + rings[None, :, :]).reshape(-1, 2)
    anchors = np.repeat(marks, len(rings), axis=0)
    inside = np.clip(centres, half, np.maximum([width, height] - half, half))
    return inside, anchors, np.hypot(*(inside - anchors).T)


def _overlaps(boxes, taken):
    if not len(taken):
        return np.zeros(len(boxes))
    wide = np.minimum(boxes[:, None, 2], taken[:, 2]) - np.maximum(boxes[:, None, 0], taken[:, 0])
    high = np.minimum(boxes[:, None, 3], taken[:, 3]) - np.maximum(boxes[:, None, 1], taken[:, 1])
    return ((wide > 0) & (high > 0)).sum(axis=1)


def _inside(boxes, points, margin):
    if not len(points):
        return np.zeros(len(boxes))
    x, y = points[:, 0], points[:, 1]
    return (
        (x > boxes[:, None, 0] - margin)
        & (x < boxes[:, None, 2] + margin)
        & (y > boxes[:, None, 1] - margin)
        & (y < boxes[:, None, 3] + margin)
    ).sum(axis=1)


def _along(starts, ends):
    return np.linspace(starts, ends, 9)[:-1].transpose(1, 0, 2)


def _crossings(anchors, centres, taken):
    # Count the previously placed labels that the line from mark to label would cross.
    crossed = np.zeros(len(anchors))
    lines = _along(anchors, centres)
    for box in taken:
        x, y = lines[..., 0], lines[..., 1]
        crossed += ((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).any(axis=1)
    return crossed
