// Attributes and types of nodes that were made lately. Programs come back to the same few slices,
// shapes and positions: their nodes share these records.
#pragma once

#include "composit/base/hash.h"
#include "composit/ir/node.h"
#include "composit/ops/ops.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace composit::ops {

// By lists of integers, the attributes of an operation, and a dtype. Each thread has one of its
// own for each operation.
template <size_t lists>
class Lately {
  public:
    using Key = std::array<const Axes*, lists>;
    struct Record {
        std::array<Axes, lists> key;
        DType dtype = DType::boolean;
        ir::SharedAttributes attributes;
        ir::SharedTypes types;
    };

    // `attributes()` and `types()` make what is not there.
    template <class MakeAttributes, class MakeTypes>
    const Record& find(const Key& key, DType dtype, const MakeAttributes& attributes,
                       const MakeTypes& types) {
        uint64_t hash = static_cast<uint64_t>(dtype);
        for (const Axes* values : key) {
            hash = hash_combine(hash, values->size());
            for (const int64_t value : *values)
                hash = hash_combine(hash, static_cast<uint64_t>(value));
        }
        Record& record = records_[hash % records_.size()];
        bool is_there = record.attributes && record.dtype == dtype;
        for (size_t i = 0; i < lists && is_there; ++i) is_there = record.key[i] == *key[i];
        if (is_there) return record;
        Record made;
        for (size_t i = 0; i < lists; ++i) made.key[i] = *key[i];
        made.dtype = dtype;
        made.attributes = ir::shared(attributes());
        made.types = std::make_shared<const ir::HashedTypes>(types());
        record = std::move(made);
        return record;
    }

  private:
    std::array<Record, 256> records_;
};

// Of one output like x, which is strong.
inline ir::SharedTypes strong_types_of(const Tensor& x) {
    if (x.node().output_count() == 1 && !x.type().weak) return x.node().shared_types();
    return std::make_shared<const ir::HashedTypes>(
        std::vector<ir::TensorType>{{x.shape(), x.dtype()}});
}

}  // namespace composit::ops
