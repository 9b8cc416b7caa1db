// Programs that call procedures for the items of a batch.
#pragma once

#include "composit/ir/procedure/callable.h"
#include "tests/cpp/backends/cpp_programs.h"

#include <vector>

namespace composit::tests {

// kept: what x[i] was, from the last to the first; z: as many places as the number k says.
//   for i < n: z[i + k] = x[i]; kept.append(x[i] * 2)
//   for i < n: y[i] = kept.pop() + z[i + k]; total += y[i]; is_large[i] = y[i] > 1
//   return total
inline ir::procedure::Procedure reversed_sums(DType dtype) {
    using namespace ir::procedure;
    using Role = ArrayVariable::Role;
    using Kind = Statement::Kind;
    const auto int64 = DType::int64;
    Procedure made;
    made.name = "reversed_sums";
    made.file = "sums.py";
    made.line = 1;
    made.variables = {{"n", int64}, {"k", int64}, {"i", int64},
                      {"v", dtype}, {"w", dtype}, {"total", dtype}};
    made.parameters = 2;
    made.results = {{"total", dtype}};
    const auto variable = [&](size_t number) { return made.variable(number); };
    const auto integer = [](int64_t value) { return Expr::constant_integer(DType::int64, value); };
    const Expr n = variable(0), k = variable(1), i = variable(2);
    const Expr parity = Expr::make(ir::scalar::Op::bit_and, {i, integer(1)});
    made.arrays = {{"x", dtype, {n}, Role::input},
                   {"y", dtype, {n}, Role::output},
                   {"is_large", DType::boolean, {n}, Role::output},
                   {"z", dtype, {n + k}, Role::local},
                   {"kept", dtype, {integer(0)}, Role::local, true},
                   {"pair", dtype, {integer(2)}, Role::local}};
    made.head = {-1, 0, 1};
    const auto loop = [&](Block body, int line) {
        return Statement::loop({Statement::assign(2, integer(0), line)}, i < n, std::move(body),
                               {Statement::assign(2, i + integer(1), line)}, line);
    };
    Statement not_negative;
    not_negative.kind = Kind::expect;
    not_negative.line = 2;
    not_negative.values = {k >= integer(0)};
    Statement push = Statement::write(Kind::append, 4, {}, variable(3) * variable(3), 5);
    made.body = {
        not_negative,
        Statement::allocate(3, true, 3),
        Statement::allocate(4, false, 3),
        Statement::allocate(5, true, 3),
        Statement::assign(5, Expr::constant(dtype, 0), 3),
        loop({Statement::load(3, 0, {i}, 4),
              Statement::write(Kind::store, 3, {i + k}, variable(3), 4), push},
             4),
        loop({Statement::take(3, 4, 7), Statement::load(4, 3, {i + k}, 7),
              Statement::write(Kind::store, 1, {i}, variable(3) + variable(4), 7),
              Statement::write(Kind::add, 5, {parity}, variable(4), 8),
              Statement::write(Kind::store, 2, {i}, variable(3) > Expr::constant(dtype, 1), 8),
              Statement::assign(5, variable(5) + variable(4), 8)},
             6),
        Statement::load(3, 5, {integer(0)}, 9),
        Statement::leave({variable(5) + variable(3)}, 9)};
    check(made);
    return made;
}

// For each of 300 items, of x as it lies, and as columns of a matrix. `k` holds numbers of extents:
// 0 to `most`.
inline Program calls_of_procedures(const std::string& name, DType dtype, bool is_transposed,
                                   int64_t n) {
    const int64_t number = ir::procedure::keep_callable(reversed_sums(dtype));
    const int64_t items = 300;
    Builder b(name);
    const int x = b.input("x", dtype, is_transposed ? Shape{n, items} : Shape{items, n});
    const int k = b.input("k", DType::uint8, {items});
    const int wide = b.temporary("wide", DType::int64, {items});
    const int total = b.output("total", dtype, {items}), y = b.output("y", dtype, {items, n});
    const int large = b.output("is_large", DType::boolean, {items, n});
    b.kernel("widen", ir::kernel::Map{{items},
                                      {b.all(k)},
                                      {Expr::cast(Expr::argument(0, DType::uint8), DType::int64)},
                                      {b.all(wide)}});
    const std::vector<int64_t> strides =
        is_transposed ? std::vector<int64_t>{1, items} : std::vector<int64_t>{n, 1};
    b.kernel("sums", ir::kernel::Call{number,
                                      {items},
                                      {{b.access(x, strides), {n}}, {b.all(wide), {}}},
                                      {{b.all(total), {}}, {b.all(y), {n}}, {b.all(large), {n}}}});
    return b.done();
}

inline std::vector<Program> procedure_programs() {
    return {calls_of_procedures("rows", DType::float64, false, 7),
            calls_of_procedures("columns", DType::float64, true, 7),
            calls_of_procedures("long_rows", DType::float32, false, 700)};
}

}  // namespace composit::tests
