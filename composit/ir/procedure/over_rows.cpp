// over_rows: a procedure for each row of what it is given.
#include "composit/base/error.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/returns_in_loops.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

// y(x, n, w): … return v      vy(x, rows, n, w, y):
//                         ->      for (row = 0; row < rows; ++row) { w of x, w's row; …; y[row] = v
//                         }
class Mapper {
  public:
    // The outputs of a derivative in reverse are in the order of the inputs of the function, all of
    // which are arrays here.
    Mapper(const Procedure& inner, const Procedure* function) : callable_(inner), p_(inner) {
        for (size_t i = 0; i < p_.results.size(); ++i) outputs_.push_back(static_cast<int>(i));
        for (const int array : p_.arrays_of(Role::output)) outputs_.push_back(-1 - array);
        if (!function) return;
        const std::vector<int> own = outputs_;
        const Callable called(*function);
        outputs_.clear();
        auto number = own.begin(),
             array = own.begin() + static_cast<std::ptrdiff_t>(p_.results.size());
        for (size_t i = 0; i < called.operands().size(); ++i)
            if (is_floating(called.dtype_of(static_cast<int>(i))))
                outputs_.push_back(called.operands()[i] < 0 ? *array++ : *number++);
    }

    Procedure run() {
        out_.name = "v" + p_.name;
        out_.file = p_.file;
        out_.line = p_.line;
        out_.doc = p_.doc;
        std::vector<int> results;
        for (const Variable& result : p_.results)
            results.push_back(p_.add_variable(result.name + "_returned", result.dtype));
        p_.body = without_returns_in_loops(p_.body, p_, results);
        add_parameters();
        add_variables();
        add_arrays();
        hoist_zeros();
        const Block body = structured(p_.body, [&](const Statement& statement) {
            return statement.kind == Kind::leave ? std::optional(stored_results(statement))
                                                 : std::nullopt;
        });
        Block each = loads_;
        const Block moved = of_row(body);
        each.insert(each.end(), moved.begin(), moved.end());
        const Expr row = out_.variable(static_cast<size_t>(row_));
        out_.body.push_back(
            Statement::loop({Statement::assign(row_, integer(0), p_.line)},
                            row < out_.variable(static_cast<size_t>(rows_)), std::move(each),
                            {Statement::assign(row_, row + integer(1), p_.line)}, p_.line));
        out_.body.push_back(Statement::leave({}, p_.line));
        out_.of_each_row = std::make_shared<const Procedure>(callable_.procedure());
        out_.outputs_of_row = outputs_;
        if (p_.as_written)
            out_.as_written = std::make_shared<const Procedure>(over_rows(*p_.as_written));
        check(out_);
        return out_;
    }

  private:
    bool is_taken(const std::string& name) const {
        const auto has_it = [&](const auto& each) { return each.name == name; };
        return std::any_of(p_.variables.begin(), p_.variables.end(), has_it) ||
               std::any_of(p_.arrays.begin(), p_.arrays.end(), has_it);
    }

    std::string free_name(std::string wanted) const {
        while (is_taken(wanted)) wanted += "_";
        return wanted;
    }

    // Extents stay numbers, in the order of the head; the number of rows is one of the first
    // operand.
    void add_parameters() {
        std::vector<int> head = p_.head;
        if (head.empty())
            for (size_t i = 0; i < p_.parameters; ++i) head.push_back(static_cast<int>(i));
        moved_.assign(p_.variables.size(), -1);
        for (const int each : head) {
            const bool is_extent = each >= 0 && callable_.is_extent(static_cast<size_t>(each));
            if (is_extent) {
                moved_[static_cast<size_t>(each)] =
                    parameter(p_.variables[static_cast<size_t>(each)]);
                out_.head.push_back(moved_[static_cast<size_t>(each)]);
                continue;
            }
            out_.head.push_back(-1 - static_cast<int>(inputs_.size()));
            inputs_.push_back(each);
            if (rows_ >= 0) continue;
            rows_ = parameter({free_name("rows"), DType::int64});
            out_.head.push_back(rows_);
        }
        out_.parameters = out_.variables.size();
    }

