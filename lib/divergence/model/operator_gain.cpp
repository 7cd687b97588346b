#include "divergence/model/operator_gain.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "divergence/model/constants.h"
#include "ge/operators/operator_table.h"
#include "msprobe/module_path.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

struct Row {
  OperatorGain gain;
  std::string_view families;  // separated by spaces
};

using enum GainRule;
using enum NoiseClass;

constexpr Row kTable[] = {
    // Values are moved, none is computed. A part of a tensor may have more or less error than all of it.
    {{kPart, kMoves, 0.25},
     "reshape transpose transposed transdata expanddims squeeze unsqueeze flatten unflatten view viewas contiguous "
     "clone "
     "detach cast to float half bfloat16 tile repeat broadcastto expand expandas slice stridedslice stridedsliced "
     "getitem select narrow split splitv splitd chunk unbind unstack unpack gather gatherv2 gatherd gathernd take "
     "indexselect embedding embeddinglookup pad padv3 tensormove load identity memcpyasync copy permute t movedim "
     "swapaxes roll reverse flip reversev2 resizenearestneighbor resizenearestneighborv2 upsample im2col col2im "
     "depthtospace spacetodepth batchtospace spacetobatch assign scatterupdate slicegrad stridedslicegrad "
     "broadcast"},
    // An output of several inputs: each contributes its share of the norm. Scattered gradients add up in few places.
    {{kJoin, kMoves, 0.25},
     "concat concatv2 concatd cat stack pack hstack vstack unsortedsegmentsum scatternd scatternupdate setitem "
     "where selectv2 masked maskedfill maskedscatter embeddinggrad embeddingdensebackward gathergrad gatherdgrad "
     "gatherdgradv2 scatteradd indexadd indexput"},
    // Sums of inputs of the same shape or broadcast ones.
    {{kAdd, kElementwise, 0.2},
     "add addv2 iadd radd sub isub rsub addn biasadd accumulatenv2 rotarymul assignadd assignsub addext subext"},
    // In an optimizer: the term is a small part of the value that it changes, and its factors may be off alike.
    {{kAccumulate, kElementwise, 1.2}, "addcmul addcdiv lerp"},
    // Relative errors of factors add up.
    {{kUnit, kElementwise, 0.25},
     "mul muls imul rmul div realdiv truedivide divide xdivy truediv itruediv reciprocal inv neg abs square pow sqrt "
     "rsqrt divnonan clamp clip clipbyvalue minimum maximum hypot fusedmuladd sqrtgrad rsqrtgrad reciprocalgrad "
     "invgrad "
     "absgrad dropoutdomask dropoutdomaskv3 cumsum l2loss"},
    // A sum of K products whose errors are independent.
    {{kContraction, kProducts, 0.25, kOtherAlgorithm},
     "matmul batchmatmul mm bmm linear dense baddbmm addmm conv1d conv2d conv3d convolution depthwiseconv2d "
     "depthwiseconv2dnative conv2dtranspose conv2dbackpropinput conv2dbackpropfilter convtranspose2d "
     "conv3dbackpropinput conv3dbackpropfilter depthwiseconv2dnativebackpropinput "
     "depthwiseconv2dnativebackpropfilter einsum tensordot matmulext batchmatmulext mv outer fullyconnection "
     "groupedmatmul matmuladd"},
    {{kSum, kReduction, 0.4}, "reducesum sum sumext biasaddgrad reducesumd nansum cumulativesum"},
    {{kMean, kReduction, 0.4}, "reducemean mean meanext avgpool adaptiveavgpool2d"},
    {{kUnit, kReduction, 0.4},
     "reducemax reducemin max min amax amin maxpool maxpool2d maxpoolwithargmax reduceprod norm lpnorm std var "
     "reducestd "
     "avgpoolgrad adaptiveavgpool2dgrad resizebilinear resizebilinearv2 resizebilineargrad interpolate logsumexp"},
    {{kExponential, kTranscendental, 0.4}, "exp softmax softmaxv2 expm1 attentionscore exp2"},
    {{kPowerOf, kTranscendental, 0.4}, "rpow"},
    {{kLogarithm, kTranscendental, 1.2}, "log log1p log2"},
    // Losses: the mean of absolute errors of logits.
    {{kLossOfLogits, kTranscendental, 0.9},
     "logsoftmax logsoftmaxv2 softmaxcrossentropywithlogits sparsesoftmaxcrossentropywithlogits crossentropy nllloss "
     "crossentropyloss bcewithlogitsloss sigmoidcrossentropywithlogits binarycrossentropy binarycrossentropywithlogits "
     "mseloss smoothl1loss kldiv kldivloss"},
    // The slope is at most about 1. If it is less, the error shrinks with the values.
    {{kSlope, kTranscendental, 0.35},
     "relu relu6 leakyrelu prelu elu selu silu swish hswish hardswish hsigmoid sigmoid tanh softplus "
     "softsign mish hshrink softshrink erf sin cos atan asin acos sinh cosh erfc swiglu"},
    {{kSlope, kTranscendental, 0.35, kOtherAlgorithm}, "gelu fastgelu geluext quickgelu"},
    {{kUnit, kTranscendental, 0.4, kOtherAlgorithm}, "gelugrad fastgelugrad"},
    {{kUnit, kTranscendental, 0.4},
     "silugrad swishgrad hswishgrad sigmoidgrad tanhgrad softplusgrad elugrad mishgrad "
     "softmaxgrad softmaxbackward logsoftmaxgrad softmaxcrossentropywithlogitsgrad hsigmoidgrad swiglugrad"},
    {{kNormalise, kNormalisation, 0.35},
     "layernorm layernormext layernormv3 batchnorm batchnorm1d batchnorm2d batchnorm3d bninfer bninference "
     "bntrainingreduce bntrainingupdate groupnorm instancenorm rmsnorm l2normalize normalize"},
    // Projections of the gradient: large terms cancel.
    {{kProject, kNormalisation, 0.6},
     "layernormgrad layernormxbackprop layernormbetagammabackprop layernormgradext batchnormgrad bntrainingreducegrad "
     "bntrainingupdategrad bninfergrad groupnormgrad instancenormgrad rmsnormgrad l2normalizegrad"},
    // A value near the threshold passes on one side and not on the other: a few elements differ wholly.
    {{kFlip, kElementwise, 0.6},
     "relugrad relugradv2 relu6grad leakyrelugrad maxpoolgrad maxpoolgradwithargmax reducemaxgrad minimumgrad "
     "maximumgrad prelugrad thresholdbackward hardtanhgrad smoothl1lossgrad"},
    {{kChoose, kUnknown, 1},
     "argmax argmin argmaxwithvalue argminwithvalue topk sort argsort greater greaterequal less lessequal equal "
     "notequal sign round floor ceil floordiv floormod trunc unique nonzero onehot nmswithmask isfinite isnan isinf "
     "logicaland logicalor logicalnot searchsorted bucketize sequencemask allclose npugetfloatstatus "
     "npuallocfloatstatus npuclearfloatstatus gt ge lt le eq ne"},
    {{kRandom, kUnknown, 1},
     "dropout dropoutgenmask dropoutgenmaskv3 dropoutdomaskgen dropoutext dropoutgenmaskext dropout2d dropout3d "
     "standardnormal standardlaplace uniformreal uniformint randomchoicewithmask randomuniform randomnormal "
     "multinomial "
     "bernoulli randperm randpermv2 gamma poisson rand randn randint normal uniform exponential truncatednormal "
     "randlike randnlike"},
    // A step is a small part of the value that it changes, and divides by the size of the gradient.
    {{kUnit, kUpdate, 1.2},
     "adam applyadam applyadamd adamweightdecay adamw applyadamw applymomentum applymomentumd momentum sgd "
     "applygradientdescent sgdv2 rmsprop applyrmsprop applyrmspropd applycenteredrmsprop applyadagrad "
     "applyadagraddsparse lamb lambapplyoptimizerassign ftrl applyftrl fusedadam fusedadamweightdecay "
     "fusedsparseadam lazyadam larsupdate lambnextmv applyadagradda applyadadelta applyproximaladagrad"},
};

