#include "graph/flow/in_place.h"

#include <algorithm>
#include <array>

namespace msdump {
namespace {

struct Updater {
  std::string_view type;
  std::array<uint32_t, 3> slots;
};

constexpr uint32_t kNone = UINT32_MAX;

constexpr std::array kUpdaters = {
    Updater{"Adam", {0, 1, 2}},
    Updater{"AdamWeightDecay", {0, 1, 2}},
    Updater{"AdamW", {0, 1, 2}},
    Updater{"FusedAdam", {0, 1, 2}},
    Updater{"FusedAdamWeightDecay", {0, 1, 2}},
    Updater{"Momentum", {0, 1, kNone}},
    Updater{"ApplyMomentum", {0, 1, kNone}},
    Updater{"FusedScaleApplyMomentum", {1, 2, kNone}},
    Updater{"SGD", {0, 3, 5}},
    Updater{"ApplyGradientDescent", {0, kNone, kNone}},
    Updater{"ApplyAdagrad", {0, 1, kNone}},
    Updater{"ApplyRMSProp", {0, 1, 2}},
    Updater{"ApplyFtrl", {0, 1, 2}},
    Updater{"Assign", {0, kNone, kNone}},
    Updater{"AssignAdd", {0, kNone, kNone}},
    Updater{"AssignSub", {0, kNone, kNone}},
    Updater{"BatchNorm", {3, 4, kNone}},
    Updater{"ScatterUpdate", {0, kNone, kNone}},
    Updater{"ScatterAdd", {0, kNone, kNone}},
    Updater{"ScatterNdUpdate", {0, kNone, kNone}},
};

const Updater* updater_of(std::string_view op_type) {
  return std::find_if(kUpdaters.begin(), kUpdaters.end(),
                      [&](const Updater& updater) { return updater.type == op_type; });
}

}  // namespace

bool updates_input(const OpGraph& graph, OpId op, uint32_t slot) {
  const IrGraph& ir = graph.ir(op);
  const auto types = ir.inputs(graph.node(op).host);
  // The IR marks all parameters of an operator that writes some, and even of its gradient, which writes none.
  if (is_known_to_update(graph.op_type(op))) return is_known_to_update(graph.op_type(op), slot);
  return slot < types.size() && ir.types[types[slot]].is_inplace && !graph.op_type(op).ends_with("Grad");
}

bool is_known_to_update(std::string_view op_type, uint32_t slot) {
  const auto found = updater_of(op_type);
  return found != kUpdaters.end() && slot != kNone &&
         std::find(found->slots.begin(), found->slots.end(), slot) != found->slots.end();
}

bool is_known_to_update(std::string_view op_type) { return updater_of(op_type) != kUpdaters.end(); }

bool ignores_input(std::string_view op_type, uint32_t slot) { return op_type == "BatchNormGrad" && slot == 5; }

}  // namespace msdump
