"""Hand tracking: the pose of a hand from points on its skin, with the sparse Jacobian.

ADBench's problem. The 26 numbers of a pose are a rotation and a translation of the whole hand, and
four angles of each finger. They turn bones, which hang together in a tree; each vertex of the
skin follows the bones that it has weights of. A residual is how far a measured point is from where
the model has it: in the simple objective from a vertex, in the other from a place in a triangle,
with two coordinates of its own: their derivatives are 3 x 2 blocks, the only ones that are stored.

Points of the skin are linear in the transformations of bones: one kernel carries these to the
points, and their 26 derivatives to those of the points.
"""

# ruff: noqa: F821

import math
from typing import NamedTuple

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def poses(
    thetas: "Tensor[float, n, 26]", parents: "Tensor[int, b]", base: "Tensor[float, b, 3, 4]",
    inverse: "Tensor[float, b, 3, 4]", mirror: float,
) -> "tuple[Tensor[float, b, 3, 4, n], Tensor[float, 3, n]]":  # fmt: skip
    """For each of n poses, what moves points of each bone, and the translation of all.

    base is where each bone is relative to its parent (-1: it has none) when the hand is at rest;
    inverse is what takes points at rest into the bone's coordinates."""
    n, bones = len(thetas), len(parents)
    moves = np.zeros((bones, 3, 4, n))
    shift = np.zeros((3, n))
    for i in range(n):
        angles = np.zeros((bones, 2))  # of each bone: to bend it, and to spread it
        for finger in range(5):
            angles[2 + 4 * finger, 0] = thetas[i, 6 + 4 * finger]
            angles[2 + 4 * finger, 1] = thetas[i, 7 + 4 * finger]
            angles[3 + 4 * finger, 0] = thetas[i, 8 + 4 * finger]
            angles[4 + 4 * finger, 0] = thetas[i, 9 + 4 * finger]
        whole = np.zeros((3, 3))
        x, y, z = thetas[i, 0], thetas[i, 1], thetas[i, 2]
        square = x * x + y * y + z * z
        sine, versine = 1.0, 0.5  # of the angle, over it and over its square
        cosine = 1.0
        if square > 0:
            angle = math.sqrt(square)
            cosine = math.cos(angle)
            sine, versine = math.sin(angle) / angle, (1 - cosine) / square
        whole[0, 0] = mirror * (cosine + x * x * versine)
        whole[0, 1] = x * y * versine - z * sine
        whole[0, 2] = x * z * versine + y * sine
        whole[1, 0] = mirror * (x * y * versine + z * sine)
        whole[1, 1] = cosine + y * y * versine
        whole[1, 2] = y * z * versine - x * sine
        whole[2, 0] = mirror * (x * z * versine - y * sine)
        whole[2, 1] = y * z * versine + x * sine
        whole[2, 2] = cosine + z * z * versine
        place = np.zeros((bones, 3, 4))  # of each bone, in the hand
        for j in range(bones):
            cx, sx = math.cos(angles[j, 0]), math.sin(angles[j, 0])
            cz, sz = math.cos(angles[j, 1]), math.sin(angles[j, 1])
            own = np.zeros((3, 4))  # relative to the parent
            for r in range(3):
                u, v, w = base[j, r, 0], base[j, r, 1], base[j, r, 2]
                own[r, 0] = u * cz + v * sz
                own[r, 1] = (v * cz - u * sz) * cx + w * sx
                own[r, 2] = w * cx - (v * cz - u * sz) * sx
                own[r, 3] = base[j, r, 3]
            parent = parents[j]
            for r in range(3):
                for c in range(4):
                    if parent < 0:
                        place[j, r, c] = own[r, c]
                    else:
                        total = 0.0
                        for k in range(3):
                            total += place[parent, r, k] * own[k, c]
                        if c == 3:
                            total += place[parent, r, 3]
                        place[j, r, c] = total
            local = np.zeros((3, 4))  # from the hand at rest to the hand as it is
            for r in range(3):
                for c in range(4):
                    total = 0.0
                    for k in range(3):
                        total += place[j, r, k] * inverse[j, k, c]
                    if c == 3:
                        total += place[j, r, 3]
                    local[r, c] = total
            for r in range(3):
                for c in range(4):
                    moves[j, r, c, i] = (
                        whole[r, 0] * local[0, c] + whole[r, 1] * local[1, c]
                        + whole[r, 2] * local[2, c]
                    )  # fmt: skip
        for r in range(3):
            shift[r, i] = thetas[i, 3 + r]
    return moves, shift


