// Calls that follow rules of their own, for derivatives and batches, in place of those of the
// operations in their bodies. Rules have a name, which is an attribute of the call.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/operation.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace composit::ops {

using BodyRef = std::shared_ptr<const ir::Body>;

struct CallRules {
    ir::TransformRules of;  // those that are null are the body's
    // Throws where a call does not have what the rules need, beside its body. Null: they need
    // nothing.
    std::function<void(const std::vector<ir::Tensor>& arguments, const ir::Attributes& attributes)>
        check = {};
};

// Makes rules known by a name, for good. Texts of graphs may name them.
void register_call_rules(const std::string& name, CallRules rules);

// A call that follows the rules of that name. `more`: the attributes that these read. ValueError or
// TypeError for arguments of other types than the parameters have.
[[nodiscard]] std::vector<ir::Tensor> call_with_rules(const std::string& rules, BodyRef body,
                                                      const std::vector<ir::Tensor>& arguments,
                                                      ir::Attributes more = {});

// Of a call: what it is applied to, and the name of the rules that it follows, empty without. The
// body is null where the node is no call.
[[nodiscard]] const ir::Body* body_of_call(const ir::Node& node);
[[nodiscard]] std::string rules_of_call(const ir::Node& node);

}  // namespace composit::ops
