"""Hand tracking: the pose of a hand from points on its skin, with the sparse Jacobian.

ADBench's problem. The 26 numbers of a pose are a rotation and a translation of the whole hand, and
four angles of each finger. They turn bones, which hang together in a tree; each vertex of the
skin follows the bones that it has weights of. A residual is how far a measured point is from where
the model has it: in the simple objective from a vertex, in the other from a place in a triangle,
with two coordinates of its own: their derivatives are 3 x 2 blocks, the only ones that are stored.

Points of the skin are linear in the transformations of bones, and an angle turns the bones of its
own finger only: four derivatives of the bones are enough, by each of the four angles, of all
fingers at once.
"""

# ruff: noqa: F821

import functools
import math
from typing import NamedTuple

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def rotations(thetas: "Tensor[float, n, 26]", mirror: float) -> "Tensor[float, n, 3, 3]":
    """Of whole hands, of which the first axis is mirrored by -1."""
    whole = np.zeros((len(thetas), 3, 3))
    for i in range(len(thetas)):
        x, y, z = thetas[i, 0], thetas[i, 1], thetas[i, 2]
        square = x * x + y * y + z * z
        cosine, sine, versine = 1.0, 1.0, 0.5  # of the angle, over it, and over its square
        if square > 0:
            angle = math.sqrt(square)
            cosine = math.cos(angle)
            sine, versine = math.sin(angle) / angle, (1 - cosine) / square
        whole[i, 0] = (
            mirror * (cosine + x * x * versine), x * y * versine - z * sine,
            x * z * versine + y * sine,
        )  # fmt: skip
        whole[i, 1] = (
            mirror * (x * y * versine + z * sine), cosine + y * y * versine,
            y * z * versine - x * sine,
        )  # fmt: skip
        whole[i, 2] = (
            mirror * (x * z * versine - y * sine), y * z * versine + x * sine,
            cosine + z * z * versine,
        )  # fmt: skip
    return whole


@knossos.register
def poses(
    thetas: "Tensor[float, n, 26]", parents: "Tensor[int, b]", base: "Tensor[float, b, 3, 4]",
    inverse: "Tensor[float, b, 3, 4]",
) -> "Tensor[float, b, 4, 4, n]":  # fmt: skip
    """For each of n poses, what moves points of each bone, before the whole hand turns: the columns
    of a matrix for homogeneous coordinates.

    base is where each bone is relative to its parent (-1: it has none) when the hand is at rest;
    inverse is what takes points at rest into the bone's coordinates."""
    n, bones = len(thetas), len(parents)
    moves = np.zeros((bones, 4, 4, n))
    for i in range(n):
        angles = np.zeros((bones, 2))  # of each bone: to bend it, and to spread it
        for finger in range(5):
            angles[2 + 4 * finger, 0] = thetas[i, 6 + 4 * finger]
            angles[2 + 4 * finger, 1] = thetas[i, 7 + 4 * finger]
            angles[3 + 4 * finger, 0] = thetas[i, 8 + 4 * finger]
            angles[4 + 4 * finger, 0] = thetas[i, 9 + 4 * finger]
        place = np.zeros((bones, 3, 4))  # of each bone, in the hand
        for j in range(bones):
            cx, sx = math.cos(angles[j, 0]), math.sin(angles[j, 0])
            cz, sz = math.cos(angles[j, 1]), math.sin(angles[j, 1])
            own = np.zeros((3, 4))  # relative to the parent
            for r in range(3):
                u, v, w = base[j, r, 0], base[j, r, 1], base[j, r, 2]
                turned = v * cz - u * sz
                bent, at = turned * cx + w * sx, base[j, r, 3]
                own[r] = (u * cz + v * sz, bent, w * cx - turned * sx, at)
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
            for r in range(3):
                for c in range(4):
                    total = 0.0
                    for k in range(3):
                        total += place[j, r, k] * inverse[j, k, c]
                    if c == 3:
                        total += place[j, r, 3]
                    moves[j, c, r, i] = total
            moves[j, 3, 3, i] = 1.0
    return moves


@knossos.register
def skin(
    theta: "Tensor[float, 26]", whole: "Tensor[float, 1, 3, 3]", moves: "Tensor[float, b, 4, 4]",
    rest: "Tensor[float, v, 3]", bones: "Tensor[int, v, 4]", weights: "Tensor[float, v, 4]",
    corners: "Tensor[int, p, q]", shares: "Tensor[float, p, q]", points: "Tensor[float, p, 3]",
) -> "Tensor[float, p, 3]":  # fmt: skip
    """Points, less where the skin has them: each is a mean of vertices, and each vertex follows 4
    bones."""
    apart = np.empty((len(corners), 3))
    for i in range(len(corners)):
        still = np.zeros(4)  # before the hand turns
        for j in range(corners.shape[1]):
            v = corners[i, j]
            x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
            for k in range(4):
                bone = bones[v, k]
                weight = shares[i, j] * weights[v, k]
                for r in range(4):
                    still[r] += weight * (
                        moves[bone, 0, r] * x + moves[bone, 1, r] * y
                        + moves[bone, 2, r] * z + moves[bone, 3, r]
                    )  # fmt: skip
        for r in range(3):
            turned = whole[0, r, 0] * still[0] + whole[0, r, 1] * still[1]
            apart[i, r] = points[i, r] - (turned + whole[0, r, 2] * still[2] + theta[3 + r])
    return apart


