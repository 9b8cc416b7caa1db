// Bodies: every primitive operation and library function on special and random values, against the
// scalar evaluator.
#include "composit/backends/interpreter/body.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"
#include "tests/cpp/backends/cpp_programs.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using interpreter::Body;
using interpreter::KernelSet;
using ir::scalar::Bits;
using ir::scalar::Op;

constexpr int64_t count = 333;

// Runs the body over columns of arguments and compares every element with the evaluator's.
void expect_evaluated(const Expr& value, const std::vector<Array>& columns,
                      const std::string& what) {
    for (const KernelSet* set : interpreter::usable_kernel_sets()) {
        const Body body({value}, columns.size(), *set);
        std::vector<char*> slots(body.slot_count(), nullptr);
        std::vector<char> scratch(static_cast<size_t>(body.scratch_bytes()));
        body.bind(slots.data(), scratch.data());
        for (size_t k = 0; k < columns.size(); ++k)
            slots[k] = static_cast<char*>(columns[k].mutable_data());
        Array result(value.dtype(), {count}), expected(value.dtype(), {count});
        slots[body.result_slot(0)] = static_cast<char*>(result.mutable_data());
        body.run(slots.data(), count);
        const auto size = static_cast<size_t>(ir::size_of(value.dtype()));
        for (int64_t i = 0; i < count; ++i) {
            std::vector<Bits> arguments;
            for (const Array& column : columns) {
                const auto width = static_cast<size_t>(ir::size_of(column.dtype()));
                Bits bits{};
                std::memcpy(bits.data(), column.data_as<char>() + static_cast<size_t>(i) * width,
                            width);
                arguments.push_back(bits);
            }
            const Bits bits = ir::scalar::evaluate({value}, arguments)[0];
            std::memcpy(static_cast<char*>(expected.mutable_data()) + static_cast<size_t>(i) * size,
                        bits.data(), size);
        }
        EXPECT_EQ(differing(result, expected), 0) << what << " with " << set->name;
    }
}

std::vector<Array> columns_for(const std::vector<DType>& dtypes) {
    std::vector<Array> columns;
    for (size_t k = 0; k < dtypes.size(); ++k)
        columns.push_back(random_array(dtypes[k], {count}, k + 3));
    return columns;
}

constexpr DType supported[] = {DType::boolean, DType::int8,    DType::int16,  DType::int32,
                               DType::int64,   DType::uint8,   DType::uint16, DType::uint32,
                               DType::uint64,  DType::float32, DType::float64};

// Values outside an operation's precondition are not compared: divisors and shift counts are made
// valid.
Expr guarded(Op op, int operand, DType dtype) {
    const Expr x = Expr::argument(operand, dtype);
    if (!is_integer(dtype) || operand != 1) return x;
    if (op == Op::divide || op == Op::remainder)
        return ir::scalar::Expr::make(
            Op::bit_or, {Expr::make(Op::bit_and, {x, Expr::constant_integer(dtype, 62)}),
                         Expr::constant_integer(dtype, 2)});
    if (op == Op::shift_left || op == Op::shift_right)
        return Expr::make(Op::bit_and, {x, Expr::constant_integer(dtype, 7)});
    return x;
}

TEST(InterpreterBody, EveryOperationOnEveryDtype) {
    int tested = 0;
    for (int i = 0; i < ir::scalar::op_count; ++i) {
        const Op op = static_cast<Op>(i);
        const int arity = ir::scalar::arity_of(op);
        if (arity <= 0 || op == Op::cast || op == Op::bitcast || op == Op::lookup || op == Op::call)
            continue;
        for (const DType dtype : supported) {
            std::vector<DType> dtypes(static_cast<size_t>(arity), dtype);
            if (op == Op::select) dtypes[0] = DType::boolean;
            Expr value;
            try {
                std::vector<Expr> operands;
                for (int k = 0; k < arity; ++k)
                    operands.push_back(guarded(op, k, dtypes[static_cast<size_t>(k)]));
                value = Expr::make(op, operands);
            } catch (const Error&) {
                continue;  // the language has no such operation
            }
            expect_evaluated(value, columns_for(dtypes), text(ir::scalar::name(op), " ", dtype));
            ++tested;
        }
    }
    EXPECT_GT(tested, 150);
}

