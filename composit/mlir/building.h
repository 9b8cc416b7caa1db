// Building composit's graph of a program of MLIR: operation after operation, each by one rule.
#pragma once

#include "composit/base/error.h"
#include "composit/ir/node.h"
#include "composit/mlir/syntax.h"
#include "composit/ops/ops.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::mlir {

using ir::Tensor;
using Tensors = std::vector<Tensor>;

// The elements of constants, by operation, of one element where all are the same.
using Constants = std::unordered_map<const syntax::Operation*, ir::Array>;

// What one call of a function makes.
class Building {
  public:
    Building(const syntax::Module& module, const Constants& constants)
        : module_(module), constants_(constants), line_(ir::current_location()) {}
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

    // Tensors of tuples stand in a row, in arguments and in results.
    Tensors call(const syntax::Function& function, const Tensors& arguments);
    // The function of that name; ValueError where there is none.
    [[nodiscard]] const syntax::Function& function(std::string_view name) const;
    // What a region of the operation that is built returns.
    Tensors run(const syntax::Region& region, const Tensors& arguments);

    [[nodiscard]] const syntax::Module& module() const { return module_; }
    [[nodiscard]] const ir::Array& constant(const syntax::Operation& operation) const {
        return constants_.at(&operation);
    }
    // Of the function that is built.
    [[nodiscard]] const syntax::Type& type_of(uint32_t value) const {
        return function_->values[value];
    }

    // Matrices by what LAPACK's factorisation gave for them.
    void keep_factored(const Tensor& packed, const Tensor& matrix) {
        factored_.emplace_back(packed, matrix);
    }
    [[nodiscard]] Tensor factored_from(const Tensor& packed) const;  // empty where there is none

  private:
    Tensors made_by(const syntax::Operation& operation, const Tensors& operands);

    const syntax::Module& module_;
    const Constants& constants_;
    ir::Interned line_;  // of the user, where he called
    const syntax::Function* function_ = nullptr;
    std::vector<Tensors>* values_ = nullptr;  // of the function, by number
    int depth_ = 0;
    int64_t built_ = 0;
    std::vector<std::pair<Tensor, Tensor>> factored_;
};

// An operation that is built, for its rule. Errors need not name it.
class Site {
  public:
    using Names = std::initializer_list<std::string_view>;

    // `result`: the type of result `which`, where what is written leaves lengths open.
    Site(Building& building, const syntax::Operation& operation, const Tensors& operands,
         std::optional<ValueType> result = {}, size_t which = 0)
        : building(building),
          operation(operation),
          x(operands),
          result_(std::move(result)),
          which_(which) {}
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;

    Building& building;
    const syntax::Operation& operation;
    const Tensors& x;

    // The name behind the dialect's.
    [[nodiscard]] std::string_view name() const {
        return std::string_view(operation.name).substr(operation.name.find('.') + 1);
    }
    template <class E = ValueError, class... Parts>
    void check(bool condition, const Parts&... parts) const {
        user_check<E>(condition, parts...);
    }
    void check_operands(size_t count) const;
    // The type of a result that is a tensor; its lengths may be open. One without such lengths:
    // NotSupported where there are some.
    [[nodiscard]] const ValueType& result(size_t i = 0) const;
    [[nodiscard]] const ValueType& fixed_result(size_t i = 0) const;

    // ----- attributes, under the first of the names that there is; ValueError where one is missing
    // or of another kind
    [[nodiscard]] const syntax::Attribute* find(Names names) const;
    [[nodiscard]] const syntax::Attribute& attribute(Names names) const;
    [[nodiscard]] Axes integers(Names names) const;  // of any dimensions, in a row
    [[nodiscard]] Axes integers_or(Names names, const Axes& otherwise) const;
    [[nodiscard]] int64_t integer(Names names) const;
    [[nodiscard]] int64_t integer_or(Names names, int64_t otherwise) const;
    [[nodiscard]] bool flag_or(Names names, bool otherwise) const;
    // A word, a text, a symbol.
    [[nodiscard]] std::string word(Names names) const;
    [[nodiscard]] std::string word_or(Names names, std::string_view otherwise) const;
    // Integers of a record's entry; none where it is left out.
    [[nodiscard]] Axes part(const syntax::Attribute& record, std::string_view name) const;
    // Different axes of a tensor of that rank.
    const Axes& checked_axes(const Axes& axes, int64_t rank, std::string_view what) const;
    // As many numbers as there are axes, each within bounds.
    const Axes& checked_numbers(const Axes& numbers, size_t count, int64_t least,
                                std::string_view what) const;

    // The numbers of an operand, `count` integers in a row: lengths of inputs, and what is computed
    // of them. NotSupported where they depend on an input's values. `number_of`: of a single one.
    [[nodiscard]] Axes numbers_of(const Tensor& operand, size_t count, std::string_view what) const;

    [[nodiscard]] int64_t number_of(const Tensor& operand, std::string_view what) const;
    // `type`, with the lengths that an operand has where some are open in it.
    [[nodiscard]] ValueType with_lengths(ValueType type, const Tensor& lengths) const;

    // ----- regions; of calls by name the functions that they name instead (called_computations)
    [[nodiscard]] std::vector<syntax::Type> region_arguments(size_t i) const;
    Tensors run(size_t i, const Tensors& arguments) const;

  private:
    [[nodiscard]] const syntax::Region& region(size_t i) const;
    [[nodiscard]] const syntax::Function* called(size_t i) const;  // none: it has regions

    std::optional<ValueType> result_;
    size_t which_;
};
[[nodiscard]] Axes integers_of(const syntax::Attribute& attribute, std::string_view name);

using LoadRule = std::function<Tensors(const Site&)>;
using LoadRules = std::map<std::string_view, LoadRule>;  // by operation: "stablehlo.add"

[[nodiscard]] const LoadRules& load_rules();
[[nodiscard]] bool is_loaded(std::string_view operation);  // whether there is a rule

// ----- calls by name that JAX writes for StableHLO's operations where lengths are open
[[nodiscard]] Tensors reduced_dynamic_windows(const Site& site);
[[nodiscard]] Tensors greatest_of_open(const Site& site);
[[nodiscard]] Tensors random_bits_of_open(const Site& site);

void add_elementwise_loads(LoadRules& rules);
void add_layout_loads(LoadRules& rules);
void add_indexing_loads(LoadRules& rules);
void add_order_loads(LoadRules& rules);
void add_reduction_loads(LoadRules& rules);
void add_window_loads(LoadRules& rules);
void add_product_loads(LoadRules& rules);
void add_control_loads(LoadRules& rules);
void add_call_loads(LoadRules& rules);
void add_random_loads(LoadRules& rules);

}  // namespace composit::mlir
