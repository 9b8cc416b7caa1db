// Values, derivatives and antiderivatives of series.
#include "composit/numpy/polynomial_series.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

namespace composit::numpy::polynomial {
namespace {

using Rows = std::vector<Tensor>;  // the coefficients of each degree

// At least one dimension, floating: float64 for integers and bool.
Tensor series(const Tensor& c) {
    const Tensor given = atleast_1d(strong(c));
    return ir::is_inexact(given.dtype()) ? given : ops::astype(given, DType::float64);
}

Rows rows_of(const Tensor& c) {
    Rows rows;
    const Shape rest(c.shape().begin() + 1, c.shape().end());
    for (int64_t i = 0; i < c.shape()[0]; ++i) rows.push_back(reshape(ops::part(c, 0, i, 1), rest));
    return rows;
}

// Of one dtype, that of the series.
Tensor joined(Rows rows, DType dtype) {
    for (Tensor& row : rows) row = ops::astype(row, dtype);
    return stack(rows, 0);
}

// x, and what depends on it alone. Of a Python scalar these are Python's numbers, which have no
// dtype of their own either.
struct Point {
    Tensor x;
    std::optional<double> number;

    explicit Point(const Tensor& at) : x(at) {
        const bool is_number =
            at.type().weak && ir::is_constant(at.node()) && !ir::is_complex(at.dtype());
        if (is_number)
            number = *concrete("val", "x", ops::astype(at, DType::float64)).data_as<double>();
    }
    [[nodiscard]] Tensor times(int64_t factor) const {
        return number ? ir::weak_scalar(*number * static_cast<double>(factor)) : x * factor;
    }
    [[nodiscard]] Tensor from(int64_t start) const {  // start - x
        return number ? ir::weak_scalar(static_cast<double>(start) - *number) : start - x;
    }
};

// One step of Clenshaw's recurrence is (a, b) -> (c - b u, a + b v), and the sum ends as a + b w:
// u and v depend on how many terms are left, v and w on x.
struct Clenshaw {
    Basis basis;
    Point point;
    Tensor x, twice;

    Clenshaw(Basis kind, const Point& at) : basis(kind), point(at), x(at.x) {
        if (kind == Basis::chebyshev || kind == Basis::hermite) twice = at.times(2);
    }

