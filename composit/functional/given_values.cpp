// Values become constants of their tensors' dtypes, which take the tensors' places.
#include "composit/functional/given_values.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/variants.h"

namespace composit::functional {
namespace {

// "LazyTensor(exp: float32[2, 3])"
std::string described_tensor(const ir::Tensor& tensor) {
    const std::string& name = tensor.name();
    return text("LazyTensor(", name.empty() ? tensor.node().operation().name : name, ": ",
                tensor.type(), ")");
}

}  // namespace

std::vector<ir::Tensor> with_given_values(const std::vector<ir::Tensor>& outputs,
                                          const std::vector<ir::Tensor>& tensors,
                                          const std::vector<ir::Tensor>& values) {
    std::vector<ir::Tensor> constants;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ir::Tensor &tensor = tensors[i], &value = values[i];
        user_check(value.shape() == tensor.shape() &&
                       numpy::can_cast(value.dtype(), tensor.dtype(), "same_kind"),
                   "evaluate: ", described_tensor(tensor), " is given ", value.dtype(), "[",
                   join(value.shape()),
                   "]. Its shape, and a dtype that casts to its own, are required.");
        constants.push_back(numpy::astype(value, tensor.dtype()));
    }
    return ir::substitute(outputs, tensors, constants);
}

}  // namespace composit::functional
