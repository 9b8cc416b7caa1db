// row_of: a procedure as a row, which maps over arrays; its derivatives are rows of the same kind.
#include "composit/base/error.h"
#include "composit/ir/procedure/procedure.h"

#include <map>
#include <mutex>

namespace composit::ir::procedure {
namespace {

using scalar::Row;
using scalar::RowRef;
using scalar::Signature;
using scalar::TypeRule;

// Operands of exactly these dtypes.
TypeRule exactly(std::vector<DType> operands, DType result) {
    const Signature signature{std::move(operands), result};
    return [signature](std::string_view name, const std::vector<DType>& given) {
        user_check<TypeError>(given == signature.operands, name, ": operands have the dtypes ",
                              join(given), ". ", join(signature.operands), " are required.");
        return signature;
    };
}

std::vector<DType> dtypes_of(const std::vector<Expr>& x) {
    std::vector<DType> dtypes;
    for (const Expr& expr : x) dtypes.push_back(expr.dtype());
    return dtypes;
}

// The rows of one procedure's derivatives, each made when it is first asked for.
class Derivatives {
  public:
    Derivatives(std::string name, Maker maker, size_t result)
        : name_(std::move(name)), maker_(std::move(maker)), result_(result) {}

    enum class Kind : uint8_t { slope, pullback };

    RowRef row(Kind kind, const std::vector<DType>& dtypes, size_t parameter) {
        const std::lock_guard lock(mutex_);
        RowRef& row = rows_[{kind, dtypes, parameter}];
        if (!row) row = make(kind, dtypes, parameter);
        return row;
    }

  private:
    RowRef make(Kind kind, const std::vector<DType>& dtypes, size_t parameter) const {
        const Procedure own = maker_(dtypes);
        const Procedure made =
            kind == Kind::slope ? slope(own, result_, parameter) : vjp_of(own, result_, parameter);
        std::vector<DType> operands;
        for (size_t i = 0; i < made.parameters; ++i) operands.push_back(made.variables[i].dtype);
        Row row =
            row_of(text(name_, kind == Kind::slope ? ".d" : ".vjp_", own.variables[parameter].name),
                   "", static_cast<int>(operands.size()), exactly(operands, made.results[0].dtype),
                   [made](const std::vector<DType>&) { return made; });
        if (kind == Kind::pullback) make_linear(row, parameter);
        return std::make_shared<const Row>(std::move(row));
    }

    // A pullback is linear in the gradient, its last operand: what it is derived to there does not
    // read it. (Forward mode transposes pullbacks.)
    void make_linear(Row& row, size_t parameter) const {
        const auto own = std::make_shared<Derivatives>(name_, maker_, result_);
        row.slopes = [own, parameter, slopes = row.slopes](std::vector<Expr> x, const Expr& y) {
            std::vector<Expr> all = slopes(x, y);
            x.pop_back();
            all.back() = Expr::call(own->row(Kind::slope, dtypes_of(x), parameter), x);
            return all;
        };
        row.pullback = [own, parameter, pullback = row.pullback](std::vector<Expr> x, const Expr& y,
                                                                 const Expr& g, int operand) {
            if (static_cast<size_t>(operand) + 1 != x.size()) return pullback(x, y, g, operand);
            x.pop_back();
            const RowRef same = own->row(Kind::pullback, dtypes_of(x), parameter);
            x.push_back(g);
            return Expr::call(same, x);
        };
    }

    std::string name_;
    Maker maker_;
    size_t result_;
    std::mutex mutex_;
    std::map<std::tuple<Kind, std::vector<DType>, size_t>, RowRef> rows_;
};

}  // namespace

Row row_of(const Procedure& procedure, size_t result) {
    std::vector<DType> dtypes;
    for (size_t i = 0; i < procedure.parameters; ++i)
        dtypes.push_back(procedure.variables[i].dtype);
    const auto arity = static_cast<int>(dtypes.size());
    return row_of(
        procedure.name, procedure.doc, arity,
        exactly(std::move(dtypes), procedure.results[result].dtype),
        [procedure](const std::vector<DType>&) { return procedure; }, result);
}

std::vector<Expr> slopes_of(const Procedure& procedure, size_t result) {
    std::vector<Expr> x;
    for (size_t i = 0; i < procedure.parameters; ++i) x.push_back(procedure.variable(i));
    return row_of(procedure, result).slopes(x, {});
}

Row row_of(std::string name, std::string doc, int arity, TypeRule types, Maker maker,
           size_t result) {
    using Kind = Derivatives::Kind;
    Row row;
    row.name = name;
    row.doc = std::move(doc);
    row.arity = arity;
    row.types = std::move(types);
    row.value = [maker, result](const std::vector<Expr>& x) {
        return scalar::substitute({flatten(maker(dtypes_of(x)))[result]}, x)[0];
    };
    const auto derivatives =
        std::make_shared<Derivatives>(std::move(name), std::move(maker), result);
    row.slopes = [derivatives](const std::vector<Expr>& x, const Expr&) {
        std::vector<Expr> slopes(x.size());
        for (size_t i = 0; i < x.size(); ++i)
            if (is_floating(x[i].dtype()))
                slopes[i] = Expr::call(derivatives->row(Kind::slope, dtypes_of(x), i), x);
        return slopes;
    };
    row.pullback = [derivatives](const std::vector<Expr>& x, const Expr&, const Expr& g,
                                 int operand) {
        std::vector<Expr> operands = x;
        operands.push_back(g);
        const auto parameter = static_cast<size_t>(operand);
        return Expr::call(derivatives->row(Kind::pullback, dtypes_of(x), parameter), operands);
    };
    return row;
}

}  // namespace composit::ir::procedure