@knossos.register
def carried(
    moves: "Tensor[float, b, 3, 4, n]", shift: "Tensor[float, 3, n]", rest: "Tensor[float, v, 3]",
    bones: "Tensor[int, v, w]", weights: "Tensor[float, v, w]", corners: "Tensor[int, p, q]",
    shares: "Tensor[float, p, q]",
) -> "Tensor[float, p, 3, n]":  # fmt: skip
    """Points of the skin under n poses, or n derivatives of poses: each is a mean of vertices, and
    each vertex follows w bones."""
    places = np.zeros((len(corners), 3, len(shift[0])))
    for i in range(len(corners)):
        for j in range(corners.shape[1]):
            v, share = corners[i, j], shares[i, j]
            x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
            for r in range(3):
                for m in range(len(shift[0])):
                    places[i, r, m] += share * shift[r, m]
            for k in range(bones.shape[1]):
                bone, weight = bones[v, k], share * weights[v, k]
                for r in range(3):
                    for m in range(len(shift[0])):
                        places[i, r, m] += weight * (
                            moves[bone, r, 0, m] * x + moves[bone, r, 1, m] * y
                            + moves[bone, r, 2, m] * z + moves[bone, r, 3, m]
                        )  # fmt: skip
    return places


class Model(NamedTuple):
    """A hand at rest: its bones and its skin."""

    parents: np.ndarray
    base: np.ndarray
    inverse: np.ndarray
    mirror: float
    rest: np.ndarray
    bones: np.ndarray
    weights: np.ndarray


def shares_of(us: np.ndarray) -> np.ndarray:
    """Of the corners of triangles, from two coordinates."""
    return np.stack([us[:, 0], us[:, 1], 1 - us[:, 0] - us[:, 1]], 1)


def errors(
    model: Model, theta: np.ndarray, corners: np.ndarray, shares: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """(p, 3): points, less where the model has them."""
    moves, shift = poses(theta[None], *model[:4])
    return points - carried(moves, shift, *model[4:], corners, shares)[:, :, 0]


def derivatives(
    model: Model, theta: np.ndarray, corners: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """(p, 3, 26): of the errors with respect to the pose."""
    fixed = [np.zeros_like(each) for each in (model.base, model.inverse)]
    moves, shift = poses.jvp(np.tile(theta, (26, 1)), *model[:4], np.eye(26), *fixed, 0.0)
    return carried(moves, shift, *model[4:], corners, -shares)


def jacobian_values(
    model: Model, theta: np.ndarray, triangles: np.ndarray, us: np.ndarray
) -> np.ndarray:
    """The elements that are stored: three rows for each point, each of its own two coordinates and
    the pose."""
    count = len(us)
    values = np.empty((count, 3, 28))
    values[:, :, 2:] = derivatives(model, theta, triangles, shares_of(us))
    moves, shift = poses(theta[None], *model[:4])
    for k, slopes in enumerate(([1.0, 0.0, -1.0], [0.0, 1.0, -1.0])):
        along = np.tile(np.negative(slopes), (count, 1))
        values[:, :, k] = carried(moves, shift, *model[4:], triangles, along)[:, :, 0]
    return values.ravel()


def jacobian_places(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the elements, and where rows begin: the columns of the pose are behind those of
    the points' coordinates."""
    columns = np.empty((count, 3, 28), "int64")
    columns[:, :, :2] = 2 * np.arange(count)[:, None, None] + np.arange(2)
    columns[:, :, 2:] = 2 * count + np.arange(26)
    return columns.ravel(), np.arange(0, 3 * count + 1) * 28


def example(random: np.random.Generator, vertices: int = 544) -> Model:
    """A hand of 22 bones: wrist and palm, and four in each finger."""
    parents = np.array([-1, 0] + [1 if k % 4 == 0 else k + 1 for k in range(20)])
    turned = np.linalg.qr(random.normal(size=(22, 3, 3)))[0]
    base = np.ascontiguousarray(np.concatenate([turned, random.normal(size=(22, 3, 1))], 2))
    back = np.swapaxes(turned, 1, 2)
    inverse = np.ascontiguousarray(np.concatenate([back, random.normal(size=(22, 3, 1))], 2))
    bones = np.sort(random.integers(0, 22, size=(vertices, 4)))
    weights = random.dirichlet(np.ones(4), size=vertices)
    rest = random.normal(size=(vertices, 3))
    return Model(parents, base, inverse, 1.0, rest, bones, weights)


def main() -> None:
    random = np.random.default_rng(0)
    model, count = example(random), 1000
    theta = 0.3 * random.normal(size=26)
    triangles, us = random.integers(0, 544, size=(count, 3)), random.random((count, 2)) / 2
    points = random.normal(size=(count, 3))
    found = errors(model, theta, triangles, shares_of(us), points)
    values = jacobian_values(model, theta, triangles, us)
    columns, begins = jacobian_places(count)

    # Beside differences, along a direction of all unknowns.
    along, across = 1e-6 * random.normal(size=26), 1e-6 * random.normal(size=(count, 2))
    moved = errors(model, theta + along, triangles, shares_of(us + across), points)
    direction = np.concatenate([across.ravel(), along])
    product = np.add.reduceat(values * direction[columns], begins[:-1])
    np.testing.assert_allclose(moved - found, product.reshape(-1, 3), rtol=1e-3, atol=1e-9)
    print(f"{count} points, Jacobian of {3 * count} x {2 * count + 26}, {len(values)} stored")


if __name__ == "__main__":
    main()
