// Procedures: making statements, and what can be said of them by looking.
#include "composit/ir/procedure/procedure.h"

#include "composit/base/error.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

class Checker {
  public:
    explicit Checker(const Procedure& procedure) : procedure_(procedure) {}

    void check_block(const Block& block, bool is_in_loop) const {
        for (const Statement& statement : block) {
            switch (statement.kind) {
                case Kind::assign: {
                    const auto place = static_cast<size_t>(statement.variable);
                    require(statement, place < procedure_.variables.size(),
                            "assigns a variable that does not exist");
                    check_value(statement, 0, procedure_.variables[place].dtype);
                    break;
                }
                case Kind::branch:
                case Kind::expect: check_value(statement, 0, DType::boolean); break;
                case Kind::loop: check_value(statement, 0, DType::boolean); break;
                case Kind::stop:
                case Kind::go_on:
                    if (!is_in_loop)
                        fail<ValueError>(procedure_.name, ": line ", statement.line,
                                         " leaves a loop, and is in none.");
                    break;
                case Kind::leave:
                    require(statement, statement.values.size() == procedure_.results.size(),
                            "returns another number of values than the procedure has results");
                    for (size_t i = 0; i < statement.values.size(); ++i)
                        check_value(statement, i, procedure_.results[i].dtype);
                    break;
                case Kind::load:
                case Kind::take:
                    check_element(statement);
                    require(
                        statement,
                        statement.variable >= 0 &&
                            static_cast<size_t>(statement.variable) < procedure_.variables.size() &&
                            procedure_.variables[static_cast<size_t>(statement.variable)].dtype ==
                                array_of(statement).dtype,
                        "loads into a variable of another dtype");
                    break;
                case Kind::store:
                case Kind::add:
                case Kind::append:
                    check_element(statement);
                    require(statement, array_of(statement).role != ArrayVariable::Role::input,
                            "writes to an input");
                    check_value(statement, 0, array_of(statement).dtype);
                    break;
                case Kind::allocate: check_array(statement); break;
            }
            const bool is_loop = statement.kind == Kind::loop;
            check_block(statement.first, is_in_loop);
            check_block(statement.body, is_in_loop || is_loop);
            check_block(statement.otherwise, is_in_loop && !is_loop);
        }
    }

  private:
    void require(const Statement& statement, bool holds, const char* otherwise) const {
        user_check<TypeError>(holds, procedure_.name, ": line ", statement.line, " ", otherwise,
                              ".");
    }

    void check_array(const Statement& statement) const {
        require(
            statement,
            statement.array >= 0 && static_cast<size_t>(statement.array) < procedure_.arrays.size(),
            "names an array that does not exist");
    }
    const ArrayVariable& array_of(const Statement& statement) const {
        return procedure_.arrays[static_cast<size_t>(statement.array)];
    }
    void check_element(const Statement& statement) const {
        check_array(statement);
        const size_t rank = array_of(statement).shape.size();
        const bool is_at_end = statement.kind == Kind::append || statement.kind == Kind::take;
        const size_t wanted = is_at_end ? 0 : statement.index.size();
        require(statement,
                wanted == statement.index.size() && (wanted == rank || wanted == 1 || is_at_end),
                "indexes an array by another number of axes than it has");
        for (const Expr& each : statement.index)
            require(statement, each && each.dtype() == DType::int64,
                    "has an index that is no int64");
    }

    void check_value(const Statement& statement, size_t index, DType dtype) const {
        require(statement, index < statement.values.size() && statement.values[index],
                "lacks a value");
        user_check<TypeError>(statement.values[index].dtype() == dtype, procedure_.name, ": line ",
                              statement.line, " has a value of dtype ",
                              statement.values[index].dtype(), ". ", dtype, " is required.");
        for (const Expr& expr : scalar::topological_order({statement.values[index]})) {
            if (expr.op() != scalar::Op::argument) continue;
            const auto place = static_cast<size_t>(expr.index());
            require(statement,
                    place < procedure_.variables.size() &&
                        procedure_.variables[place].dtype == expr.dtype(),
                    "reads a variable that does not exist, or one of another dtype");
        }
    }

    const Procedure& procedure_;
};

void gather(const Block& block, std::vector<const Statement*>& all) {
    for (const Statement& statement : block) {
        all.push_back(&statement);
        gather(statement.first, all);
        gather(statement.body, all);
        gather(statement.otherwise, all);
    }
}

bool has_stop(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const Statement& statement) {
        if (statement.kind == Kind::stop) return true;
        if (statement.kind == Kind::loop) return false;
        return has_stop(statement.body) || has_stop(statement.otherwise);
    });
}

bool is_true(const Expr& value) { return value.op() == scalar::Op::constant && value.value() != 0; }

}  // namespace