    int parameter(const Variable& variable) {
        out_.variables.push_back(variable);
        return static_cast<int>(out_.variables.size()) - 1;
    }

    bool is_result(const std::string& name) const {
        return std::any_of(p_.results.begin(), p_.results.end(),
                           [&](const Variable& result) { return result.name == name; });
    }

    // The names of numbers are those of arrays now.
    void add_variables() {
        for (size_t i = 0; i < p_.variables.size(); ++i) {
            if (moved_[i] >= 0) continue;
            moved_[i] = static_cast<int>(out_.variables.size());
            Variable made = p_.variables[i];
            if (i < p_.parameters || is_result(made.name))
                made.name = free_name(made.name + "_of_row");
            out_.variables.push_back(std::move(made));
        }
        row_ = static_cast<int>(out_.variables.size());
        out_.variables.push_back({free_name("row"), DType::int64});
        for (const int each : moved_) by_.push_back(out_.variable(static_cast<size_t>(each)));
    }

    // The inputs in the order of the head, the outputs, and what else the procedure has.
    void add_arrays() {
        const Expr rows = out_.variable(static_cast<size_t>(rows_));
        const Expr row = out_.variable(static_cast<size_t>(row_));
        array_.assign(p_.arrays.size(), -1);
        of_result_.assign(p_.results.size(), -1);
        for (const int each : inputs_) {
            if (each < 0) {
                add_array(static_cast<size_t>(-1 - each));
                continue;
            }
            const Variable& number = p_.variables[static_cast<size_t>(each)];
            const int array = static_cast<int>(out_.arrays.size());
            out_.arrays.push_back({number.name, number.dtype, {rows}, Role::input});
            loads_.push_back(
                Statement::load(moved_[static_cast<size_t>(each)], array, {row}, p_.line));
        }
        for (const int each : outputs_) {
            if (each < 0) {
                add_array(static_cast<size_t>(-1 - each));
                continue;
            }
            const Variable& result = p_.results[static_cast<size_t>(each)];
            of_result_[static_cast<size_t>(each)] = static_cast<int>(out_.arrays.size());
            out_.arrays.push_back({result.name, result.dtype, {rows}, Role::output});
        }
        for (size_t i = 0; i < p_.arrays.size(); ++i)
            if (array_[i] < 0) add_array(i);
    }

    void add_array(size_t number) {
        ArrayVariable array = p_.arrays[number];
        const bool is_outer = array.role != Role::local;
        if (is_outer) check_extents(array);
        if (!array.shape.empty()) array.shape = scalar::substitute(array.shape, by_);
        if (is_outer)
            array.shape.insert(array.shape.begin(), out_.variable(static_cast<size_t>(rows_)));
        array_[number] = static_cast<int>(out_.arrays.size());
        out_.arrays.push_back(std::move(array));
    }

    int moved_array(int array) const { return array_[static_cast<size_t>(array)]; }

    void check_extents(const ArrayVariable& array) const {
        for (const int each : variables_in(array.shape))
            user_check<NotSupported>(
                std::find(inputs_.begin(), inputs_.end(), each) == inputs_.end(), out_.name,
                ": an extent of ", array.name, " is made of ",
                p_.variables[static_cast<size_t>(each)].name,
                ", which each row has one of. Extents of rows that are equal, made of those of "
                "arguments, are required. [",
                p_.file, ":", p_.line, "]");
    }

    bool is_outer(int array) const {
        return p_.arrays[static_cast<size_t>(array)].role != Role::local;
    }

    // Where the procedure begins an output with zeros, so does this one, with all of it.
    void hoist_zeros() {
        for (size_t i = 0; i < p_.body.size(); ++i) {
            const Statement statement = p_.body[i];
            if (statement.kind != Kind::allocate || !is_outer(statement.array)) continue;
            const Block before(p_.body.begin(), p_.body.begin() + static_cast<std::ptrdiff_t>(i));
            if (mentions_array(before, statement.array)) continue;
            out_.body.push_back(Statement::allocate(moved_array(statement.array),
                                                    statement.is_zeroed, statement.line));
            p_.body.erase(p_.body.begin() + static_cast<std::ptrdiff_t>(i--));
        }
    }

