// Dtypes that PyTorch demands of operands, in rows.
#include "composit/aten/operand_rows.h"
#include "composit/aten/operand_rules.h"
#include "composit/base/error.h"
#include "composit/ir/dtype.h"
#include "composit/ir/dtype_traits.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

using ir::cpp_type_name;
using ir::DType;
using ir::scalar_type_name;
using Dtypes = std::vector<std::optional<DType>>;
using std::string_view;

// ----- dtypes that a function computes

enum Kind : unsigned {
    takes_truths = 1,
    takes_integers = 2,
    takes_floats = 4,
    takes_complexes = 8
};
struct KindsComputed {
    string_view names;
    unsigned kinds;
    bool yields_to_dtype = false;  // integers are taken where a dtype is asked for
};
const std::vector<KindsComputed>& kinds() {
    static const std::vector<KindsComputed> rows{
        {"bitwise_and bitwise_not bitwise_or bitwise_xor gcd lcm", takes_truths | takes_integers},
        {"bitwise_left_shift bitwise_right_shift", takes_integers},
        {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
         "adaptive_max_pool2d adaptive_max_pool3d binary_cross_entropy "
         "binary_cross_entropy_with_logits cdist celu cosine_similarity cross_entropy ctc_loss elu "
         "frac frexp gelu glu grid_sample group_norm hardshrink hardsigmoid hardswish histc "
         "histogram histogramdd huber_loss hypot igamma igammac instance_norm kl_div layer_norm "
         "leaky_relu logaddexp2 logsigmoid max_unpool1d max_unpool2d max_unpool3d mish mse_loss "
         "multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nanquantile "
         "nextafter nll_loss pdist prelu quantile selu smooth_l1_loss softplus softshrink "
         "view_as_complex",
         takes_floats},
        {"softmax log_softmax softmin nanmean", takes_floats, true},
        {"cholesky cholesky_inverse cholesky_solve dist geqrf lerp linalg_cholesky "
         "linalg_cholesky_ex linalg_cond linalg_det linalg_eig linalg_eigh linalg_eigvals "
         "linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq "
         "linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_rank "
         "linalg_pinv linalg_qr linalg_slogdet linalg_solve linalg_solve_ex "
         "linalg_solve_triangular linalg_tensorinv linalg_tensorsolve linalg_vecdot logaddexp "
         "logcumsumexp logdet lu lu_solve matrix_exp ormqr pinverse qr renorm rms_norm silu std "
         "std_mean triangular_solve var var_mean",
         takes_floats | takes_complexes},
        {"linalg_matrix_norm linalg_norm linalg_vector_norm norm", takes_floats | takes_complexes,
         true},
        {"abs addbmm addcmul addmm addmv baddbmm bmm conv1d conv2d conv3d conv_transpose1d "
         "conv_transpose2d conv_transpose3d corrcoef cov cross cumulative_trapezoid dot "
         "linalg_cross "
         "linalg_vander linear matmul mm mv positive softsign tanhshrink trace trapezoid trapz "
         "vdot",
         takes_integers | takes_floats | takes_complexes},
        {"amax amin aminmax argsort atan2 arctan2 clamp_max clamp_min copysign cummax cummin "
         "deg2rad digamma erf erfc erfinv fmax fmin ge gt greater greater_equal heaviside i0 "
         "isneginf isposinf le less less_equal lgamma logit lt max maximum min minimum mode msort "
         "nansum polygamma rad2deg scaled_dot_product_attention sign signbit sort "
         "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_entr "
         "special_erfcx special_i0e special_i1 special_i1e special_log_ndtr "
         "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
         "special_modified_bessel_k1 special_ndtr special_ndtri "
         "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
         "special_spherical_bessel_j0 special_xlog1py special_zeta unique unique_consecutive xlogy",
         takes_truths | takes_integers | takes_floats},
        {"argmax argmin avg_pool1d avg_pool2d avg_pool3d bucketize ceil clamp clip floor "
         "floor_divide fmod hardtanh isin kthvalue local_response_norm margin_ranking_loss "
         "max_pool1d max_pool2d max_pool3d median mvlgamma nanmedian relu relu6 remainder round "
         "threshold topk trunc",
         takes_integers | takes_floats}};
    return rows;
}