    void step(Tensor& a, Tensor& b, const Tensor& next, int64_t terms) const {
        const Tensor before = a;
        const double n = static_cast<double>(terms);
        switch (basis) {
            case Basis::power: break;
            case Basis::chebyshev:
                a = next - b;
                b = before + b * twice;
                break;
            case Basis::legendre:
                a = next - b * ((n - 1) / n);
                b = before + b * x * ((2 * n - 1) / n);
                break;
            case Basis::hermite:
                a = next - b * (2 * (terms - 1));
                b = before + b * twice;
                break;
            case Basis::hermite_e:
                a = next - b * (terms - 1);
                b = before + b * x;
                break;
            case Basis::laguerre:
                a = next - (b * (terms - 1)) / terms;
                b = before + (b * point.from(2 * terms - 1)) / terms;
                break;
        }
    }
    Tensor end(const Tensor& a, const Tensor& b) const {
        if (basis == Basis::hermite) return a + b * twice;
        return basis == Basis::laguerre ? a + b * point.from(1) : a + b * x;
    }
};

Tensor sum(Basis basis, const Tensor& x, const Rows& c) {
    const size_t n = c.size();
    const Point point(x);
    if (basis == Basis::power) {
        Tensor result = c[n - 1] + point.times(0);
        for (size_t i = n - 1; i-- > 0;) result = c[i] + result * x;
        return result;
    }
    const Clenshaw rule(basis, point);
    if (n == 1) {  // not x alone: 0 (1 - x) may have the other sign, or be NaN
        const bool is_turned = basis == Basis::laguerre;
        return c[0] + (is_turned ? Point(point.from(1)) : point).times(0);
    }
    Tensor a = c[n - 2], b = c[n - 1];
    for (size_t i = n - 2; i-- > 0;) rule.step(a, b, c[i], static_cast<int64_t>(i) + 2);
    return rule.end(a, b);
}

// The derivative's coefficients; `c` gives up what the recurrence moves down.
Rows derivative(Basis basis, Rows c) {
    const auto n = static_cast<int64_t>(c.size()) - 1;
    Rows result(static_cast<size_t>(n));
    const auto at = [](Rows& rows, int64_t i) -> Tensor& { return rows[static_cast<size_t>(i)]; };
    for (int64_t j = n; j >= 1; --j) {
        Tensor& row = at(result, j - 1);
        const Tensor own = at(c, j);
        switch (basis) {
            case Basis::power:
            case Basis::hermite_e: row = j * own; break;
            case Basis::hermite: row = (2 * j) * own; break;
            case Basis::chebyshev:
                row = j == 1 ? own : (2 * j) * own;
                if (j > 2) at(c, j - 2) = at(c, j - 2) + (j * own) / (j - 2);
                break;
            case Basis::legendre:
                row = j == 1 ? own : (2 * j - 1) * own;
                if (j > 2) at(c, j - 2) = at(c, j - 2) + own;
                break;
            case Basis::laguerre:
                row = -own;
                if (j > 1) at(c, j - 1) = at(c, j - 1) + own;
                break;
        }
    }
    return result;
}

// An antiderivative, of no constant in particular.
Rows antiderivative(Basis basis, const Rows& c) {
    const auto n = static_cast<int64_t>(c.size());
    Rows result(c.size() + 1);
    const auto at = [&](int64_t i) -> Tensor& { return result[static_cast<size_t>(i)]; };
    at(0) = basis == Basis::laguerre ? c[0] : c[0] * 0;
    at(1) = basis == Basis::laguerre ? -c[0] : basis == Basis::hermite ? c[0] / 2 : c[0];
    for (int64_t j = 1; j < n; ++j) {
        const Tensor& own = c[static_cast<size_t>(j)];
        switch (basis) {
            case Basis::power:
            case Basis::hermite_e: at(j + 1) = own / (j + 1); break;
            case Basis::hermite: at(j + 1) = own / (2 * (j + 1)); break;
            case Basis::chebyshev:
                at(j + 1) = own / (2 * (j + 1));
                if (j > 1) at(j - 1) = at(j - 1) - own / (2 * (j - 1));
                break;
            case Basis::legendre:
                at(j + 1) = own / (2 * j + 1);
                if (j > 1) at(j - 1) = at(j - 1) - at(j + 1);
                break;
            case Basis::laguerre:
                at(j) = at(j) + own;
                at(j + 1) = -own;
                break;
        }
    }
    return result;
}

std::string named(Basis basis, std::string_view function) { return text(prefix(basis), function); }

}  // namespace

std::string_view prefix(Basis basis) {
    switch (basis) {
        case Basis::power: return "poly";
        case Basis::chebyshev: return "cheb";
        case Basis::legendre: return "leg";
        case Basis::hermite: return "herm";
        case Basis::hermite_e: return "herme";
        case Basis::laguerre: return "lag";
    }
    return "";
}

Tensor val(Basis basis, const Tensor& x, const Tensor& c, bool tensor) {
    const std::string name = named(basis, "val");
    return errors_as(name, [&] {
        Tensor own = series(c);
        user_check(own.shape()[0] > 0, name, ": c has no coefficient. One is required.");
        if (tensor && !x.type().weak) {
            Shape shape = own.shape();
            shape.insert(shape.end(), static_cast<size_t>(x.rank()), 1);
            own = reshape(own, shape);
        }
        return sum(basis, x, rows_of(own));
    });
}

Tensor vander(Basis basis, const Tensor& given, int64_t degree) {
    const std::string name = named(basis, "vander");
    user_check(degree >= 0, name, ": deg must be non-negative, not ", degree, ".");
    return errors_as(name, [&] {
        const Tensor x = series(given) + 0.0;
        const bool is_twice = basis == Basis::chebyshev || basis == Basis::hermite;
        const Tensor twice = is_twice ? 2 * x : Tensor();
        Rows v{x * 0 + 1};
        if (degree > 0)
            v.push_back(basis == Basis::laguerre ? 1 - x : basis == Basis::hermite ? twice : x);
        for (int64_t i = 2; i <= degree; ++i) {
            const Tensor a = v[v.size() - 1], b = v[v.size() - 2];
            switch (basis) {
                case Basis::power: v.push_back(a * x); break;
                case Basis::chebyshev: v.push_back(a * twice - b); break;
                case Basis::legendre: v.push_back((a * x * (2 * i - 1) - b * (i - 1)) / i); break;
                case Basis::hermite: v.push_back(a * twice - b * (2 * (i - 1))); break;
                case Basis::hermite_e: v.push_back(a * x - b * (i - 1)); break;
                case Basis::laguerre: v.push_back((a * (2 * i - 1 - x) - b * (i - 1)) / i); break;
            }
        }
        return stack(v, -1);
    });
}

Tensor der(Basis basis, const Tensor& c, int64_t m, const Operand& scale, int64_t axis) {
    const std::string name = named(basis, "der");
    user_check(m >= 0, name, ": The order of derivation must be non-negative, not ", m, ".");
    const Tensor given = series(c);
    const int64_t place = normalize_axis(name, axis, given.rank());
    if (m == 0) return given;
    return errors_as(name, [&] {
        const Tensor first = moveaxis(given, place, 0);
        if (m >= first.shape()[0]) return moveaxis(ops::part(first, 0, 0, 1) * 0, 0, place);
        Rows rows = rows_of(first);
        for (int64_t i = 0; i < m; ++i) {
            for (Tensor& row : rows) row = row * scale.tensor();
            rows = derivative(basis, rows);
        }
        return moveaxis(joined(rows, given.dtype()), 0, place);
    });
}

Tensor integ(Basis basis, const Tensor& c, int64_t m, const std::vector<Tensor>& k,
             const Operand& lower, const Operand& scale, int64_t axis) {
    const std::string name = named(basis, "int");
    user_check(m >= 0, name, ": The order of integration must be non-negative, not ", m, ".");
    user_check(static_cast<int64_t>(k.size()) <= m, name,
               ": Too many integration constants: ", k.size(), " for order ", m, ".");
    user_check(lower.tensor().rank() == 0, name, ": lbnd must be a scalar.");
    user_check(scale.tensor().rank() == 0, name, ": scl must be a scalar.");
    const Tensor given = series(c);
    const int64_t place = normalize_axis(name, axis, given.rank());
    if (m == 0) return given;
    return errors_as(name, [&] {
        Rows rows = rows_of(moveaxis(given, place, 0));
        for (size_t i = 0; i < static_cast<size_t>(m); ++i) {
            const Tensor constant = i < k.size() ? k[i] : ir::weak_scalar(int64_t{0});
            for (Tensor& row : rows) row = row * scale.tensor();
            const bool is_zero = rows.size() == 1 && truth(name, all(apply("equal", {rows[0], 0})),
                                                           "a series of more than one term");
            if (!is_zero) rows = antiderivative(basis, rows);
            rows[0] = rows[0] + (is_zero ? constant : constant - sum(basis, lower.tensor(), rows));
            for (Tensor& row : rows) row = ops::astype(row, given.dtype());
        }
        return moveaxis(joined(rows, given.dtype()), 0, place);
    });
}

}  // namespace composit::numpy::polynomial
