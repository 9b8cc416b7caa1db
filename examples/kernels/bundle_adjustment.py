"""Bundle adjustment: where cameras see points, and the blocks of the sparse Jacobian.

ADBench's problem. A camera has a rotation (an axis times an angle), a centre, a focal length, the
centre of its image, and two coefficients of radial distortion; an observation is what one camera
saw of one point, with a weight. The residuals of an observation depend on one camera, one point
and one weight: 2 x 15 derivatives, which one kernel computes for all observations.
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


def main() -> None:
    random = np.random.default_rng(0)
    count = 20_000

    def normal(scale=1.0, centre=0.0):
        return centre + scale * random.standard_normal(count)

    camera = Camera(
        Vector(normal(0.3), normal(0.3), normal(0.3)), Vector(normal(), normal(), normal(0.1, -8)),
        normal(10, 500), normal(), normal(), normal(0.01), normal(0.001),
    )  # fmt: skip
    point = Vector(normal(), normal(), normal())
    others = normal(0.1, 1), normal(), normal()
    numbers = [*camera.rotation, *camera.centre, *camera[2:], *point, *others]

    errors = residuals(camera, point, *others)
    one, none = np.ones(count), np.zeros(count)
    rows = [residuals.vjp(*numbers, one, none), residuals.vjp(*numbers, none, one)]
    blocks = np.stack([np.stack(row[:15], -1) for row in rows], 1)
    assert blocks.shape == (count, 2, 15)

    # Beside differences, along a direction of all numbers.
    direction = [normal(1e-2) for _ in numbers[:15]]
    step = 1e-5
    moved = [
        np.stack(residuals(*arguments(numbers, direction, sign * step)), 1) for sign in (1, -1)
    ]
    difference = (moved[0] - moved[1]) / (2 * step)
    product = np.einsum("nij,jn->ni", blocks, np.stack(direction))
    np.testing.assert_allclose(product, difference, rtol=1e-5, atol=1e-5)

    start = time.perf_counter()
    residuals(camera, point, *others)
    function = time.perf_counter() - start
    start = time.perf_counter()
    residuals.vjp(*numbers, one, none)
    residuals.vjp(*numbers, none, one)
    gradient = time.perf_counter() - start
    print(f"{count} observations, mean square {np.mean(np.square(errors)):.1f}")
    print(f"residuals {function * 1e3:.2f} ms, Jacobian of 2 x 15 {gradient * 1e3:.2f} ms")


def arguments(numbers, direction, step):
    """The arguments, moved along the direction."""
    moved = [x + step * d for x, d in zip(numbers[:15], direction)] + list(numbers[15:])
    return (
        Camera(Vector(*moved[:3]), Vector(*moved[3:6]), *moved[6:11]),
        Vector(*moved[11:14]),
        *moved[14:],
    )


if __name__ == "__main__":
    main()