unsigned kind_of(DType dtype) {
    if (dtype == DType::boolean) return takes_truths;
    if (ir::is_complex(dtype)) return takes_complexes;
    return ir::is_inexact(dtype) ? takes_floats : takes_integers;
}

void check_kinds(string_view function, const Dtypes& all, bool asks_for_dtype) {
    static const auto rows = by_name(kinds());
    const KindsComputed* const row = row_of(rows, function);
    if (!row || (row->yields_to_dtype && asks_for_dtype)) return;
    std::optional<DType> widest;  // of the highest kind: what the operands are promoted to
    for (const auto& dtype : all)
        if (dtype && (!widest || kind_of(*dtype) > kind_of(*widest))) widest = dtype;
    if (!widest) return;
    user_check<NotSupported>(row->kinds & kind_of(*widest), '"', function,
                             "\" not implemented for '", scalar_type_name(*widest), "'");
}

// ----- operands of one dtype

struct NamedOperand {
    size_t place;
    string_view name;
};
struct OneDtype {
    string_view names;
    std::vector<NamedOperand> operands;
    string_view text;  // {0} and <0>: the first operand's dtype as PyTorch and as C++ names it
};
const std::vector<OneDtype>& one_dtype() {
    constexpr string_view found = "expected scalar type {0} but found {1}";
    constexpr string_view scattered = "scatter(): Expected self.dtype to be equal to src.dtype";
    static const std::vector<OneDtype> rows{
        {"conv1d conv2d conv3d",
         {{0, "input"}, {2, "bias"}},
         "Input type (<0>) and bias type (<1>) should be the same"},
        {"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
         {{0, "input"}, {1, "weight"}},
         found},
        {"linear",
         {{0, "input"}, {1, "weight"}},
         "mat1 and mat2 must have the same dtype, but got {0} and {1}"},
        {"linear",
         {{2, "bias"}, {1, "weight"}},
         "self and mat2 must have the same dtype, but got {0} and {1}"},
        {"addmm addbmm",
         {{0, "input"}, {2, "mat2"}},
         "self and mat2 must have the same dtype, but got {0} and {1}"},
        {"addmv",
         {{0, "input"}, {1, "mat"}, {2, "vec"}},
         "addmv input tensors must have the same dtype, but got {0}, {1}, and {2}"},
        {"baddbmm",
         {{0, "input"}, {1, "batch1"}, {2, "batch2"}},
         "Input dtypes must be the same, got: input <0>, batch1: <1>, batch2: <2>"},
        {"allclose isclose", {{0, "input"}, {1, "other"}}, "{0} did not match {1}"},
        {"cross linalg_cross", {{0, "input"}, {1, "other"}}, found},
        {"cdist", {{0, "x1"}, {1, "x2"}}, found},
        {"grid_sample", {{0, "input"}, {1, "grid"}}, found},
        {"nll_loss cross_entropy", {{0, "input"}, {2, "weight"}}, found},
        {"cholesky_solve triangular_solve",
         {{0, "input"}, {1, "other"}},
         "Expected b and A to have the same dtype, but found b of type {0} and A of type {1} "
         "instead."},
        {"complex polar",
         {{0, "real"}, {1, "imag"}},
         "Expected object of scalar type {0} but got scalar type {1} for second argument"},
        {"lu_solve",
         {{1, "LU_data"}, {0, "input"}},
         "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {0} and "
         "B of type {1} instead"},
        {"linalg_lu_solve",
         {{0, "LU"}, {2, "B"}},
         "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {0} and "
         "B of type {1} instead"},
        {"linalg_solve linalg_solve_ex linalg_tensorsolve",
         {{0, "A"}, {1, "B"}},
         "linalg.solve: Expected A and B to have the same dtype, but found A of type {0} and B of "
         "type {1} instead"},
        {"linalg_lstsq",
         {{0, "A"}, {1, "B"}},
         "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
         "dtype {0} and other's dtype {1}"},
        {"linalg_vecdot",
         {{0, "x"}, {1, "y"}},
         "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {0} and y of "
         "type {1} instead"},
        {"linalg_householder_product",
         {{0, "input"}, {1, "tau"}},
         "torch.linalg.householder_product: tau dtype {1} does not match input dtype {0}"},
        {"ormqr",
         {{0, "input"}, {1, "tau"}},
         "torch.ormqr: Expected input and tau to have the same dtype, but input has dtype{0} and "
         "tau has dtype {1}"},
        {"masked_scatter",
         {{0, "input"}, {2, "source"}},
         "masked_scatter: expected self and source to have same dtypes but got{0} and {1}"},
        {"heaviside",
         {{0, "input"}, {1, "values"}},
         "heaviside is not yet implemented for tensors with different dtypes."},
        {"scaled_dot_product_attention",
         {{0, "query"}, {1, "key"}, {2, "value"}},
         "Expected query, key, and value to have the same dtype, but got query.dtype: <0> "
         "key.dtype: <1> and value.dtype: <2> instead."},
        {"binary_cross_entropy", {{0, "input"}, {1, "target"}}, "Found dtype {1} but expected {0}"},
        {"lerp", {{0, "input"}, {1, "end"}}, "expected dtype <0> for `end` but got dtype <1>"},
        {"lerp",
         {{0, "input"}, {2, "weight"}},
         "expected dtype <0> for `weight` but got dtype <1>"},
        {"prelu",
         {{0, "input"}, {1, "weight"}},
         "prelu: Type promoting not supported. Got {0} and {1}"},
        {"bilinear",
         {{0, "input1"}, {1, "input2"}, {2, "weight"}},
         "All tensors must have the same dtype, got input1: <0>, input2: <1>, weight: <2>"},
        {"inner tensordot", {{0, "input"}, {1, "other"}}, "both inputs should have same dtype"},
        {"dot vdot",
         {{0, "input"}, {1, "other"}},
         "dot : expected both vectors to have same dtype, but found {0} and {1}"},
        {"bmm", {{0, "input"}, {1, "mat2"}}, found},
        {"gru rnn_tanh rnn_relu",
         {{1, "hx"}, {2, "weight"}},
         "mat1 and mat2 must have the same dtype, but got {0} and {1}"},
        {"lstm_cell",
         {{0, "input"}, {3, "weight"}},
         "mat1 and mat2 must have the same dtype, but got {0} and {1}"},
        {"gru_cell rnn_tanh_cell rnn_relu_cell",
         {{0, "input"}, {2, "weight"}},
         "mat1 and mat2 must have the same dtype, but got {0} and {1}"},
        {"mv",
         {{1, "other"}, {0, "input"}},
         "addmv input tensors must have the same dtype, but got {0}, {1}, and {0}"},
        {"index_copy",
         {{0, "input"}, {3, "source"}},
         "index_copy_(): self and source expected to have the same dtype, but got (self) {0} and "
         "(source) {1}"},
        {"index_add",
         {{0, "input"}, {3, "source"}},
         "index_add_(): self ({0}) and source ({1}) must have the same scalar type"},
        {"index_reduce",
         {{0, "input"}, {3, "source"}},
         "index_reduce_(): self ({0}) and source ({1}) must have the same scalar type"},
        {"index_put",
         {{0, "input"}, {2, "values"}},
         "Index put requires the source and destination dtypes match, got {0} for the destination "
         "and {1} for the source."},
        {"put",
         {{0, "input"}, {2, "source"}},
         "put_(): self and source expected to have the same dtype, but got self.dtype = {0} and "
         "source.dtype = {1}"},
        {"scatter scatter_add scatter_reduce", {{0, "input"}, {3, "src"}}, scattered}};
    return rows;
}

