#include "composit/eager/saved_values.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace composit::eager {
namespace {

// A value that an operation saves, and the arguments one of which has to need a gradient for that.
struct SavedPart {
    enum class Kind { argument, results, integer_results, one_result, no_derivative };
    Kind kind;
    int number;  // of an argument, or of one result
    uint64_t by;
};
using Rule = std::vector<SavedPart>;

// What is saved: "r" the results, "r0" the first, "i" those that are integers, a number an
// argument ("!": an argument that has no derivative), < the arguments one of which has to need a
// gradient; then the operations.
struct Row {
    const char* rule;
    const char* operations;
};
constexpr Row table[] = {
    {"r<0 0<0", "cholesky_inverse vander"},
    {"r0<0 r1<0", "lu lu_factor lu_factor_ex"},
    {"0<0",
     "abs absolute acos acosh angle asin asinh atan atanh arccos arccosh arcsin arcsinh arctan "
     "arctanh celu clamp clamp_max clamp_min clip combinations cos cosh digamma erf erfc erfinv "
     "hardshrink i0 lgamma log log10 log1p log2 logit logdet matrix_exp mvlgamma nan_to_num "
     "nanmean nansum renorm selu sin sinc sinh square threshold var var_mean avg_pool1d "
     "avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
     "rms_norm entr gammaln multigammaln psi elu gelu glu hardsigmoid hardswish "
     "hardtanh leaky_relu local_response_norm logsigmoid lp_pool1d lp_pool2d lp_pool3d mish "
     "normalize relu6 silu softplus softshrink softsign multi_dot ihfft2 ihfftn rfft rfft2 rfftn "
     "native_batch_norm instance_norm stft take_along_dim linalg_vander"},
    {"r<0",
     "exp exp2 expm1 inverse log_softmax reciprocal relu rsqrt sigmoid expit softmax softmin sqrt "
     "tan tanh cholesky inv linalg_lu ndtri tensorinv svdvals eigvalsh"},
    {"i<0", "frexp kthvalue mode sort topk"},
    {"i<0 0<0",
     "cummax cummin max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d "
     "adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d"},
    {"r0<0", "cholesky_ex inv_ex"},
    {"r0<0 0<0", "slogdet std_mean"},
    {"0<0 r<0",
     "amax amin aminmax cumprod det logcumsumexp logsumexp pdist prod sgn std pinverse pinv erfcx "
     "i0e i1 i1e log_ndtr vector_norm frobenius_norm norm segment_reduce"},
    {"0<0,1 1<0,1",
     "atan2 arctan2 fmax fmin logaddexp logaddexp2 maximum minimum xlogy xlog1py conv1d conv2d "
     "conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu grid_sampler grid_sample "
     "binary_cross_entropy_with_logits binary_cross_entropy huber_loss mse_loss smooth_l1_loss "
     "cosine_embedding_loss"},
    {"0<1 1<0",
     "mul multiply matmul mm bmm mv dot vdot inner outer ger linear tensordot chain_matmul cross "
     "vecdot poisson_nll_loss"},
    {"0<1 1<0,1", "div divide true_divide kl_div"},
    {"0<0 1<0",
     "masked_select nextafter take ctc_loss multi_margin_loss multilabel_margin_loss "
     "multilabel_soft_margin_loss nll_loss soft_margin_loss"},
    {"2<1 1<2", "addbmm addcmul addmm addmv addr baddbmm"},
    {"0<0 2<0", "gather"},
    {"0<1 1<1", "zeta"},
    {"0<1 2<1", "embedding_bag"},
    {"0<1 1<0 2<0,1", "linear_cross_entropy"},
    {"2<0,1", "scaled_dot_product_attention"},
    {"1<2 2<1", "einsum"},
    {"1<0", "masked_fill"},
    {"0<1", "embedding"},
    {"2<0", "index_fill index_select"},
    {"1<0,2", "index_put masked_scatter"},
    {"2<0,3", "scatter"},
    {"2<3", "scatter_add"},
    {"2<3 3<3", "index_add"},
    {"2<0,3 3<3", "index_copy"},
    {"1<0,2 2<2", "put"},
    {"0<0,3 2<0,3 3<0,3 r<0,3", "index_reduce scatter_reduce"},
    {"2<0,1,2 1<2", "addcdiv"},
    {"0<1,2", "where"},
    {"2<0,1,2 0<2 1<2", "lerp"},
    {"0<0,2,3 2<0,2,3 3<0,2,3", "layer_norm"},
    {"0<0,2,3 2<0,2,3", "group_norm"},
    {"0<0 1<1 r<0,1", "hypot"},
    {"r<0,1", "polar pairwise_distance"},
    {"0<0 r<0,1", "copysign"},
    {"0<0,1 r<0,1", "solve solve_triangular tensorsolve"},
    {"0<0,1 r0<0,1", "solve_ex"},
    {"0<0,1 1<0,1 r0<0,1", "triangular_solve"},
    {"0<0,1 1<0,1 r<0,1", "cholesky_solve householder_product orgqr"},
    {"0<0,1,2 1<0,1,2 2<0,1,2 r<0,1,2", "ormqr"},
    {"0<0,1,2 1<0,1,2 2<0,1,2", "conv_tbc"},
    {"0<0 1<1", "complex cosine_similarity"},
    {"0<0,1 r<0,1 1<0,1", "cdist dist"},
    {"1<0 r<0", "ldexp"},
    {"1<1", "polygamma"},
    {"1<0,2 2<0,1 0<1,2", "bilinear"},
    {"!<0", "geqrf"},
    {"0<1 1<1 !<0", "igamma igammac gammainc gammaincc"},
};

Rule parsed(std::string_view text) {
    using Kind = SavedPart::Kind;
    Rule rule;
    std::istringstream parts{std::string(text)};
    for (std::string part; parts >> part;) {
        const size_t middle = part.find('<');
        const std::string what = part.substr(0, middle);
        SavedPart made{Kind::argument, 0, 0};
        if (what == "!")
            made.kind = Kind::no_derivative;
        else if (what == "i")
            made.kind = Kind::integer_results;
        else if (what == "r")
            made.kind = Kind::results;
        else if (what[0] == 'r')
            made = {Kind::one_result, std::stoi(what.substr(1)), 0};
        else
            made.number = std::stoi(what);
        std::istringstream numbers(part.substr(middle + 1));
        for (std::string number; std::getline(numbers, number, ',');)
            made.by |= uint64_t{1} << std::stoi(number);
        rule.push_back(made);
    }
    return rule;
}

// An operation's arguments, as the rules below ask for them.
class Arguments {
  public:
    explicit Arguments(const SavingCall& call) : results(call.results.size()) {
        for (const auto& [number, value] : call.arguments) values_[number] = value;
        for (const SavableOperand& operand : call.operands)
            values_[operand.argument] = operand.value.tensor.dtype();
    }
    std::optional<ir::DType> dtype(int number) const { return of<ir::DType>(number); }
    bool is_tensor(int number) const { return dtype(number).has_value(); }
    double number(int place, double otherwise) const {
        return of<double>(place).value_or(otherwise);
    }
    std::string text(int number) const { return of<std::string>(number).value_or(""); }

