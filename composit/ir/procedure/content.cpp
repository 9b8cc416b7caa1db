// Feeds everything in one order, each list after its length, to one hash.
#include "composit/ir/procedure/content.h"

#include "composit/base/sha256.h"

#include <type_traits>
#include <unordered_map>

namespace composit::ir::procedure {
namespace {

using scalar::Op;

constexpr size_t digits_of_content = 32;  // 128 bits

class Content {
  public:
    std::string of(const Procedure& procedure) {
        add(procedure);
        return sha_.hex().substr(0, digits_of_content);
    }

  private:
    template <class Number>
        requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
    void add(Number number) {
        const auto wide = static_cast<int64_t>(number);
        sha_.update(&wide, sizeof wide);
    }
    void add(const std::string& words) {
        add(words.size());
        sha_.update(words.data(), words.size());
    }
    void add(const scalar::Bits& bits) { sha_.update(bits.data(), sizeof bits); }

    template <class Item>
    void add(const std::vector<Item>& items) {
        add(items.size());
        for (const Item& item : items) add(item);
    }

    void add(const Variable& variable) { add(variable.dtype); }

    void add(const ArrayVariable& array) {
        add(array.dtype);
        add(array.role);
        add(array.grows);
        add(array.shape);
    }

    void add(const std::vector<Expr>& expressions) {
        const std::vector<Expr> order = scalar::topological_order(expressions);
        std::unordered_map<const scalar::ExprNode*, size_t> numbers;
        add(order.size());
        for (const Expr& expr : order) {
            numbers.emplace(expr.id(), numbers.size());
            add(expr.op());
            add(expr.dtype());
            add(expr.operands().size());
            for (const Expr& operand : expr.operands()) add(numbers.at(operand.id()));
            add_own(expr);
        }
        add(expressions.size());
        for (const Expr& expr : expressions) add(numbers.at(expr.id()));
    }

    // What an expression is beside its operation and operands.
    void add_own(const Expr& expr) {
        switch (expr.op()) {
            case Op::constant: add(expr.bits()); break;
            case Op::argument: add(expr.index()); break;
            case Op::lookup: add(*expr.table()); break;
            case Op::call: add_row(expr); break;
            case Op::loop:
                add(expr.index());
                add(expr.loop()->limit);
                add(expr.loop()->state);
                add(std::vector<Expr>{expr.loop()->condition});
                add(expr.loop()->steps);
                break;
            default: break;
        }
    }

    // A row that stands in no table is what it computes.
    void add_row(const Expr& call) {
        add(call.row()->name);
        const bool is_in_table = scalar::find_row(call.row()->name) == call.row();
        add(is_in_table);
        if (is_in_table) return;
        std::vector<DType> operands;
        for (const Expr& operand : call.operands()) operands.push_back(operand.dtype());
        add(std::vector<Expr>{scalar::specialise(call.row(), operands).body});
    }

    void add(const Statement& statement) {
        add(statement.kind);
        add(statement.variable);
        add(statement.array);
        add(statement.is_zeroed);
        add(statement.index);
        add(statement.values);
        for (const Block* block : {&statement.body, &statement.otherwise, &statement.first})
            add(*block);
    }

    void add(const Procedure& procedure) {
        add(procedure.variables);
        add(procedure.parameters);
        add(procedure.results);
        add(procedure.arrays);
        add(procedure.head);
        add(procedure.body);
        for (const auto& other : {procedure.derivative, procedure.of_each_row, procedure.reverse_of,
                                  procedure.for_derivatives}) {
            add(other != nullptr);
            if (other) add(*other);
        }
    }

    Sha256 sha_;
};

}  // namespace

std::string content_name(const Procedure& procedure) {
    return procedure.name + "-" + Content().of(procedure);
}

}  // namespace composit::ir::procedure