// ----- operands that are indices or masks

struct IndexOperand {
    string_view names;
    NamedOperand operand;
    std::vector<DType> dtypes;  // the ones that it may have
    string_view text;           // {0}: the dtype that it has
    bool is_index_error = false;
};
const std::vector<IndexOperand>& index_operands() {
    const std::vector<DType> longs{DType::int64}, both{DType::int32, DType::int64},
        labels{DType::int64, DType::uint8}, masks{DType::boolean};
    static const std::vector<IndexOperand> rows{
        {"gather", {2, "index"}, both, "gather(): Expected dtype int32/int64 for index"},
        {"scatter scatter_add scatter_reduce",
         {2, "index"},
         both,
         "scatter(): Expected dtype int32/int64 for index"},
        {"index_select",
         {2, "index"},
         both,
         "index_select(): Expected dtype int32 or int64 for index"},
        {"index_add",
         {2, "index"},
         both,
         "index_add_(): Expected dtype int32/int64 for index but got: {0}"},
        {"index_fill", {2, "index"}, longs, "index_fill_(): Expected dtype int64 for index.", true},
        {"index_copy",
         {2, "index"},
         longs,
         "index_copy_(): Expected a long tensor for index, but got {0}"},
        {"take", {1, "index"}, longs, "take(): Expected a long tensor for index, but got {0}"},
        {"put", {1, "index"}, longs, "put_(): Expected a long tensor for index, but got {0}"},
        {"take_along_dim",
         {1, "indices"},
         longs,
         "torch.take_along_dim(): dtype of indices should be Long but got {0}"},
        {"embedding",
         {0, "input"},
         both,
         "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
         "Long, Int; but got torch.{0}Tensor instead (while checking arguments for embedding)"},
        {"nll_loss",
         {1, "target"},
         labels,
         "expected target dtype to be Long or Byte, but got {0}"},
        {"one_hot",
         {0, "tensor"},
         longs,
         "one_hot is only applicable to index tensor of type LongTensor."},
        {"masked_fill",
         {1, "mask"},
         masks,
         "masked_fill_ only supports boolean masks, but got mask with dtype <0>"},
        {"masked_select", {1, "mask"}, masks, "masked_select: expected BoolTensor for mask"},
        {"masked_scatter",
         {1, "mask"},
         masks,
         "masked_scatter_ only supports boolean masks, but got mask with dtype {0}"},
        {"where",
         {0, "condition"},
         {DType::boolean, DType::uint8},
         "where expected condition to be a boolean tensor, but got a tensor with dtype {0}"}};
    return rows;
}