    const size_t results;

  private:
    template <class T>
    std::optional<T> of(int number) const {
        const auto found = values_.find(number);
        if (found == values_.end() || !std::holds_alternative<T>(found->second)) return {};
        return std::get<T>(found->second);
    }
    std::map<int, Argument> values_;
};

// Along a dimension, of everything, or of two tensors.
const char* of_largest(const Arguments& given) {
    if (given.results == 2) return "i<0";
    return given.is_tensor(1) ? "0<0,1 1<0,1" : "0<0 r<0";
}
const char* of_power(const Arguments& given) {
    if (!given.is_tensor(0)) return "r<1 1<1";
    return given.is_tensor(1) ? "0<0,1 1<0,1 r<0,1" : "0<0";
}
const char* of_matrix_power(const Arguments& given) { return given.number(1, 0) > 1 ? "0<0" : ""; }
// Norms by singular values save what those do.
const char* of_matrix_norm(const Arguments& given) {
    const double order = given.number(1, 0);
    return given.text(1) == "nuc" || order == 2 || order == -2 ? "" : "0<0 r<0";
}
// Of classes, or of probabilities.
const char* of_cross_entropy(const Arguments& given) {
    const std::optional<ir::DType> target = given.dtype(1);
    return target && ir::is_floating(*target) ? "" : "1<0 2<0";
}
const char* of_padding(const Arguments& given) {
    const std::string mode = given.text(2);
    return mode == "reflect" || mode == "replicate" ? "0<0" : "";
}
const char* of_transform(const Arguments& given) {
    const std::optional<ir::DType> of = given.dtype(0);
    return of && ir::is_complex(*of) ? "" : "0<0";
}

using Variant = const char* (*)(const Arguments&);
constexpr std::pair<const char*, Variant> variants[] = {
    {"max", of_largest},
    {"min", of_largest},
    {"median", of_largest},
    {"nanmedian", of_largest},
    {"pow", of_power},
    {"matrix_power", of_matrix_power},
    {"matrix_norm", of_matrix_norm},
    {"cross_entropy", of_cross_entropy},
    {"pad", of_padding},
    {"fft", of_transform},
};

struct Entry {
    Rule rule;
    Variant variant = nullptr;  // gives the rule, where that depends on the arguments
    // In place, its gradient is that from the result.
    bool is_from_result = false;
};

using Table = std::unordered_map<ir::Interned, Entry>;

Table made_table() {
    Table made;
    const auto key = [](const std::string& name) { return ir::intern(record_name(name)); };
    for (const Row& row : table) {
        std::istringstream names(row.operations);
        for (std::string name; names >> name;)
            for (const char* space : {"", "linalg_", "special_", "fft_"})
                made[key(space + name)].rule = parsed(row.rule);
    }
    for (const auto& [name, variant] : variants)
        for (const char* space : {"", "linalg_", "fft_"})
            made[key(std::string(space) + name)].variant = variant;
    for (const char* name : {"celu", "elu", "leaky_relu", "rrelu", "selu"})
        made[key(name)].is_from_result = true;
    return made;
}

const Table& rules() {
    static const auto* const all = new Table(made_table());
    return *all;
}

const Entry* entry_of(ir::Interned record_name) {
    const auto found = rules().find(record_name);
    return found == rules().end() ? nullptr : &found->second;
}

}  // namespace