TEST(InterpreterBody, EveryCast) {
    for (const DType from : supported) {
        for (const DType to : supported) {
            Expr x = Expr::argument(0, from);
            if (is_floating(from) && to != DType::boolean &&
                !is_floating(to))  // what fits every integer type
                x = ir::scalar::select(ir::scalar::absolute(x) < 1, ir::scalar::absolute(x) * 100.0,
                                       3.0);
            expect_evaluated(Expr::cast(x, to), columns_for({from}), text(from, " to ", to));
        }
    }
}

TEST(InterpreterBody, BitcastsAndLookups) {
    expect_evaluated(Expr::bitcast(Expr::argument(0, DType::float32), DType::uint32),
                     columns_for({DType::float32}), "bits");
    expect_evaluated(Expr::bitcast(Expr::argument(0, DType::int64), DType::float64),
                     columns_for({DType::int64}), "double");
    std::vector<Bits> entries;
    for (int i = 0; i < 16; ++i)
        entries.push_back(ir::scalar::bits_of(DType::float64, 1.0 / (i + 3)));
    const Expr index = Expr::make(
        Op::bit_and, {Expr::argument(0, DType::int32), Expr::constant_integer(DType::int32, 15)});
    expect_evaluated(
        Expr::lookup(std::make_shared<const std::vector<Bits>>(entries), DType::float64, index),
        columns_for({DType::int32}), "lookup");
}

// Rows of the table on all dtypes that they accept; those that have no kernel of their own run as
// their bodies.
TEST(InterpreterBody, EveryRowOfTheTable) {
    int tested = 0;
    for (const auto& row : ir::scalar::all_rows()) {
        for (const DType dtype : {DType::boolean, DType::int32, DType::uint8, DType::int64,
                                  DType::float32, DType::float64}) {
            std::vector<Expr> operands;
            std::vector<DType> dtypes(static_cast<size_t>(row->arity), dtype);
            for (int k = 0; k < row->arity; ++k) operands.push_back(Expr::argument(k, dtype));
            Expr value;
            try {
                value = Expr::call(row, operands);
                ir::scalar::specialise(row, dtypes);
            } catch (const Error&) {
                continue;  // the row refuses the dtype
            }
            try {
                expect_evaluated(value, columns_for(dtypes), text(row->name, " ", dtype));
                ++tested;
            } catch (const NotSupported& reason) {
                // Integers may be computed in a short float, and floats made complex numbers,
                // which have no kernels.
                const std::string words = reason.what();
                EXPECT_TRUE(words.find("float16") != std::string::npos ||
                            words.find("complex") != std::string::npos)
                    << row->name << dtype;
            }
        }
    }
    EXPECT_GT(tested, 10);
}

TEST(InterpreterBody, ResultsMayBeInputsConstantsAndEachOther) {
    const Expr x = Expr::argument(0, DType::float32), sum = x + x;
    const std::vector<Expr> values = {x, Expr::constant(DType::float32, 2.5), sum, sum, sum * x};
    const std::vector<Array> columns = columns_for({DType::float32});
    for (const KernelSet* set : interpreter::usable_kernel_sets()) {
        const Body body(values, 1, *set);
        std::vector<char*> slots(body.slot_count(), nullptr);
        std::vector<char> scratch(static_cast<size_t>(body.scratch_bytes()));
        body.bind(slots.data(), scratch.data());
        slots[0] = static_cast<char*>(columns[0].mutable_data());
        std::vector<Array> results;
        for (size_t j = 0; j < values.size(); ++j) {
            results.emplace_back(DType::float32, ir::Shape{count});
            slots[body.result_slot(j)] = static_cast<char*>(results[j].mutable_data());
        }
        body.run(slots.data(), count);
        Array constant(DType::float32, {count});
        std::fill_n(static_cast<float*>(constant.mutable_data()), count, 2.5f);
        EXPECT_EQ(differing(results[0], columns[0]), 0);
        EXPECT_EQ(differing(results[1], constant), 0);
        EXPECT_EQ(differing(results[2], results[3]), 0);
        for (int64_t i = 0; i < count; ++i) {
            const float value = columns[0].data_as<float>()[i];
            const float expected = (value + value) * value;
            EXPECT_TRUE(results[4].data_as<float>()[i] == expected || expected != expected);
        }
        EXPECT_FALSE(body.is_identity());
        EXPECT_TRUE(Body({x}, 1, *set).is_identity());
    }
}

}  // namespace
}  // namespace composit::tests