const std::unordered_map<std::string_view, OperatorGain>& table() {
  static const std::unordered_map<std::string_view, OperatorGain> rows = [] {
    std::unordered_map<std::string_view, OperatorGain> result;
    for (const Row& row : kTable) {
      for (const std::string_view family : split(row.families, ' ')) result.emplace(family, row.gain);
    }
    return result;
  }();
  return rows;
}

}  // namespace

OperatorGain gain_of(std::string_view family) {
  const auto found = table().find(family);
  return found == table().end() ? OperatorGain() : found->second;
}

std::string gain_family(std::string_view op_type) {
  std::string family = to_lower(ge::OperatorTable::get().family(op_type));
  std::erase(family, '_');
  if (table().contains(family)) return family;
  // The operator table may spell the family differently.
  std::string plain = to_lower(op_type);
  std::erase(plain, '_');
  return table().contains(plain) ? plain : family;
}

RunOperators::RunOperators(const RunView& view) {
  std::unordered_map<std::string_view, uint32_t> types;
  std::map<std::pair<std::string_view, bool>, uint32_t> units;
  std::vector<uint32_t> unit_of_name;
  bool calls = false, modules = false;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    const std::string_view type = view.op(run).type;
    type_of_.push_back(types.try_emplace(type, static_cast<uint32_t>(types.size())).first->second);
    if (types.size() > families_.size()) {
      families_.push_back(gain_family(type));
      gains_.push_back(gain_of(families_.back()));
    }
    const uint32_t number = view.name_number(run);
    if (number < unit_of_name.size()) {
      unit_of_.push_back(unit_of_name[number]);
      continue;
    }
    const auto key = std::pair(module_path(view.name(run)).value_or(view.name(run)), view.is_gradient(run));
    const auto [unit, is_new] = units.try_emplace(key, static_cast<uint32_t>(units.size()));
    unit_of_name.push_back(unit->second);
    unit_of_.push_back(unit->second);
    if (!is_new) continue;
    const auto entry = parse_msprobe_entry(view.name(run));
    is_module_.push_back(entry && entry->kind == MsprobeEntryKind::kModule);
    modules = modules || is_module_.back();
    calls = calls || (entry && entry->kind == MsprobeEntryKind::kCall);
  }
  modules_repeat_ = calls && modules;
}

}  // namespace msdump