std::string record_name(std::string_view operation) {
    std::string name;
    bool is_first = true;
    for (const char c : operation) {
        if (c == '_') {
            is_first = true;
            continue;
        }
        const auto letter = static_cast<unsigned char>(c);
        name += static_cast<char>(is_first ? std::toupper(letter) : std::tolower(letter));
        is_first = false;
    }
    return name + "Backward0";
}

bool saves_values(ir::Interned record_name) {
    const Entry* const entry = entry_of(record_name);
    return entry && (entry->variant || !entry->rule.empty());
}

void save_values(const Record& record, const SavingCall& call) {
    const Entry* const entry = entry_of(record.name());
    if (!entry) return;
    const Rule variant = entry->variant ? parsed(entry->variant(Arguments(call))) : Rule{};
    uint64_t needing = 0;
    for (const SavableOperand& operand : call.operands)
        if (operand.needs_gradient && operand.argument >= 0 && operand.argument < 64)
            needing |= uint64_t{1} << operand.argument;
    std::vector<SavedValue>& saved = record.changed_saved();
    const auto name_of = [](const Savable& value) {
        return value.record ? value.record->name() : nullptr;
    };
    for (const SavedPart& part : entry->variant ? variant : entry->rule) {
        if ((part.by & needing) == 0) continue;
        using Kind = SavedPart::Kind;
        if (part.kind == Kind::no_derivative) {
            record.set_no_derivative();
        } else if (part.kind == Kind::one_result) {
            const auto& result = call.results[static_cast<size_t>(part.number)];
            if (result) saved.emplace_back(*result, true, record.name());
        } else if (part.kind == Kind::argument) {
            for (const SavableOperand& operand : call.operands)
                if (operand.argument == part.number)
                    saved.emplace_back(operand.value, false, name_of(operand.value),
                                       part.number == call.own);
        } else {
            for (const std::optional<Savable>& result : call.results) {
                if (!result) continue;
                const bool is_chosen =
                    part.kind == Kind::results || !ir::is_floating(result->tensor.dtype());
                if (is_chosen)
                    saved.emplace_back(*result, true,
                                       result->record == &record ? record.name() : nullptr);
            }
        }
    }
}

void moved_into(const Record& record, const Savable& target) {
    const Entry* const entry = entry_of(record.name());
    const bool is_from_result = entry && entry->is_from_result;
    if (record.saved().empty()) return;
    for (SavedValue& value : record.changed_saved()) {
        const bool is_here = value.lies_in_memory_of(target.counter);
        if (value.is_result() || (is_from_result && is_here))
            value.move_to(target);
        else if (is_here && value.is_first())
            value.keep_copy();
    }
}

}  // namespace composit::eager
