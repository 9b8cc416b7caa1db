"""Bundle adjustment: where cameras see points, and the blocks of the sparse Jacobian.

ADBench's problem. A camera has a rotation (an axis times an angle), a centre, a focal length, the
centre of its image, and two coefficients of radial distortion; an observation is what one camera
saw of one point, with a weight. The residuals of an observation depend on one camera, one point
and one weight: 2 x 15 derivatives, which one kernel computes for all observations, calling the
derivative of another; the sparse Jacobian of all of them is stored row by row.
"""

# ruff: noqa: F821

import math
import time
from typing import NamedTuple

import numpy as np

from composit import knossos
from composit.knossos import Tensor


class Vector(NamedTuple):
    x: float
    y: float
    z: float


class Camera(NamedTuple):
    rotation: Vector
    centre: Vector
    focus: float
    image_x: float
    image_y: float
    k1: float
    k2: float


def dot(a: Vector, b: Vector) -> float:
    return a.x * b.x + a.y * b.y + a.z * b.z


def cross(a: Vector, b: Vector) -> Vector:
    return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def rotated(rotation: Vector, p: Vector) -> Vector:
    """Rodrigues' formula."""
    square = dot(rotation, rotation)
    if square == 0:
        c = cross(rotation, p)
        return Vector(p.x + c.x, p.y + c.y, p.z + c.z)
    angle = math.sqrt(square)
    w = Vector(rotation.x / angle, rotation.y / angle, rotation.z / angle)
    c = cross(w, p)
    cosine, sine = math.cos(angle), math.sin(angle)
    along = dot(w, p) * (1 - cosine)
    return Vector(
        p.x * cosine + c.x * sine + w.x * along,
        p.y * cosine + c.y * sine + w.y * along,
        p.z * cosine + c.z * sine + w.z * along,
    )


@knossos.register
def residuals(
    camera: Camera, point: Vector, weight: float, seen_x: float, seen_y: float
) -> tuple[float, float]:
    """Where the camera sees the point, less where it was seen, times the weight."""
    o = camera.centre
    p = rotated(camera.rotation, Vector(point.x - o.x, point.y - o.y, point.z - o.z))
    x, y = p.x / p.z, p.y / p.z
    r = x * x + y * y
    scale = (1 + r * (camera.k1 + r * camera.k2)) * camera.focus
    error_x = weight * (x * scale + camera.image_x - seen_x)
    error_y = weight * (y * scale + camera.image_y - seen_y)
    return error_x, error_y


def camera_of(cameras: "Tensor[float, n, 11]", i: int) -> Camera:
    rotation = Vector(cameras[i, 0], cameras[i, 1], cameras[i, 2])
    centre = Vector(cameras[i, 3], cameras[i, 4], cameras[i, 5])
    return Camera(
        rotation, centre, cameras[i, 6], cameras[i, 7], cameras[i, 8], cameras[i, 9],
        cameras[i, 10],
    )  # fmt: skip


def point_of(points: "Tensor[float, m, 3]", i: int) -> Vector:
    return Vector(points[i, 0], points[i, 1], points[i, 2])


@knossos.register
def errors(
    cameras: "Tensor[float, n, 11]", points: "Tensor[float, m, 3]", weights: "Tensor[float, p]",
    seen: "Tensor[int, p, 2]", features: "Tensor[float, p, 2]",
) -> "tuple[Tensor[float, p, 2], Tensor[float, p]]":  # fmt: skip
    """Reprojection errors, and what keeps weights near 1, of p observations: which camera saw which
    point, and where."""
    reprojection = np.empty((len(weights), 2))
    regularity = np.empty(len(weights))
    for i in range(len(weights)):
        camera, point = camera_of(cameras, seen[i, 0]), point_of(points, seen[i, 1])
        weight = weights[i]
        reprojection[i] = residuals(camera, point, weight, features[i, 0], features[i, 1])
        regularity[i] = 1 - weight * weight
    return reprojection, regularity


@knossos.register
def jacobian_values(
    cameras: "Tensor[float, n, 11]", points: "Tensor[float, m, 3]", weights: "Tensor[float, p]",
    seen: "Tensor[int, p, 2]", features: "Tensor[float, p, 2]",
) -> "Tensor[float, p, 31]":  # fmt: skip
    """The elements that are stored, row by row: for each observation two rows of 15, of its
    reprojection errors, and one of 1, of what keeps its weight near 1."""
    values = np.empty((len(weights), 31))
    for i in range(len(weights)):
        camera, point = camera_of(cameras, seen[i, 0]), point_of(points, seen[i, 1])
        weight, x, y = weights[i], features[i, 0], features[i, 1]
        of_x = residuals.vjp(camera, point, weight, x, y, 1.0, 0.0)[:15]
        of_y = residuals.vjp(camera, point, weight, x, y, 0.0, 1.0)[:15]
        values[i] = of_x + of_y + (-2 * weight,)
    return values


def jacobian_places(cameras, points, seen) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the elements, which are those of cameras, points, weights, and where rows begin.
    They stay as they are while observations do."""
    count, n, m = len(seen), len(cameras), len(points)
    last = 11 * n + 3 * m + np.arange(count)
    columns = np.empty((count, 31), "int64")
    for begin in (0, 15):
        columns[:, begin : begin + 11] = 11 * seen[:, :1] + np.arange(11)
        columns[:, begin + 11 : begin + 14] = 11 * n + 3 * seen[:, 1:] + np.arange(3)
    columns[:, [14, 29, 30]] = last[:, None]
    begins = (np.arange(count)[:, None] * 31 + np.array([0, 15, 30])).ravel()
    return columns.ravel(), np.append(begins, 31 * count)


def rows_of(reprojection: np.ndarray, regularity: np.ndarray) -> np.ndarray:
    """The errors in the order of the Jacobian's rows."""
    return np.concatenate([reprojection, regularity[:, None]], 1).ravel()


def example(
    random: np.random.Generator, cameras: int, points: int, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cameras in front of points."""
    scale = np.array([0.3, 0.3, 0.3, 1, 1, 0.1, 10, 1, 1, 0.01, 0.001])
    centre = np.array([0.0, 0, 0, 0, 0, -8, 500, 0, 0, 0, 0])
    return (
        centre + scale * random.normal(size=(cameras, 11)), random.normal(size=(points, 3)),
        1 + 0.1 * random.normal(size=count),
        np.stack([random.integers(0, cameras, count), random.integers(0, points, count)], 1),
        random.normal(size=(count, 2)),
    )  # fmt: skip


def main() -> None:
    random = np.random.default_rng(0)
    cameras, points, weights, seen, features = given = example(random, 50, 7_000, 20_000)
    reprojection, _ = errors(*given)
    values = jacobian_values(*given)
    columns, begins = jacobian_places(cameras, points, seen)

    # Beside differences, along a direction of all unknowns.
    step = [1e-6 * random.normal(size=each.shape) for each in given[:3]]
    higher, lower = (
        rows_of(*errors(*(x + sign * d for x, d in zip(given, step)), seen, features))
        for sign in (1, -1)
    )
    direction = np.concatenate([each.ravel() for each in step])
    product = np.add.reduceat(values.ravel() * direction[columns], begins[:-1])
    np.testing.assert_allclose(product, (higher - lower) / 2, rtol=1e-4, atol=1e-8)

    print(f"{len(weights)} observations, mean square {np.mean(reprojection**2):.1f}")
    for work in (errors, jacobian_values):
        start = time.perf_counter()
        work(*given)
        print(f"{work.__name__} {(time.perf_counter() - start) * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
