#include "composit/ir/scalar_types.h"

#include <array>

namespace composit::ir {
namespace {

struct Names {
    std::string_view torch, cpp;
};
constexpr std::array<Names, dtype_count> names_of_dtypes{
    {{"Bool", "bool"},
     {"Char", "signed char"},
     {"Short", "short int"},
     {"Int", "int"},
     {"Long", "long int"},
     {"Byte", "unsigned char"},
     {"UInt16", "short unsigned int"},
     {"UInt32", "unsigned int"},
     {"UInt64", "long unsigned int"},
     {"Half", "c10::Half"},
     {"BFloat16", "c10::BFloat16"},
     {"Float", "float"},
     {"Double", "double"},
     {"ComplexFloat", "c10::complex<float>"},
     {"ComplexDouble", "c10::complex<double>"}}};

}  // namespace

std::string_view scalar_type_name(DType dtype) {
    return names_of_dtypes[static_cast<size_t>(dtype)].torch;
}
std::string_view cpp_type_name(DType dtype) {
    return names_of_dtypes[static_cast<size_t>(dtype)].cpp;
}

}  // namespace composit::ir
