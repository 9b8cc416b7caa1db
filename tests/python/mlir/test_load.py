"""Programs of StableHLO as functions: composit's own with the same bits, JAX's with JAX's values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exported_functions import floats
from jax import lax
from jax_programs import (
    PROGRAMS, counting, draws, euler, integers, many_functions, more_special, shaped_draws,
    transforms,
)  # fmt: skip
from stablehlo_functions import ALL

import composit as ct
import composit.numpy as cnp
from composit import mlir
from composit.structure import flatten


def arrays(values):
    return [np.asarray(x) for x in flatten(values)[0]]


# Written as formulas of operations that StableHLO has: exact to some units in the last place.
FORMULAS = {}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_own_programs_give_the_same_bits(name):
    function, *arguments = ALL[name]
    module = mlir.load(mlir.text(function, *arguments))
    expected = arrays(function(*map(cnp.asarray, arguments)))
    for found, y in zip(arrays(module(*arguments)), expected, strict=True):
        assert (found.dtype, found.shape) == (y.dtype, y.shape)
        if name in FORMULAS:
            np.testing.assert_allclose(found, y, rtol=FORMULAS[name], atol=FORMULAS[name])
        else:
            assert found.tobytes() == y.tobytes()


def lowered(function, *arguments):
    return jax.jit(function, keep_unused=True).lower(*arguments).as_text()


def close(found, expected, tolerance=1e-5):
    for x, y in zip(arrays(found), jax.tree.leaves(expected), strict=True):
        y = np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(1, np.abs(y).max()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax_give_its_values(name):
    function, arguments, numbers = PROGRAMS[name]
    module = mlir.load(lowered(function, *arguments))
    leaves = jax.tree.leaves(arguments)
    value, gradients = jax.value_and_grad(function, numbers)(*arguments)
    close(module(*leaves), value)
    of_jax = mlir.load(lowered(jax.grad(function, numbers), *arguments))
    close(of_jax(*leaves), gradients, 2e-5)


@pytest.mark.parametrize("function", [integers, more_special, transforms, many_functions])
def test_functions_of_jax_give_its_values(function):
    x = floats(9)
    close(mlir.load(lowered(function, x))(x), function(x))


@pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(5)])
def test_draws_of_jax_have_its_bits(key):
    words = np.asarray(jax.random.key_data(key) if key.ndim == 0 else key)
    for found, y in zip(mlir.load(lowered(draws, key))(words), draws(key), strict=True):
        y = jax.random.key_data(y) if jax.dtypes.issubdtype(y.dtype, jax.dtypes.prng_key) else y
        assert np.asarray(found).tobytes() == np.asarray(y).tobytes()
    close(mlir.load(lowered(shaped_draws, key))(words), shaped_draws(key))


def test_while_loops():
    x = floats(4)
    tolerance = np.float32(0.1)
    module = mlir.load(lowered(euler, x, tolerance))
    close(module(x, tolerance), euler(x, tolerance))
    with pytest.raises(NotImplementedError, match=r"line \d+, column \d+: stablehlo.while: .*"
                       "depends on a placeholder"):
        module.compile()
    close(mlir.load(lowered(counting, x, 3))(x, np.int32(3)), counting(x, 3))


def numpys(x):
    """Functions of jax.numpy, which are made of operations of all kinds."""
    x = jnp.asarray(x)
    row, whole = x[0], (x * 10).astype(jnp.int32)
    return (
        jnp.einsum("ij,kj->ik", x, x), jnp.tensordot(x, x, 1), jnp.outer(row, row), jnp.dot(x, row),
        jnp.mean(x, 0), jnp.std(x), jnp.var(x, 1), jnp.ptp(x, 0), jnp.nanmax(x), jnp.prod(x, 1),
        jnp.argmin(x, 1), jnp.argmax(whole), jnp.sort(x, axis=None), jnp.argsort(x, descending=True),
        jnp.lexsort((x[0], x[1])), jnp.partition(x, 1), jnp.unique(whole, size=4), jnp.flip(x, 1),
        jnp.cumsum(whole, 1), jnp.cumprod(x, 0), jnp.diff(x), jnp.trapezoid(x), jnp.cross(x, x + 1),
        jnp.triu(x, 1), jnp.diag(row), jnp.diagonal(x), jnp.trace(x), jnp.repeat(x, 2, 0),
        jnp.tile(x, (1, 2)), jnp.stack([x, x], 1), jnp.split(x, 3, 1)[1], jnp.rot90(x),
        jnp.moveaxis(x[None], 0, 2), jnp.where(x > 0, x, -1), jnp.select([x > 1, x > 0], [x, 2 * x]),
        jnp.choose(whole % 2, [x, -x], mode="clip"), jnp.digitize(x, jnp.arange(-2.0, 2.0)),
        jnp.bincount(whole.ravel() % 3 + 3, length=7), jnp.polyval(row, x), jnp.polyfit(row, x[1], 1),
        jnp.gradient(x, axis=0), jnp.i0(x), jnp.sinc(x), jnp.heaviside(x, 0.5), jnp.fmod(x, 0.7),
        jnp.floor_divide(x, 0.3), jnp.divmod(whole, 3), jnp.gcd(whole, 6), jnp.lcm(whole, 4),
        jnp.packbits(x > 0), jnp.frexp(x), jnp.ldexp(x, 2), jnp.nextafter(x, x + 1),
        jnp.signbit(x), jnp.copysign(x, -1), jnp.spacing(x), jnp.float_power(abs(x), 1.5),
        jnp.round(x, 1), jnp.trunc(x), jnp.logaddexp2(x, 1), jnp.isinf(x / 0), jnp.ediff1d(x),
        jnp.apply_along_axis(jnp.sum, 0, x), jnp.histogram2d(row, row, bins=2)[0], jnp.corrcoef(x),
        jnp.linalg.matrix_power(x, 3), jnp.linalg.pinv(x), jnp.linalg.lstsq(x, row)[0],
        jnp.linalg.det(x), jnp.linalg.cond(x), jnp.linalg.eigh(x @ x.T)[0], jnp.fft.fft2(x),
        jnp.fft.fftshift(x), jnp.unwrap(x), jnp.vander(row), jnp.insert(row, 1, 5.0),
        jnp.delete(row, 1), jnp.take(x, jnp.array([0, 5]), mode="fill"), jnp.isin(whole, whole[0]),
        jnp.intersect1d(whole[0], whole[1], size=3), jnp.bitwise_left_shift(whole, 2),
        jnp.angle(x + 1j * x), jnp.sort(x + 1j * x), jnp.exp(1j * x), jnp.nan_to_num(x / 0),
    )  # fmt: skip


def laxs(x):
    """Functions of jax.lax, whose operations have attributes that jax.numpy leaves alone."""
    x = jnp.asarray(x)
    row, whole = x[0], (x * 10).astype(jnp.int32)
    places = jnp.array([[0, 1], [2, 0], [0, 1]])
    numbers = lax.ScatterDimensionNumbers((), (0, 1), (0, 1))

    def scattered(scatter):
        return scatter(x, places, row, numbers)

    return (
        lax.sort((x, whole), num_keys=2), lax.sort((whole, x), dimension=0), lax.top_k(x, 2),
        lax.reduce(x, 1.0, lax.mul, (1,)), lax.reduce(whole, -1, lax.bitwise_and, (0,)),
        lax.reduce((x, whole), (0.0, 0), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (0,)),
        lax.reduce_xor(whole, (1,)), lax.linalg.lu(x),
        lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1), "SAME"),
        lax.reduce_window(x, 0.5, lambda a, b: jnp.hypot(a, b), (2, 1), (2, 1), "VALID"),
        lax.cumsum(x, 0, reverse=True), lax.cummax(x, 1), lax.cumlogsumexp(x, 0),
        scattered(lax.scatter), scattered(lax.scatter_add), scattered(lax.scatter_mul),
        scattered(lax.scatter_min), scattered(lax.scatter_max),
        x.at[jnp.array([0, 7]), 0].set(9.0, mode="drop"), x.at[:, 1].multiply(2.0),
        lax.pad(x, 0.5, ((1, -1, 1), (0, 2, 0))), lax.rev(x, (0, 1)), lax.clamp(-0.5, x, 0.5),
        lax.dynamic_slice(x, (whole[0, 0], 1), (2, 2)), lax.dynamic_update_slice(x, x[:2], (5, -3)),
        lax.dot_general(x, x, (((0,), (0,)), ((1,), (1,)))), lax.batch_matmul(x[None], x[None]),
        lax.conv_transpose(x[None, :, :, None], x[:2, :2, None, None], (2, 2), "SAME"),
        lax.conv_general_dilated(
            jnp.tile(x, (2, 2))[:, None], jnp.tile(x, (2, 2))[:, None, :3], (1,), "SAME",
            batch_group_count=2,
        ),
        lax.reduce_precision(x, 5, 10), lax.bitcast_convert_type(x, jnp.uint8),
        lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.uint16), jnp.float32),
        lax.nextafter(x, x + 1), lax.is_finite(x), lax.round(x), lax.igamma(x**2 + 1, x**2),
        lax.complex(x, x), lax.conj(lax.complex(x, x)), lax.rsqrt(abs(x)), lax.cbrt(x),
        lax.fori_loop(0, whole[0, 0] * 0 + 3, lambda i, s: s * 2 + i, x),
        lax.map(lambda r: r * 2, x), lax.associative_scan(jnp.multiply, x), lax.expand_dims(x, (1,)),
        lax.linalg.cholesky(x @ x.T + jnp.eye(3)), lax.linalg.triangular_solve(x, x, lower=True),
        lax.linalg.qr(x), lax.linalg.svd(x)[1], lax.population_count(whole), lax.clz(whole),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [numpys, laxs])
def test_functions_of_numpy_and_lax(function):
    x = floats(3, 3)
    module = mlir.load(lowered(function, x))
    for place, (found, y) in enumerate(
        zip(arrays(module(x)), jax.tree.leaves(function(x)), strict=True)
    ):
        y = np.asarray(y)
        assert (found.dtype, found.shape) == (y.dtype, y.shape), place
        scale = max(1, np.abs(y[np.isfinite(y)]).max(initial=0))
        np.testing.assert_allclose(found, y, rtol=2e-5, atol=2e-5 * scale, err_msg=str(place))
