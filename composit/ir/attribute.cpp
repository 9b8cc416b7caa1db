#include "composit/ir/attribute.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/base/small_blocks.h"
#include "composit/ir/body.h"

#include <algorithm>
#include <bit>

namespace composit::ir {

Attributes::Attributes(std::initializer_list<std::pair<std::string, Attribute>> items)
    : items_(items) {
    std::sort(items_.begin(), items_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
}

Attributes Attributes::from(std::vector<std::pair<std::string, Attribute>> items) {
    Attributes attributes;
    attributes.items_ = std::move(items);
    std::sort(attributes.items_.begin(), attributes.items_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return attributes;
}

const Attribute* Attributes::find(std::string_view name) const {
    for (const auto& [key, value] : items_)
        if (key == name) return &value;
    return nullptr;
}

void Attributes::missing(std::string_view name) {
    internal_check(false, "attribute '", name, "' is missing or has another type");
    std::abort();  // not reached
}

namespace {

struct Hash {
    uint64_t operator()(bool v) const { return mix(v ? 1 : 2); }
    uint64_t operator()(int64_t v) const { return mix(static_cast<uint64_t>(v)); }
    uint64_t operator()(double v) const { return mix(std::bit_cast<uint64_t>(v)); }
    uint64_t operator()(const std::string& v) const { return hash_text(v); }
    uint64_t operator()(DType v) const { return mix(static_cast<uint64_t>(v) + 100); }
    uint64_t operator()(const std::vector<int64_t>& v) const {
        uint64_t h = v.size();
        for (int64_t x : v) h = hash_combine(h, static_cast<uint64_t>(x));
        return h;
    }
    uint64_t operator()(const ConstantArray& v) const {
        return hash_combine((*this)(v.dtype()), (*this)(v.shape()));
    }
    uint64_t operator()(const scalar::RowRef& v) const { return std::bit_cast<uint64_t>(v.get()); }
    uint64_t operator()(const std::shared_ptr<const Body>& v) const { return structural_hash(*v); }
};

struct Equal {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return a == b;
    }
    bool operator()(double a, double b) const {
        return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
    }
    bool operator()(const ConstantArray& a, const ConstantArray& b) const {
        return a.dtype() == b.dtype() && a.shape() == b.shape();
    }
    bool operator()(const std::shared_ptr<const Body>& a,
                    const std::shared_ptr<const Body>& b) const {
        return a == b || structurally_equal(*a, *b);
    }
    template <class A, class B>
    bool operator()(const A&, const B&) const {
        return false;
    }
};

}  // namespace

namespace {

uint64_t hash_of(const Attributes& attributes) {
    uint64_t h = attributes.items().size();
    for (const auto& [key, value] : attributes.items())
        h = hash_combine(hash_combine(h, hash_text(key)), structural_hash(value));
    return h;
}

}  // namespace

HashedAttributes::HashedAttributes(Attributes attributes)
    : values(std::move(attributes)), hash(hash_of(values)) {}

SharedAttributes shared(Attributes attributes) {
    static const auto& none = *new auto(std::make_shared<const HashedAttributes>(Attributes()));
    if (attributes.empty()) return none;
    return std::allocate_shared<const HashedAttributes>(SmallBlockAllocator<HashedAttributes>(),
                                                        std::move(attributes));
}

uint64_t structural_hash(const Attribute& attribute) {
    return hash_combine(attribute.index(), std::visit(Hash{}, attribute));
}

bool structurally_equal(const Attribute& a, const Attribute& b) {
    return std::visit(Equal{}, a, b);
}

}  // namespace composit::ir