Statement Statement::assign(int variable, Expr value, const SourceLine& line) {
    Statement made;
    made.line = line;
    made.variable = variable;
    made.values = {std::move(value)};
    return made;
}

Statement Statement::branch(Expr condition, Block body, Block otherwise, const SourceLine& line) {
    Statement made;
    made.kind = Kind::branch;
    made.line = line;
    made.values = {std::move(condition)};
    made.body = std::move(body);
    made.otherwise = std::move(otherwise);
    return made;
}

Statement Statement::loop(Block first, Expr condition, Block body, Block next,
                          const SourceLine& line) {
    Statement made = branch(std::move(condition), std::move(body), std::move(next), line);
    made.kind = Kind::loop;
    made.first = std::move(first);
    return made;
}

Statement Statement::leave(std::vector<Expr> values, const SourceLine& line) {
    Statement made;
    made.kind = Kind::leave;
    made.line = line;
    made.values = std::move(values);
    return made;
}

Statement Statement::load(int variable, int array, std::vector<Expr> index,
                          const SourceLine& line) {
    Statement made;
    made.kind = Kind::load;
    made.line = line;
    made.variable = variable;
    made.array = array;
    made.index = std::move(index);
    return made;
}

Statement Statement::write(Kind kind, int array, std::vector<Expr> index, Expr value,
                           const SourceLine& line) {
    Statement made;
    made.kind = kind;
    made.line = line;
    made.array = array;
    made.index = std::move(index);
    made.values = {std::move(value)};
    return made;
}

Statement Statement::allocate(int array, bool is_zeroed, const SourceLine& line) {
    Statement made;
    made.kind = Kind::allocate;
    made.line = line;
    made.array = array;
    made.is_zeroed = is_zeroed;
    return made;
}

Statement Statement::take(int variable, int array, const SourceLine& line) {
    Statement made = load(variable, array, {}, line);
    made.kind = Kind::take;
    return made;
}

int Procedure::add_array(const std::string& wanted, ArrayVariable like) {
    const auto is_taken = [this](const std::string& name) {
        return std::any_of(arrays.begin(), arrays.end(),
                           [&](const ArrayVariable& array) { return array.name == name; }) ||
               std::any_of(variables.begin(), variables.end(),
                           [&](const Variable& variable) { return variable.name == name; });
    };
    like.name = wanted;
    for (int i = 2; is_taken(like.name); ++i) like.name = text(wanted, "_", i);
    arrays.push_back(std::move(like));
    return static_cast<int>(arrays.size()) - 1;
}

std::vector<int> Procedure::arrays_of(ArrayVariable::Role role) const {
    std::vector<int> found;
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].role == role) found.push_back(static_cast<int>(i));
    return found;
}

std::vector<Expr> expressions_of(const Procedure& procedure, const Statement& statement) {
    std::vector<Expr> all = statement.values;
    all.insert(all.end(), statement.index.begin(), statement.index.end());
    if (statement.array < 0) return all;
    // An element's place depends on the extents.
    const auto& shape = procedure.arrays[static_cast<size_t>(statement.array)].shape;
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
}

int Procedure::add_variable(const std::string& wanted, DType dtype) {
    const auto is_taken = [this](const std::string& name) {
        return std::any_of(variables.begin(), variables.end(),
                           [&](const Variable& variable) { return variable.name == name; }) ||
               std::any_of(arrays.begin(), arrays.end(),
                           [&](const ArrayVariable& array) { return array.name == name; });
    };
    std::string name = wanted;
    for (int i = 2; is_taken(name); ++i) name = text(wanted, "_", i);
    variables.push_back({name, dtype});
    return static_cast<int>(variables.size()) - 1;
}

void check(const Procedure& procedure) {
    Checker(procedure).check_block(procedure.body, false);
    user_check<ValueError>(always_leaves(procedure.body), procedure.name,
                           ": its end can be reached without a result. A return on every path is "
                           "required.");
}

bool always_leaves(const Block& block) {
    for (const Statement& statement : block) {
        switch (statement.kind) {
            case Kind::leave:
            case Kind::stop:
            case Kind::go_on: return true;
            case Kind::branch:
                if (always_leaves(statement.body) && always_leaves(statement.otherwise))
                    return true;
                break;
            case Kind::loop:
                if (is_true(statement.values[0]) && !has_stop(statement.body)) return true;
                break;
            case Kind::assign:
            case Kind::expect:
            case Kind::load:
            case Kind::store:
            case Kind::add:
            case Kind::allocate:
            case Kind::append:
            case Kind::take: break;
        }
    }
    return false;
}

std::vector<const Statement*> all_statements(const Block& block) {
    std::vector<const Statement*> all;
    gather(block, all);
    return all;
}

}  // namespace composit::ir::procedure