    Block stored_results(const Statement& leave) const {
        Block made;
        for (size_t i = 0; i < leave.values.size(); ++i) {
            made.push_back(Statement::write(Kind::store, -2 - static_cast<int>(i), {},
                                            leave.values[i], leave.line));
        }
        return made;
    }

    Block of_row(const Block& block) {
        Block made;
        for (Statement statement : block) {
            if (!statement.values.empty())
                statement.values = scalar::substitute(statement.values, by_);
            if (!statement.index.empty())
                statement.index = scalar::substitute(statement.index, by_);
            // Its values mean something in what was written alone.
            if (p_.as_written) statement.claim = nullptr;
            if (statement.claim) {
                Claim claim = *statement.claim;
                if (!claim.values.empty()) claim.values = scalar::substitute(claim.values, by_);
                statement.claim = std::make_shared<const Claim>(std::move(claim));
            }
            if (statement.variable >= 0)
                statement.variable = moved_[static_cast<size_t>(statement.variable)];
            statement.first = of_row(statement.first);
            statement.body = of_row(statement.body);
            statement.otherwise = of_row(statement.otherwise);
            if (statement.kind == Kind::load || statement.kind == Kind::store ||
                statement.kind == Kind::add || statement.kind == Kind::allocate ||
                statement.kind == Kind::append || statement.kind == Kind::take) {
                const bool is_whole = statement.array >= 0 && is_outer(statement.array);
                if (is_whole && statement.kind == Kind::allocate) {
                    const Block zeros = zeros_of_row(statement);
                    made.insert(made.end(), zeros.begin(), zeros.end());
                    continue;
                }
                if (is_whole) add_row(statement);
                if (statement.array < 0) {  // of a result
                    statement.index = {out_.variable(static_cast<size_t>(row_))};
                    statement.array = of_result_[static_cast<size_t>(-2 - statement.array)];
                } else {
                    statement.array = moved_array(statement.array);
                }
            }
            made.push_back(std::move(statement));
        }
        return made;
    }

    // How many elements a row of an array has.
    Expr count_of_row(int array) const {
        const Expr count = element_count(p_.arrays[static_cast<size_t>(array)].shape);
        return scalar::substitute({count}, by_)[0];
    }

    void add_row(Statement& statement) const {
        const Expr row = out_.variable(static_cast<size_t>(row_));
        const size_t rank = p_.arrays[static_cast<size_t>(statement.array)].shape.size();
        if (statement.index.size() == rank)
            statement.index.insert(statement.index.begin(), row);
        else
            statement.index = {row * count_of_row(statement.array) + statement.index[0]};
    }

    Block zeros_of_row(const Statement& statement) {
        if (!statement.is_zeroed) return {};
        const int counter = out_.add_variable("k", DType::int64);
        const Expr here = out_.variable(static_cast<size_t>(counter));
        const Expr count = count_of_row(statement.array);
        const Expr row = out_.variable(static_cast<size_t>(row_));
        const DType dtype = p_.arrays[static_cast<size_t>(statement.array)].dtype;
        const Expr zero =
            is_floating(dtype) ? Expr::constant(dtype, 0) : Expr::constant_integer(dtype, 0);
        const Block body = {Statement::write(Kind::store, moved_array(statement.array),
                                             {row * count + here}, zero, statement.line)};
        return {counting_up(here, integer(0), count, body, statement.line)};
    }

    const Callable callable_;
    Procedure p_, out_;
    std::vector<int> moved_;      // the new number of each variable
    std::vector<Expr> by_;        // and itself
    std::vector<int> inputs_;     // of the head: arrays, and parameters of which each row has one
    std::vector<int> outputs_;    // results, and arrays as -1 - number
    std::vector<int> array_;      // the new number of each array
    std::vector<int> of_result_;  // the array of each result
    Block loads_;
    int rows_ = -1, row_ = -1;
};

}  // namespace

Procedure over_rows(const Procedure& procedure) { return Mapper(procedure, nullptr).run(); }

Procedure reverse_over_rows(const Procedure& procedure) {
    return Mapper(reverse(procedure), &procedure).run();
}

}  // namespace composit::ir::procedure
