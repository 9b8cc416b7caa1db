// What a call takes, and gives back over the same memory.
#include "donation.h"

namespace composit::python {

Donation::Donation(const execute::Compiled& compiled, const std::vector<nb::object>& arguments)
    : donated_(compiled.donated()), arguments_(arguments) {
    std::vector<nb::object> given_up_dtypes;
    given_up_dtypes.reserve(donated_.size());
    dtypes_.reserve(donated_.size());
    for (size_t number : donated_) given_up_dtypes.push_back(given_up_dtype(arguments_[number]));
    // Code of Python's may have run until here, and so may other threads. From here on none does.
    for (size_t number : donated_) {
        const nb::object& argument = arguments_[number];
        dtypes_.push_back(dtype_to_give_up(argument));
        const std::optional<PlainArray> plain = plain_array(argument);
        if (!plain || !owns_memory(argument)) continue;
        void* const data = const_cast<void*>(plain->data);
        given_.resize(arguments_.size());
        // The ndarray lives longer than all that is done with this.
        given_[number] =
            ir::Array(plain->dtype, ir::Shape(plain->shape, plain->shape + plain->rank),
                      std::shared_ptr<void>(data, [](void*) {}), data);
    }
    for (size_t i = 0; i < donated_.size(); ++i)
        give_up(arguments_[donated_[i]], std::move(given_up_dtypes[i]));
}

nb::object Donation::result_from(ir::Array value) const {
    for (size_t i = 0; i < donated_.size() && !given_.empty(); ++i) {
        const ir::Array& given = given_[donated_[i]];
        if (given && given.data() == value.data() && value.bytes() > 0)
            return view_of(arguments_[donated_[i]], dtypes_[i]);
    }
    return ndarray_from(std::move(value));
}

}  // namespace composit::python