std::string written(string_view text, const std::vector<DType>& dtypes) {
    std::string made;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool is_name = i + 2 < text.size() && (text[i] == '{' || text[i] == '<') &&
                             text[i + 1] >= '0' && text[i + 1] <= '9';
        if (!is_name) {
            made += text[i];
            continue;
        }
        const DType dtype = dtypes[static_cast<size_t>(text[i + 1] - '0')];
        made += text[i] == '{' ? scalar_type_name(dtype) : cpp_type_name(dtype);
        i += 2;
    }
    return made;
}

void check_one_dtype(string_view function, const DTypeOfOperand& dtype_of) {
    static const auto rows = by_name(one_dtype());
    const auto [begin, end] = rows.equal_range(function);
    for (auto found = begin; found != end; ++found) {
        const OneDtype* const row = found->second;
        std::vector<DType> dtypes;
        for (const NamedOperand& operand : row->operands)
            if (const auto dtype = dtype_of(operand.place, operand.name)) dtypes.push_back(*dtype);
        if (dtypes.size() < row->operands.size()) continue;
        if (std::adjacent_find(dtypes.begin(), dtypes.end(), std::not_equal_to<>()) != dtypes.end())
            fail<RuntimeError>(written(row->text, dtypes));
    }
}

void check_indices(string_view function, const DTypeOfOperand& dtype_of) {
    static const auto rows = by_name(index_operands());
    const IndexOperand* const row = row_of(rows, function);
    const auto dtype = row ? dtype_of(row->operand.place, row->operand.name) : std::nullopt;
    if (!dtype || std::find(row->dtypes.begin(), row->dtypes.end(), *dtype) != row->dtypes.end())
        return;
    if (row->is_index_error) fail<IndexError>(written(row->text, {*dtype}));
    fail<RuntimeError>(written(row->text, {*dtype}));
}

