"""Bundle adjustment: where cameras see points, and the blocks of the sparse Jacobian.

ADBench's problem. A camera has a rotation (an axis times an angle), a centre, a focal length, the
centre of its image, and two coefficients of radial distortion; an observation is what one camera
saw of one point, with a weight. The residuals of an observation depend on one camera, one point
and one weight: 2 x 15 derivatives, which one kernel computes for all observations; the sparse
Jacobian of all of them is stored row by row.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from composit import knossos


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


def observed(
    cameras: np.ndarray, points: np.ndarray, weights: np.ndarray, seen: np.ndarray,
    features: np.ndarray,
) -> list[np.ndarray]:  # fmt: skip
    """The numbers of each observation, from (n, 11) cameras, (m, 3) points, (p,) weights, which
    camera saw which point (p, 2), and where (p, 2)."""
    camera = np.take(np.ascontiguousarray(cameras.T), seen[:, 0], 1)
    point = np.take(np.ascontiguousarray(points.T), seen[:, 1], 1)
    return [*camera, *point, weights, *np.ascontiguousarray(features.T)]


def errors(cameras, points, weights, seen, features) -> tuple[np.ndarray, np.ndarray]:
    """Reprojection errors (p, 2), and what keeps weights near 1 (p,)."""
    n = observed(cameras, points, weights, seen, features)
    found = residuals(Camera(Vector(*n[:3]), Vector(*n[3:6]), *n[6:11]), Vector(*n[11:14]), *n[14:])
    return np.stack(found, 1), 1 - weights**2


def jacobian_values(cameras, points, weights, seen, features) -> np.ndarray:
    """The elements that are stored, row by row: two rows of 15 for each observation, then one of 1
    for each weight."""
    count = len(weights)
    numbers = observed(cameras, points, weights, seen, features)
    one, none = np.ones(count), np.zeros(count)
    values = np.empty(31 * count)
    blocks = values[: 30 * count].reshape(count, 2, 15)
    np.stack(residuals.vjp(*numbers, one, none)[:15], 1, out=blocks[:, 0])
    np.stack(residuals.vjp(*numbers, none, one)[:15], 1, out=blocks[:, 1])
    values[30 * count :] = -2 * weights
    return values


def jacobian_places(cameras, points, seen) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the elements, which are those of cameras, points, weights, and where rows begin.
    They stay as they are while observations do."""
    count, n, m = len(seen), len(cameras), len(points)
    last = 11 * n + 3 * m + np.arange(count)
    columns = np.empty(31 * count, "int64")
    places = columns[: 30 * count].reshape(count, 2, 15)
    places[:, :, :11] = (11 * seen[:, 0])[:, None, None] + np.arange(11)
    places[:, :, 11:14] = (11 * n + 3 * seen[:, 1])[:, None, None] + np.arange(3)
    places[:, :, 14] = last[:, None]
    columns[30 * count :] = last
    begins = np.concatenate([np.arange(2 * count) * 15, 30 * count + np.arange(count + 1)])
    return columns, begins


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
        np.concatenate([each.ravel() for each in errors(
            *(x + sign * d for x, d in zip(given, step)), seen, features)])
        for sign in (1, -1)
    )  # fmt: skip
    direction = np.concatenate([each.ravel() for each in step])
    product = np.add.reduceat(values * direction[columns], begins[:-1])
    np.testing.assert_allclose(product, (higher - lower) / 2, rtol=1e-4, atol=1e-8)

    print(f"{len(weights)} observations, mean square {np.mean(reprojection**2):.1f}")
    for work in (errors, jacobian_values):
        start = time.perf_counter()
        work(*given)
        print(f"{work.__name__} {(time.perf_counter() - start) * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
