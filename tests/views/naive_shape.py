"""ShapeMemory one window at a time: slow, plain, and what the fast code is compared with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from axonad.data.scaling import fit_scaler


def shape_vectors(Z, length, weights):
    """Every window minus its channels' means, weighted and flattened."""
    vectors = []
    for start in range(len(Z) - length + 1):
        window = Z[start : start + length].astype(float)
        centred = window - window.mean(axis=0)
        vectors.append((centred * weights[:, None]).T.ravel())
    return vectors


def spaced(count, most):
    return sorted(set(np.linspace(0, count - 1, min(count, most)).astype(int).tolist()))


def leading_directions(vectors, most):
    _, sizes, directions = np.linalg.svd(np.array(vectors), full_matrices=False)
    directions = directions[:most][sizes[:most] ** 2 > 1e-9 * sizes[0] ** 2]
    return np.array([d * np.sign(d[np.argmax(np.abs(d))]) for d in directions])


def point(vector, directions):
    """Coordinates along the directions, and the length of the rest."""
    coordinates = [float(vector @ direction) for direction in directions]
    rest = vector - sum(c * d for c, d in zip(coordinates, directions, strict=True))
    return np.array([*coordinates, np.linalg.norm(rest)])


def cells_of(points, most):
    """Points halved at the median of the coordinate that varies most, as long as they are many."""
    if len(points) <= most:
        return [points]
    widest = np.argmax(np.var(points, axis=0))
    ordered = sorted(points, key=lambda p: p[widest])
    half = len(points) // 2
    return cells_of(ordered[:half], most) + cells_of(ordered[half:], most)


def distance_in(cells, own, near):
    """Distance of a point to the nearest one in the cells whose means are nearest."""
    around = sorted(cells, key=lambda cell: np.linalg.norm(own - np.mean(cell, axis=0)))[:near]
    return min(np.linalg.norm(own - other) for cell in around for other in cell)


def smallest_distances(vectors, others, directions, cell, near):
    cells = cells_of([point(other, directions) for other in others], cell)
    return [distance_in(cells, point(vector, directions), near) for vector in vectors]


def far_from(numbers, start, stop, gap):
    far = [i for i in numbers if i <= start - gap or i >= stop + gap]
    return far or [i for i in numbers if i < start or i >= stop] or list(numbers)


def part_scores(train, test, length, weights, *, directions, max_train, compared, cell, near):
    """Scores of the training and the test windows of one length and one weighting."""
    known = shape_vectors(train, length, weights)
    count = len(known)
    kept, sampled = spaced(count, max_train), spaced(count, 256)
    edges = np.linspace(0, count, 6).astype(int).tolist()
    held_out, numbers = [], spaced(count, compared)
    for start, stop in pairwise(edges):
        others = [known[i] for i in far_from(kept, start, stop, length)]
        learned = [known[i] for i in far_from(sampled, start, stop, length)]
        found = leading_directions(learned, directions)
        own = [known[i] for i in numbers if start <= i < stop]
        held_out += smallest_distances(own, others, found, cell, near)
    found = leading_directions([known[i] for i in sampled], directions)
    memory = [known[i] for i in kept]
    new = smallest_distances(shape_vectors(test, length, weights), memory, found, cell, near)
    median, high = np.quantile(held_out, [0.5, 0.99])
    size = np.sqrt(np.mean([v @ v for v in memory]))
    unit = max(high - median, 1e-3 * size) + 1e-6

    def score(distance):
        return np.log(1 + max((distance - median) / unit, 0))

    between = np.interp(range(count), numbers, held_out)
    return [score(d) for d in between], [score(d) for d in new]


def place(scores, length, rows, align):
    """One value per row: that of the window whose end or centre it is, or of the closest one."""
    before = length - 1 if align == "end" else length // 2
    return [scores[min(max(row - before, 0), len(scores) - 1)] for row in range(rows)]


def shape_memory(X, Y, *, lengths, directions, max_train, align, compared, cell, near):
    """Held-out scores of the training rows ``X`` and scores of ``Y``."""
    scaler = fit_scaler(X, "soft")
    train, test = scaler.apply(X), scaler.apply(Y)
    for_train, for_test = [], []
    for length in lengths:
        steps = np.arange(1, length + 1) / (length + 1)
        hann = 0.5 - 0.5 * np.cos(2 * np.pi * steps)
        for weights in (np.ones(length), np.sqrt(hann)):
            old, new = part_scores(
                train, test, length, weights, directions=directions, max_train=max_train,
                compared=compared, cell=cell, near=near,
            )  # fmt: skip
            for_train.append(place(old, length, len(X), align))
            for_test.append(place(new, length, len(Y), align))
    return np.mean(for_train, axis=0), np.mean(for_test, axis=0)
