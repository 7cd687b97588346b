// The source lines of an operator in IR protobuf, the field source_address: lines as in IR text, joined.
//
//        # In file PATH PLACE/CODE/                  its own stack
//        # Corresponding forward node candidate:     then stacks of the forward operator of a gradient,
//        # Corresponding code candidate:             of operators fused or expanded into this one
//        #  - In file ..                             the first line of such a stack (from 1.6)
//        #    In file ..                             its other lines
// Innermost first in every version, also from 2.0 on, where the IR text is outermost first. Other lines are remarks.
// Source: reference/ir.md 1.7 and 3, reference/verified-on-real-mindspore.md 5.
#pragma once

#include <string_view>
#include <vector>

#include "ir/model/ir_builder.h"

namespace msdump {

// Appends the indices of the frames. Returns how many lines begin as a frame but have no PLACE.
size_t add_source_address(IrGraphBuilder& builder, std::string_view text, std::vector<uint32_t>& frames);

}  // namespace msdump
