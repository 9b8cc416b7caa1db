// What a call takes, and gives back over the same memory.
#include "donation.h"

namespace composit::python {

Donation::Donation(const execute::Compiled& compiled, const std::vector<nb::object>& arguments)
    : donated_(compiled.donated()), arguments_(arguments) {
    given_up_dtypes_.reserve(donated_.size());
    for (size_t number : donated_) {
        const nb::object& argument = arguments_[number];
        given_up_dtypes_.push_back(given_up_dtype(argument));
        const std::optional<PlainArray> plain = plain_array(argument);
        if (!plain || !owns_memory(argument)) continue;
        void* const data = const_cast<void*>(plain->data);
        given_.resize(arguments_.size());
        // The ndarray lives longer than all that is done with this.
        given_[number] =
            ir::Array(plain->dtype, ir::Shape(plain->shape, plain->shape + plain->rank),
                      std::shared_ptr<void>(data, [](void*) {}), data);
    }
}

Donation::~Donation() {
    for (size_t i = 0; i < donated_.size(); ++i)
        give_up(arguments_[donated_[i]], std::move(given_up_dtypes_[i]));
}

nb::object Donation::result_from(ir::Array value) const {
    if (!given_.empty())
        for (size_t number : donated_)
            if (given_[number] && given_[number].data() == value.data() && value.bytes() > 0)
                return view_of(arguments_[number]);
    return ndarray_from(std::move(value));
}

}  // namespace composit::python
