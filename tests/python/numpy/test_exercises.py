"""Small programs of the kind that courses of NumPy ask for, under both libraries."""

import pytest
from numpy_programs import same

PROGRAMS = {
    "a vector with one entry set": """
        v = np.zeros(10)
        v[4] = 1
        print(v, v.dtype, v.nbytes, v.size * v.itemsize)
    """,
    "counting up and down": """
        v = np.arange(10, 50)
        print(v[::-1], v.reshape(5, 8)[:, ::-1])
    """,
    "positions that are not zero": "print(np.nonzero([1, 2, 0, 0, 4, 0]))",
    "a border": """
        z = np.ones((6, 6), dtype=int)
        z[1:-1, 1:-1] = 0
        print(z)
        print(np.pad(np.ones((2, 3)), 1, mode="constant", constant_values=0))
        z[:, [0, -1]] = 7
        z[[0, -1], :] = 8
        print(z)
    """,
    "what NaN is": """
        print(0 * np.nan, np.nan == np.nan, np.inf > np.nan, np.nan - np.nan, np.nan in {np.nan})
        print(0.3 == 3 * 0.1)
    """,
    "numbers below the diagonal": "print(np.diag(1 + np.arange(4), k=-1))",
    "a chessboard": """
        z = np.zeros((8, 8), dtype=int)
        z[1::2, ::2] = 1
        z[::2, 1::2] = 1
        print(z, np.array_equal(z, np.tile(np.array([[0, 1], [1, 0]]), (4, 4))))
    """,
    "the hundredth element of a box": "print(np.unravel_index(99, (6, 7, 8)))",
    "to between 0 and 1": """
        z = (np.arange(25.0).reshape(5, 5) * 7) % 11
        low, high = z.min(), z.max()
        print(((z - low) / (high - low)).round(6))
    """,
    "a colour of four bytes": """
        color = np.dtype([("r", np.ubyte), ("g", np.ubyte), ("b", np.ubyte), ("a", np.ubyte)])
        z = np.zeros(2, dtype=color)
        z["g"] = 255
        print(z, z.dtype.names, z["g"].sum())
    """,
    "negated in place": """
        z = np.arange(11)
        z[(3 < z) & (z < 8)] *= -1
        print(z)
    """,
    "divisions": """
        with np.errstate(all="ignore"):
            print(np.array(0.0) / np.array(0.0), np.array(0) // np.array(0))
            print(np.array([np.nan]).astype(int).astype(float))
    """,
    "away from zero": """
        z = np.linspace(-10, 10, 9)
        print(np.copysign(np.ceil(np.abs(z)), z), np.where(z > 0, np.ceil(z), np.floor(z)))
    """,
    "in common": """
        a, b = np.array([3, 1, 4, 1, 5, 9, 2, 6]), np.array([5, 3, 5, 8, 9, 7, 9])
        print(np.intersect1d(a, b), np.union1d(a, b), np.setdiff1d(a, b), np.isin(a, b))
    """,
    "no warnings": """
        old = np.seterr(all="ignore")
        z = np.ones(1) / 0
        print(z, sorted(old))
        np.seterr(**old)
    """,
    "days": """
        day = np.datetime64("2024-02-28", "D")
        print(day + np.timedelta64(2, "D"), day - np.timedelta64(1, "D"))
        print(np.arange("2016-07", "2016-08", dtype="datetime64[D]")[-2:])
        print(np.busday_count("2024-01-01", "2024-02-01"), np.isnat(np.datetime64("NaT")))
    """,
    "in place": """
        a, b = np.ones(3) * 1, np.ones(3) * 2
        np.add(a, b, out=b)
        np.divide(a, 2, out=a)
        np.negative(a, out=a)
        np.multiply(a, b, out=a)
        print(a, b)
    """,
    "whole parts": """
        z = np.array([0.25, 3.75, 9.5])
        print(z - z % 1, z // 1, np.floor(z), z.astype(int), np.trunc(z))
    """,
    "from a generator": """
        def numbers():
            for i in range(10):
                yield i
        print(np.fromiter(numbers(), dtype=float, count=-1))
    """,
    "open ends": "print(np.linspace(0, 1, 11, endpoint=False)[1:])",
    "sorted in place": """
        z = np.array([0.5, -1.0, 2.25, 0.0])
        z.sort()
        print(z, np.add.reduce(z))
    """,
    "read only": """
        z = np.zeros(10)
        z.flags.writeable = False
        z[0] = 1
    """,
    "polar": """
        z = np.array([[3.0, 4.0], [0.0, 2.0], [-1.0, 0.0]])
        x, y = z[:, 0], z[:, 1]
        print(np.sqrt(x**2 + y**2), np.arctan2(y, x).round(12))
    """,
    "the largest becomes zero": """
        z = np.array([4.0, 9.0, 1.0])
        z[z.argmax()] = 0
        print(z)
    """,
    "a grid of records": """
        z = np.zeros((3, 3), [("x", float), ("y", float)])
        z["x"], z["y"] = np.meshgrid(np.linspace(0, 1, 3), np.linspace(0, 1, 3))
        print(z)
    """,
    "a Cauchy matrix": """
        x = np.arange(4)
        y = x + 0.5
        c = 1.0 / np.subtract.outer(x, y)
        print(c.round(6), np.linalg.det(c).round(6))
    """,
    "limits of types": """
        for dtype in [np.int8, np.int32, np.int64]:
            print(np.iinfo(dtype).min, np.iinfo(dtype).max, dtype.__name__)
        for dtype in [np.float32, np.float64]:
            print(np.finfo(dtype).min, np.finfo(dtype).max, np.finfo(dtype).eps)
    """,
    "all of it printed": """
        with np.printoptions(threshold=1000, precision=3):
            print(np.array2string(np.arange(4) / 3))
        print(np.array_repr(np.eye(2)), np.array_str(np.eye(2)))
    """,
    "the nearest": """
        z, v = np.arange(100), 41.7
        print(z[(np.abs(z - v)).argmin()])
    """,
    "records in order": """
        people = np.array([("ann", 31, 1.7), ("bob", 25, 1.8)],
                          dtype=[("name", "U5"), ("age", int), ("height", float)])
        print(np.sort(people, order="age")["name"], people["age"].mean())
    """,
    "distances": """
        z = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
        d = np.sqrt(((z[:, None] - z[None]) ** 2).sum(-1))
        print(d)
        x, y = np.atleast_2d(z[:, 0], z[:, 1])
        print(np.sqrt((x - x.T) ** 2 + (y - y.T) ** 2))
    """,
    "other numbers in the same memory": """
        z = (np.arange(5) * 100).astype(np.float32)
        y = z.view(np.int32)
        y[:] = z
        print(y)
    """,
    "a file": """
        import io
        text = io.StringIO("1, 2, 3\\n6,  ,  \\n ,  , 7\\n")
        print(np.genfromtxt(text, delimiter=",", dtype=int))
    """,
    "enumerated": """
        z = np.arange(4).reshape(2, 2)
        for index, value in np.ndenumerate(z):
            print(index, value)
        for index in np.ndindex(z.shape):
            print(index, z[index])
    """,
    "a bell": """
        x, y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5))
        print(np.exp(-((np.sqrt(x * x + y * y) - 0.0) ** 2 / 2.0)).round(9))
    """,
    "without the mean of rows": """
        x = np.arange(12.0).reshape(3, 4) ** 2
        print(x - x.mean(axis=1, keepdims=True))
    """,
    "by a column": """
        z = np.array([[3, 9, 1], [8, 0, 4], [5, 7, 2]])
        print(z[z[:, 1].argsort()])
    """,
    "empty columns": """
        z = np.array([[1, 0, 2], [3, 0, 0]])
        print((~z.any(axis=0)).any(), np.isnan(np.array([1.0, np.nan])).any())
    """,
    "broadcast sums": """
        a, b = np.arange(3).reshape(3, 1), np.arange(3).reshape(1, 3)
        it = np.nditer([a, b, None])
        for x, y, z in it:
            z[...] = x + y
        print(it.operands[2])
    """,
    "a class of arrays": """
        class NamedArray(np.ndarray):
            def __new__(cls, array, name="no name"):
                obj = np.asarray(array).view(cls)
                obj.name = name
                return obj
            def __array_finalize__(self, obj):
                if obj is None:
                    return
                self.name = getattr(obj, "name", "no name")
        z = NamedArray(np.arange(3), "range")
        print(z.name, (z + 1).name, z.sum(), isinstance(z, np.ndarray))
    """,
    "counted places": """
        z, i = np.ones(5), np.array([0, 2, 2, 3, 3, 3])
        z += np.bincount(i, minlength=len(z))
        print(z)
        np.add.at(z, i, 1)
        print(z)
    """,
    "weights to places": "print(np.bincount([1, 3, 9, 3, 4, 1], [1.0, 2, 3, 4, 5, 6]))",
    "colours of a picture": """
        w, h = 4, 4
        picture = ((np.arange(w * h * 3) * 37) % 4).reshape(h, w, 3).astype(np.ubyte)
        colours = np.unique(picture.reshape(-1, 3), axis=0)
        print(len(colours), colours.dtype)
    """,
    "sums of the last two axes": """
        a = np.arange(3 * 4 * 3 * 4).reshape(3, 4, 3, 4)
        print(a.sum(axis=(-2, -1)), a.reshape(a.shape[:-2] + (-1,)).sum(axis=-1))
    """,
    "the diagonal of a product": """
        a, b = np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3)[::-1]
        print(np.diag(np.dot(a, b)), np.sum(a * b.T, axis=1), np.einsum("ij,ji->i", a, b))
    """,
    "zeros between": """
        z = np.array([1, 2, 3, 4, 5])
        y = np.zeros(len(z) + (len(z) - 1) * 3)
        y[::4] = z
        print(y)
    """,
    "rows change places": """
        a = np.arange(25).reshape(5, 5)
        a[[0, 1]] = a[[1, 0]]
        print(a[:2])
    """,
    "edges of triangles": """
        faces = (np.arange(12).reshape(4, 3) * 7) % 5
        f = np.roll(faces.repeat(2, axis=1), -1, axis=1)
        f = f.reshape(len(f) * 3, 2)
        f = np.sort(f, axis=1)
        g = f.view(dtype=[("p0", f.dtype), ("p1", f.dtype)])
        print(np.unique(np.asarray(g)))
    """,
    "repeated as counted": """
        c = np.bincount([1, 1, 2, 3, 4, 4, 6])
        print(np.repeat(np.arange(len(c)), c))
    """,
    "a sliding mean": """
        a = np.arange(20, dtype=float)
        ret = np.cumsum(a)
        ret[3:] = ret[3:] - ret[:-3]
        print(ret[2:] / 3, np.convolve(a, np.ones(3) / 3, "valid").round(9))
    """,
    "windows": """
        z = np.arange(1, 15, dtype=np.uint32)
        print(np.lib.stride_tricks.as_strided(z, (11, 4), (4, 4)))
        print(np.lib.stride_tricks.sliding_window_view(z, 4)[::5])
    """,
    "negated, signs changed": """
        z = np.array([1, 0, 1, 1], dtype=bool)
        np.logical_not(z, out=z)
        y = np.array([0.5, -0.25])
        np.negative(y, out=y)
        print(z, y)
    """,
    "the rank": "print(np.linalg.matrix_rank(np.arange(9.0).reshape(3, 3)))",
    "the most frequent": "print(np.bincount([3, 5, 3, 1, 0, 5, 3]).argmax())",
    "a symmetric class": """
        class Symmetric(np.ndarray):
            def __setitem__(self, index, value):
                i, j = index
                super().__setitem__((i, j), value)
                super().__setitem__((j, i), value)
        def symmetric(z):
            return np.asarray(z + z.T - np.diag(z.diagonal())).view(Symmetric)
        s = symmetric(np.arange(9).reshape(3, 3))
        s[0, 2] = 42
        print(s)
    """,
    "many products": """
        p, n = 3, 4
        m, v = np.ones((p, n, n)), np.ones((p, n, 1))
        print(np.tensordot(m, v, axes=[[0, 2], [0, 1]]))
    """,
    "sums of blocks": """
        z = np.ones((16, 16))
        k = 4
        rows = np.add.reduceat(z, np.arange(0, 16, k), axis=0)
        print(np.add.reduceat(rows, np.arange(0, 16, k), axis=1))
    """,
    "the game of life": """
        def iterate(z):
            n = (z[0:-2, 0:-2] + z[0:-2, 1:-1] + z[0:-2, 2:] + z[1:-1, 0:-2] + z[1:-1, 2:]
                 + z[2:, 0:-2] + z[2:, 1:-1] + z[2:, 2:])
            birth = (n == 3) & (z[1:-1, 1:-1] == 0)
            survive = ((n == 2) | (n == 3)) & (z[1:-1, 1:-1] == 1)
            z[...] = 0
            z[1:-1, 1:-1][birth | survive] = 1
            return z
        z = ((np.arange(64) * 11) % 3 == 0).astype(int).reshape(8, 8)
        for _ in range(4):
            z = iterate(z)
        print(z)
    """,
    "the largest": """
        z = (np.arange(100) * 37) % 101
        print(np.sort(z[np.argpartition(-z, 5)[:5]]), z[np.argsort(z)[-5:]])
    """,
    "a product of sets": """
        def cartesian(arrays):
            arrays = [np.asarray(a) for a in arrays]
            shape = tuple(len(x) for x in arrays)
            ix = np.indices(shape, dtype=int)
            ix = ix.reshape(len(arrays), -1).T
            for n, arr in enumerate(arrays):
                ix[:, n] = arrays[n][ix[:, n]]
            return ix
        print(cartesian(([1, 2, 3], [4, 5], [6, 7])))
    """,
    "records of lists": """
        z = np.array([("hello", 2.5, 3), ("world", 3.6, 2)])
        r = np.rec.fromarrays(z.T, names="a, b, c", formats="S8, f8, i8")
        print(r, r.b, r["c"])
    """,
    "rows with something else": """
        z = np.array([[1, 1, 1], [1, 2, 1], [3, 3, 3]])
        print(z[~np.all(z[:, 1:] == z[:, :-1], axis=1)], z[z.max(axis=1) != z.min(axis=1), :])
    """,
    "bits": """
        i = np.array([0, 1, 2, 3, 15, 16, 32, 64, 128], dtype=np.uint8)
        print(np.unpackbits(i[:, np.newaxis], axis=1))
        print(((i.reshape(-1, 1) & (2 ** np.arange(8))) != 0).astype(int)[:, ::-1])
    """,
    "rows once": """
        z = np.array([[0, 1], [0, 1], [1, 0]])
        t = np.ascontiguousarray(z).view(np.dtype((np.void, z.dtype.itemsize * z.shape[1])))
        _, index = np.unique(np.asarray(t), return_index=True)
        print(z[np.sort(index)], np.unique(z, axis=0))
    """,
    "along a curve": """
        t = np.linspace(0, 10, 40)
        x, y = t * np.cos(t), t * np.sin(t)
        dr = (np.diff(x) ** 2 + np.diff(y) ** 2) ** 0.5
        r = np.zeros_like(x)
        r[1:] = np.cumsum(dr)
        print(np.interp(np.linspace(0, r.max(), 5), r, x).round(9))
    """,
    "a bootstrap": """
        x = np.arange(10.0) ** 2
        index = (np.arange(50) * 7 % 10).reshape(5, 10)
        print(np.percentile(x[index].mean(axis=1), [2.5, 97.5]))
    """,
    "drawn from a seed": """
        np.random.seed(3)
        print(np.random.randint(0, 9, 5), np.random.rand(2), np.random.normal(0, 1, 2))
        rng = np.random.default_rng(1)
        z = np.zeros((3, 3))
        np.put(z, rng.choice(range(9), 3, replace=False), 1)
        print(z)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_prints_what_it_prints_under_numpy(name):
    same(PROGRAMS[name])