void check_mask(string_view function, const DTypeOfOperand& dtype_of) {
    if (function != "scaled_dot_product_attention") return;
    const auto query = dtype_of(0, "query"), mask = dtype_of(3, "attn_mask");
    user_check<RuntimeError>(
        !query || !mask || *mask == *query || *mask == DType::boolean || *mask == DType::float32,
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
        "attn_mask.dtype: ",
        mask ? cpp_type_name(*mask) : "", " and  query.dtype: ", query ? cpp_type_name(*query) : "",
        " instead.");
}

// Normalisations take parameters of float32 beside inputs of 16 bits, and else the input's dtype.
struct ParametersOfNorm {
    string_view names;
    std::vector<NamedOperand> operands;
};
void check_parameters(string_view function, const DTypeOfOperand& dtype_of) {
    static const std::vector<ParametersOfNorm> table{
        {"layer_norm group_norm", {{2, "weight"}, {3, "bias"}}},
        {"native_batch_norm instance_norm",
         {{1, "weight"}, {2, "bias"}, {3, "running_mean"}, {4, "running_var"}}}};
    static const auto rows = by_name(table);
    const ParametersOfNorm* const row = row_of(rows, function);
    const auto input = row ? dtype_of(0, "input") : std::nullopt;
    if (!input) return;
    for (const NamedOperand& operand : row->operands) {
        const auto dtype = dtype_of(operand.place, operand.name);
        if (!dtype || *dtype == *input) continue;
        user_check<RuntimeError>(
            *dtype == DType::float32,
            "mixed dtype (CPU): expect parameter to have scalar type of Float");
        user_check<RuntimeError>(ir::is_short_float(*input),
                                 "mixed dtype (CPU): all inputs must share same datatype.");
    }
}

// einsum's operands are of one dtype.
void check_einsum(string_view function, const Dtypes& all) {
    if (function != "einsum") return;
    std::optional<DType> first;
    for (const auto& dtype : all) {
        if (!first) first = dtype;
        user_check<RuntimeError>(!dtype || *dtype == *first, "expected scalar type ",
                                 first ? scalar_type_name(*first) : "", " but found ",
                                 dtype ? scalar_type_name(*dtype) : "");
    }
}

// Truths are not subtracted.
void check_subtraction(string_view function, const Dtypes& all) {
    if (function == "neg" || function == "negative") {
        user_check<RuntimeError>(
            all.empty() || all[0] != DType::boolean,
            "Negation, the `-` operator, on a bool tensor is not supported. If "
            "you are trying to invert a mask, use the `~` or `logical_not()` "
            "operator instead.");
        return;
    }
    if (function != "sub" && function != "subtract" && function != "rsub") return;
    const auto is_truth = [](const auto& dtype) { return dtype == DType::boolean; };
    const auto count = std::count_if(all.begin(), all.end(), is_truth);
    user_check<RuntimeError>(count < 2,
                             "Subtraction, the `-` operator, with two bool tensors is not "
                             "supported. Use the `^` or `logical_xor()` operator instead.");
    user_check<RuntimeError>(count == 0,
                             "Subtraction, the `-` operator, with a bool tensor is not supported. "
                             "If you are trying to invert a mask, use the `~` or `logical_not()` "
                             "operator instead.");
}

}  // namespace

void check_operand_dtypes(string_view function, const Dtypes& all, const DTypeOfOperand& dtype_of,
                          bool asks_for_dtype) {
    check_subtraction(function, all);
    check_indices(function, dtype_of);
    check_mask(function, dtype_of);
    check_einsum(function, all);
    check_one_dtype(function, dtype_of);
    check_parameters(function, dtype_of);
    check_kinds(function, all, asks_for_dtype);
}

}  // namespace composit::aten
