// The common type rules: in which dtypes a row is computed, as NumPy's ufuncs resolve them.
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>

namespace composit::ir::scalar {
namespace {

using enum DType;
using DTypes = std::vector<DType>;

DTypes dtypes_of(DTypeKind kind) {
    DTypes found;
    for (const DTypeTraits& row : all_traits())
        if (row.kind == kind) found.push_back(row.dtype);
    return found;
}

// NumPy tries loops in this order.
const DTypes integers{int8, uint8, int16, uint16, int32, uint32, int64, uint64};
const DTypes floats = dtypes_of(DTypeKind::floating);
const DTypes complexes{complex64, complex128};

DTypes concatenate(std::initializer_list<DTypes> lists) {
    DTypes all;
    for (const DTypes& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

const DTypes booleans{boolean};
const DTypes real_numbers = concatenate({integers, floats});
const DTypes numbers = concatenate({integers, floats, complexes});
const DTypes all_dtypes = concatenate({booleans, integers, floats, complexes});

[[noreturn]] void refuse(std::string_view name) {
    fail<TypeError>("ufunc '", name,
                    "' not supported for the input types, and the inputs could not be safely "
                    "coerced to any supported types according to the casting rule ''safe''");
}

[[noreturn]] void refuse_bool(std::string_view name, size_t arity) {
    if (name == "negative")
        fail<TypeError>(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator "
            "or "
            "the logical_not function instead.");
    if (name == "subtract")
        fail<TypeError>(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the "
            "`^` "
            "operator, or the logical_xor function instead.");
    const std::string_view one = "<class 'numpy.dtypes.BoolDType'>";
    const std::string types = join(std::vector<std::string_view>(arity, one));
    fail<TypeError>("ufunc '", name, "' did not contain a loop with signature matching types ",
                    arity == 1 ? types : "(" + types + ")", " -> None");
}

bool all_cast_safely(const DTypes& operands, DType dtype) {
    return std::all_of(operands.begin(), operands.end(),
                       [&](DType d) { return can_cast_safely(d, dtype); });
}

// The first dtype of `candidates` to which all operands cast safely; throws when there is none.
DType first_of(std::string_view name, const DTypes& operands, const DTypes& candidates) {
    // What NumPy lacks is chosen where it is given: integers alone, which all cast to bfloat16,
    // never choose it.
    const auto is_offered = [&](DType dtype) {
        return !is_extension(dtype) ||
               std::find(operands.begin(), operands.end(), dtype) != operands.end();
    };
    for (DType dtype : candidates)
        if (is_offered(dtype) && all_cast_safely(operands, dtype)) return dtype;
    refuse(name);
}

TypeRule same(const DTypes& candidates) {
    return [candidates](std::string_view name, const DTypes& operands) {
        const DType dtype = first_of(name, operands, candidates);
        return Signature{DTypes(operands.size(), dtype), dtype};
    };
}

TypeRule same_refusing_bool(const DTypes& candidates) {
    return [candidates](std::string_view name, const DTypes& operands) {
        if (std::all_of(operands.begin(), operands.end(), [](DType d) { return d == boolean; }))
            refuse_bool(name, operands.size());
        const DType dtype = first_of(name, operands, candidates);
        return Signature{DTypes(operands.size(), dtype), dtype};
    };
}

TypeRule giving(const DTypes& candidates, DType result) {
    return [candidates, result](std::string_view name, const DTypes& operands) {
        return Signature{DTypes(operands.size(), first_of(name, operands, candidates)), result};
    };
}

Signature divide_types(std::string_view name, const DTypes& operands) {
    if (std::none_of(operands.begin(), operands.end(), is_inexact))
        return {DTypes(operands.size(), float64), float64};
    const DType dtype = first_of(name, operands, concatenate({floats, complexes}));
    return {DTypes(operands.size(), dtype), dtype};
}

Signature comparison_types(std::string_view name, const DTypes& operands) {
    if (operands.size() == 2) {
        // No integer dtype holds both; NumPy compares the values exactly.
        if (is_signed_integer(operands[0]) && operands[1] == uint64)
            return {{int64, uint64}, boolean};
        if (operands[0] == uint64 && is_signed_integer(operands[1]))
            return {{uint64, int64}, boolean};
    }
    return {DTypes(operands.size(), first_of(name, operands, all_dtypes)), boolean};
}

Signature choice_types(std::string_view, const DTypes& operands) {
    const DType dtype = promote(operands[1], operands[2]);
    return {{boolean, dtype, dtype}, dtype};
}

Signature magnitude_types(std::string_view name, const DTypes& operands) {
    const DType dtype = first_of(name, operands, all_dtypes);
    return {{dtype}, real_part_of(dtype)};
}

Signature parts_types(std::string_view name, const DTypes& operands) {
    const DType part = first_of(name, operands, {float32, float64});
    return {DTypes(operands.size(), part), promote(part, complex64)};
}

Signature load_exponent_types(std::string_view name, const DTypes& operands) {
    const DType x = first_of(name, {operands[0]}, floats);
    const DType exponent = first_of(name, {operands[1]}, {int32, int64});
    return {{x, exponent}, x};
}

}  // namespace

namespace types {

const TypeRule numeric = same_refusing_bool(numbers);
const TypeRule arithmetic = same(numbers);
const TypeRule real_arithmetic = same(real_numbers);
const TypeRule real_or_bool = same(concatenate({booleans, real_numbers}));
const TypeRule any = same(all_dtypes);
const TypeRule magnitude = magnitude_types;
const TypeRule of_parts = parts_types;
const TypeRule inexact = same(concatenate({floats, complexes}));
const TypeRule floating = same(floats);
const TypeRule true_division = divide_types;
const TypeRule float_power = same({float64, complex128});
const TypeRule integral = same(integers);
const TypeRule integer_only = same_refusing_bool(integers);
const TypeRule integral_or_bool = same(concatenate({booleans, integers}));
const TypeRule bit_count = giving(integers, uint8);
const TypeRule exponent = giving(floats, int32);
const TypeRule load_exponent = load_exponent_types;
const TypeRule comparison = comparison_types;
const TypeRule logical = [](std::string_view, const DTypes& operands) {
    return Signature{DTypes(operands.size(), boolean), boolean};
};
const TypeRule predicate = giving(floats, boolean);
const TypeRule test = giving(all_dtypes, boolean);
const TypeRule choice = choice_types;

}  // namespace types
}  // namespace composit::ir::scalar
