// Operands that PyTorch takes tensors for, in rows.
#include "composit/aten/operand_rows.h"
#include "composit/aten/operand_rules.h"

#include <string_view>
#include <vector>

namespace composit::aten {
namespace {

using std::string_view;

struct FirstTensor {
    string_view names, operand;
};
// Functions that are no methods.
const std::vector<FirstTensor>& first_tensors() {
    static const std::vector<FirstTensor> rows{
        {"rsub gradient combinations std_mean var_mean pdist", "input"},
        {"trapezoid trapz cumulative_trapezoid", "y"},
        {"complex", "real"},
        {"polar", "abs"},
        {"vander", "x"}};
    return rows;
}
const std::vector<FirstTensor>& second_tensors() {
    static const std::vector<FirstTensor> rows{
        {"allclose arctan2 atan2 dist equal fmax fmin gcd hypot igamma igammac inner is_same_size "
         "isclose kron lcm ldexp logaddexp logaddexp2 logical_and logical_or logical_xor matmul "
         "maximum minimum nextafter vdot",
         "other"},
        {"complex", "imag"},
        {"dot", "tensor"},
        {"ger outer", "vec2"},
        {"heaviside", "values"},
        {"polar", "angle"},
        {"slice_scatter", "src"}};
    return rows;
}
// Methods whose functions take a number in the first place, or two numbers.
struct NumbersTaken {
    string_view names;
    bool are_two;
};
const std::vector<NumbersTaken>& numbers_taken() {
    static const std::vector<NumbersTaken> rows{
        {"add div divide floor_divide mul multiply sub subtract true_divide polygamma", true},
        {"bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor float_power "
         "pow "
         "remainder xlogy special_xlog1py special_zeta special_chebyshev_polynomial_t "
         "special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
         "special_chebyshev_polynomial_w special_hermite_polynomial_h "
         "special_hermite_polynomial_he special_laguerre_polynomial_l "
         "special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t "
         "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
         "special_shifted_chebyshev_polynomial_w",
         false}};
    return rows;
}

}  // namespace

TensorOperands tensor_operands(string_view function, bool is_method) {
    static const auto first = by_name(first_tensors());
    static const auto second = by_name(second_tensors());
    static const auto of_numbers = by_name(numbers_taken());
    TensorOperands found;
    if (is_method)
        found.first = "input";
    else if (const FirstTensor* row = row_of(first, function))
        found.first = row->operand;
    if (const FirstTensor* row = row_of(second, function)) found.second = row->operand;
    if (const NumbersTaken* row = row_of(of_numbers, function)) {
        found.takes_number_first = true;
        found.takes_two_numbers = row->are_two;
    }
    return found;
}

}  // namespace composit::aten
