// A call's arguments as words: equal for calls that one function computed at once answers.
#pragma once

#include "composit/eager/deferred.h"
#include "composit/ir/array.h"
#include "composit/ir/dtype.h"

#include <Python.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace composit::python {

// And the call's operands, the known arrays and scalars among them.
class CallWords {
  public:
    struct Operand {
        ir::TensorType type;
        const void* memory;
        uint64_t bits;  // of a scalar, where `memory` is null
        Ref<eager::Deferred> now;
        ir::Array copy = {};  // which `memory` is of, of an array that lies in another order
    };

    // `any_order`: of functions whose results lie in row-major order however their operands do.
    explicit CallWords(bool any_order) : any_order_(any_order) {}

    // Whether all of them can be written so, and there is an operand.
    bool read(PyObject* const* values, size_t count, PyObject* names);

    std::span<const uint64_t> words() const { return std::span(words_).first(count_); }
    uint64_t hash() const;
    std::vector<Operand>& operands() { return operands_; }
    // A few elements and no numbers beside them: there are few such calls in a program, and what is
    // computed of a result that is not known is not known, either.
    bool are_small() const;

  private:
    enum class Tag : uint64_t {
        none,
        boolean,
        integer,
        floating,
        text,
        array,
        scalar,
        list,
        tuple,
        slice,
        ellipsis,
        type,
        row,
        name
    };
    static constexpr size_t most_words = 96, most_operands = 8;

    bool word(uint64_t value) {
        if (count_ == most_words) return false;
        words_[count_++] = value;
        return true;
    }
    bool word(Tag tag) { return word(static_cast<uint64_t>(tag)); }

    bool add(PyObject* value);
    bool add_integer(PyObject* value);
    bool add_text(PyObject* value);
    bool add_items(PyObject* value);
    bool add_slice(PyObject* value);
    bool add_type(Tag tag, const ir::TensorType& type);
    bool add_array(PyObject* value);
    bool add_scalar(PyObject* value);

    const bool any_order_;
    bool has_numbers_ = false;
    int64_t elements_ = 0;  // of all operands
    std::array<uint64_t, most_words> words_;
    size_t count_ = 0;
    std::vector<Operand> operands_;
};

}  // namespace composit::python