@functools.cache
def slopes_with(count: int) -> knossos.Kernel:
    """The kernel for points that are means of so many vertices."""
    own = count - 1

    @knossos.register
    def slopes(
        whole: "Tensor[float, 1, 3, 3]", turns: "Tensor[float, 3, 3, 3]",
        moves: "Tensor[float, b, 4, 4]", bends: "Tensor[float, b, 4, 4, 4]",
        fingers: "Tensor[int, b]", rest: "Tensor[float, v, 3]", bones: "Tensor[int, v, 4]",
        weights: "Tensor[float, v, 4]", corners: "Tensor[int, p, count]",
        shares: "Tensor[float, p, count]",
    ) -> "Tensor[float, p, 3, columns]":  # fmt: skip
        """Minus the derivatives of points of the skin: by the shares of all corners but the last,
        which has the rest, and by the pose, from those of the rotation and those by the bones'
        fingers."""
        made = np.zeros((len(corners), 3, own + 26))
        for i in range(len(corners)):
            vertices = np.zeros((count, 4))
            bent = np.zeros((5, 3, 4))
            for j in range(count):
                at, share = corners[i, j], shares[i, j]
                x, y, z = rest[at, 0], rest[at, 1], rest[at, 2]
                for k in range(4):
                    bone, weight = bones[at, k], weights[at, k]
                    finger, shared = fingers[bone], share * weight
                    for r in range(4):
                        vertices[j, r] += weight * (
                            moves[bone, 0, r] * x + moves[bone, 1, r] * y
                            + moves[bone, 2, r] * z + moves[bone, 3, r]
                        )  # fmt: skip
                    for r in range(3):
                        for m in range(4):
                            bent[finger, r, m] += shared * (
                                bends[bone, 0, r, m] * x + bends[bone, 1, r, m] * y
                                + bends[bone, 2, r, m] * z + bends[bone, 3, r, m]
                            )  # fmt: skip
            still = np.zeros(3)
            for j in range(count):
                for r in range(3):
                    still[r] += shares[i, j] * vertices[j, r]
            for r in range(3):
                u, v, w = whole[0, r, 0], whole[0, r, 1], whole[0, r, 2]
                for j in range(own):
                    made[i, r, j] = (
                        u * (vertices[own, 0] - vertices[j, 0])
                        + v * (vertices[own, 1] - vertices[j, 1])
                        + w * (vertices[own, 2] - vertices[j, 2])
                    )  # fmt: skip
                for m in range(3):
                    turned = turns[m, r, 0] * still[0] + turns[m, r, 1] * still[1]
                    made[i, r, own + m] = -turned - turns[m, r, 2] * still[2]
                made[i, r, own + 3 + r] = -1.0
                for f in range(5):
                    for m in range(4):
                        turned = u * bent[f, 0, m] + v * bent[f, 1, m] + w * bent[f, 2, m]
                        made[i, r, own + 6 + 4 * f + m] = -turned
        return made

    return slopes


class Model(NamedTuple):
    """A hand at rest: its bones and its skin."""

    parents: np.ndarray
    base: np.ndarray
    inverse: np.ndarray
    mirror: float
    rest: np.ndarray
    bones: np.ndarray
    weights: np.ndarray


@knossos.register
def shares_of(us: "Tensor[float, p, 2]") -> "Tensor[float, p, 3]":
    """Of the corners of triangles, from two coordinates."""
    shares = np.empty((len(us), 3))
    for i in range(len(us)):
        shares[i] = us[i, 0], us[i, 1], 1 - us[i, 0] - us[i, 1]
    return shares


def errors(
    model: Model, theta: np.ndarray, corners: np.ndarray, shares: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """(p, 3): points, less where the model has them."""
    moves, whole = poses(theta[None], *model[:3]), rotations(theta[None], model.mirror)
    return skin(theta, whole, moves[..., 0], *model[4:], corners, shares, points)


FINGERS = np.maximum(np.arange(22) - 2, 0) // 4  # of bones; no angle turns the first two
ROTATIONS = np.eye(3, 26)
BENDS = np.concatenate([np.zeros((4, 6)), np.tile(np.eye(4), 5)], 1)
FIXED = np.zeros((22, 3, 4))


def derivatives(
    model: Model, theta: np.ndarray, corners: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """(p, 3, 26): of the errors with respect to the pose; before these (p, 3, q - 1), with respect
    to the shares of all q corners but the last."""
    one, four = theta[None], np.empty((4, 26))
    four[:] = theta
    moves, whole = poses(one, *model[:3]), rotations(one, model.mirror)
    bends = poses.jvp(four, *model[:3], BENDS, FIXED, FIXED)
    turns = rotations.jvp(four[:3], model.mirror, ROTATIONS, 0.0)
    slopes = slopes_with(corners.shape[1])
    return slopes(
        whole, turns, moves[..., 0], bends, FINGERS, *model[4:], corners, shares
    )  # fmt: skip


def jacobian_values(
    model: Model, theta: np.ndarray, triangles: np.ndarray, us: np.ndarray
) -> np.ndarray:
    """The elements that are stored: three rows for each point, each of its own two coordinates and
    the pose."""
    return derivatives(model, theta, triangles, shares_of(us)).ravel()


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
