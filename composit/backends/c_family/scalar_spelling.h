// How a language spells scalar text: C++, or the C that devices have.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace composit::c_family {

struct ScalarSpelling {
    // C++: float(x), bits_as<float>(x), functions of scalar_prelude(), measures against what g++
    // makes of neighbours. C: (float)(x), as_float(x), the functions of OpenCL C, which a prelude
    // gives to other languages.
    bool is_c = false;
    std::string_view function_start = "";  // C: before a function's type
    std::string_view table_start = "static const ";
    std::string_view long_suffix = "ll";           // of literals of 64 bits; "u" stands before it
    const std::set<std::string>* words = nullptr;  // that no name may be, beside those of C++
    // C without overloads, for a compiler of CPUs: fma_float32(x, y, z), as_float32(x), (float)x,
    // functions that whoever prints defines; and measures against what g++ makes of neighbours.
    bool is_plain = false;
    bool has_cpp_casts = false;  // float(x) all the same
    // C++ of a loop to make vectors of: integers of 64 bits are converted by vector_float64.
    bool is_for_vectors = false;
};

inline constexpr ScalarSpelling cpp_spelling;
inline constexpr ScalarSpelling cpp_spelling_for_vectors{.is_for_vectors = true};

}  // namespace composit::c_family
