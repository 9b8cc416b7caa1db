// numpy.linalg: products, powers and norms of matrices, solutions and decompositions.
//
// Leading axes of a tensor are a batch of matrices (…, m, n). Each function is NumPy's of that
// name. Decompositions and solutions are LAPACK's (composit/foreign/lapack.h): they are computed in
// double precision, as NumPy's are, also of float32, which is then rounded. Integers become
// float64; of float16 and bfloat16 they are TypeErrors. Shapes that do not fit are LinAlgErrors or
// ValueErrors at once; what depends on values (a singular matrix) is a LinAlgError when it is
// evaluated.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace composit::numpy::linalg {

// ----- products; sums as those of numpy/linear.h
// The cross product of vectors of three elements along one axis of both. ValueError for others.
[[nodiscard]] Tensor cross(const Tensor& x1, const Tensor& x2, int64_t axis = -1);
// The diagonals of the matrices in the last two axes: a view.
[[nodiscard]] Tensor diagonal(const Tensor& x, int64_t offset = 0);
[[nodiscard]] Tensor matmul(const Tensor& x1, const Tensor& x2);
[[nodiscard]] Tensor matrix_transpose(const Tensor& x);
// The product of two or more matrices, bracketed so that it takes the fewest multiplications; the
// first may be a row, the last a column (1-d). ValueError: fewer; LinAlgError: other shapes.
[[nodiscard]] Tensor multi_dot(const std::vector<Tensor>& arrays);
// Products of all pairs. ValueError unless both have one dimension.
[[nodiscard]] Tensor outer(const Tensor& x1, const Tensor& x2);
[[nodiscard]] Tensor tensordot(const Tensor& x1, const Tensor& x2, int64_t axes = 2);
[[nodiscard]] Tensor tensordot(const Tensor& x1, const Tensor& x2,
                               const std::vector<int64_t>& axes1,
                               const std::vector<int64_t>& axes2);
// Sums of the diagonals of the last two axes; elements are converted to `dtype` first.
[[nodiscard]] Tensor trace(const Tensor& x, int64_t offset = 0, std::optional<DType> dtype = {});
[[nodiscard]] Tensor vecdot(const Tensor& x1, const Tensor& x2, int64_t axis = -1);

// The n-th power, n products; of the inverse for n < 0.
[[nodiscard]] Tensor matrix_power(const Tensor& a, int64_t n);

// ----- solutions
// The triangular factor: lower L of a = L Lᴴ, or U of a = Uᴴ U. LinAlgError: not positive definite.
[[nodiscard]] Tensor cholesky(const Tensor& a, bool upper = false);
[[nodiscard]] Tensor det(const Tensor& a);
struct SlogdetResult {
    Tensor sign, logabsdet;
};
[[nodiscard]] SlogdetResult slogdet(const Tensor& a);
[[nodiscard]] Tensor inv(const Tensor& a);
// x of a x = b. b is a vector where it has one dimension, else a batch of matrices.
[[nodiscard]] Tensor solve(const Tensor& a, const Tensor& b);
// x of tensordot(a, x, x.ndim) = b, with the axes moved to the end of a before.
[[nodiscard]] Tensor tensorsolve(const Tensor& a, const Tensor& b,
                                 const std::optional<std::vector<int64_t>>& axes = {});
// The inverse with respect to tensordot(., ., ind).
[[nodiscard]] Tensor tensorinv(const Tensor& a, int64_t ind = 2);
// The Moore-Penrose inverse; singular values at most rcond (one for each matrix) times the largest
// count as zero. `hermitian`: of the Hermitian matrix of which a has the lower triangle.
[[nodiscard]] Tensor pinv(const Tensor& a, const Operand& rcond = 1e-15, bool hermitian = false);
// The longer side of the matrices times the precision of their dtype: numpy.linalg.pinv's
// rtol=None.
[[nodiscard]] double relative_precision(const Tensor& a);
struct LstsqResult {
    Tensor x, residuals, rank, s;
};
// The x of the smallest norm that minimises the norm of a x - b. `residuals` is empty unless the
// rank is full and there are more rows than columns, which is found by evaluating; under
// placeholders it has one element for each column of b, NaN where the rank is not full. rcond
// unless given: the precision of float64 times the longer side.
[[nodiscard]] LstsqResult lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {});

// ----- decompositions
struct QRResult {
    Tensor Q, R;
};
// Of mode "reduced" or "complete".
[[nodiscard]] QRResult qr(const Tensor& a, std::string_view mode = "reduced");
// Of mode "r": R alone.
[[nodiscard]] Tensor qr_r(const Tensor& a);
// Of mode "raw": LAPACK's factors, transposed, and tau.
[[nodiscard]] std::vector<Tensor> qr_raw(const Tensor& a);
struct SVDResult {
    Tensor U, S, Vh;
};
// `hermitian`: by the eigenvalues of the Hermitian matrix of which a has the lower triangle.
[[nodiscard]] SVDResult svd(const Tensor& a, bool full_matrices = true, bool hermitian = false);
[[nodiscard]] Tensor svdvals(const Tensor& x, bool hermitian = false);
struct EigResult {
    Tensor eigenvalues, eigenvectors;
};
// Of Hermitian matrices, of which the triangle `uplo`, "L" or "U", is read.
[[nodiscard]] EigResult eigh(const Tensor& a, std::string_view uplo = "L");
[[nodiscard]] Tensor eigvalsh(const Tensor& a, std::string_view uplo = "L");
// Of any square matrices. For a real tensor with real eigenvalues both are real, which is found by
// evaluating: NotSupported under placeholders for real tensors.
[[nodiscard]] EigResult eig(const Tensor& a);
[[nodiscard]] Tensor eigvals(const Tensor& a);

// ----- norms
// None, a number (also infinity), or "fro", "nuc".
class Order {
  public:
    Order() = default;
    template <class T>
        requires(std::integral<T> || std::floating_point<T>)
    Order(T number) : number_(static_cast<double>(number)) {}
    Order(const char* name) : name_(name) {}
    Order(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] bool is_none() const { return !number_ && name_.empty(); }
    [[nodiscard]] bool is(double number) const { return number_ == number; }
    [[nodiscard]] bool is(std::string_view name) const { return !name_.empty() && name_ == name; }
    [[nodiscard]] const std::optional<double>& number() const { return number_; }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    std::optional<double> number_;
    std::string name_;
};

// Of a vector (one axis) or of matrices (two); of all elements for no order and no axis. Gradients
// of roots of sums of squares are 0 where the norm is, as PyTorch's.
[[nodiscard]] Tensor norm(const Tensor& x, const Order& ord = {}, const Axis& axis = {},
                          bool keepdims = false);
[[nodiscard]] Tensor matrix_norm(const Tensor& x, const Order& ord = "fro", bool keepdims = false);
// Over several axes as over one of all their elements.
[[nodiscard]] Tensor vector_norm(const Tensor& x, const Axis& axis = {}, const Order& ord = 2,
                                 bool keepdims = false);
// norm(x, p) norm(inv(x), p), infinite for singular matrices; by singular values for p of 2, -2 and
// none.
[[nodiscard]] Tensor cond(const Tensor& x, const Order& p = {});
// How many singular values exceed `tol`, or rtol times the largest; rtol unless given: the
// precision of the dtype times the longer side.
[[nodiscard]] Tensor matrix_rank(const Tensor& a, const Operand& tol = {}, bool hermitian = false,
                                 const Operand& rtol = {});

}  // namespace composit::numpy::linalg
