#include "compare/match/device/device_pairing.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "compare/match/device/device_match.h"
#include "compare/match/device/device_name.h"
#include "compare/match/device/device_signs.h"
#include "compare/match/device/input_match.h"

namespace msdump {
namespace {

// Types that change the shape of a tensor and nothing else: kernels on a CPU, often none on a device.
bool changes_shape_only(std::string_view type) {
  static constexpr std::array<std::string_view, 10> kTypes = {
      "Reshape", "Flatten",     "FlattenGrad",    "ExpandDims",  "Squeeze",
      "View",    "ReshapeView", "ExpandDimsView", "SqueezeView", "UnsqueezeView"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// The tensors of an operator in one run, by slot.
struct RunTensors {
  std::vector<uint32_t> inputs, outputs;
  std::map<uint64_t, uint32_t> output_at;  // by the number of the slot; an output without one is the first
};
struct RunKey {
  std::optional<int64_t> step;
  uint32_t occurrence = 0;
  auto operator<=>(const RunKey&) const = default;
};
using Runs = std::map<RunKey, RunTensors>;

class DevicePairer {
 public:
  DevicePairer(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool device_is_a, bool lone_step)
      : pairing_(pairing),
        device_is_a_(device_is_a),
        lone_step_(lone_step),
        evidence_({device_is_a ? a : b, device_is_a ? pairing.a : pairing.b},
                  {device_is_a ? b : a, device_is_a ? pairing.b : pairing.a}),
        device_(evidence_.device),
        host_(evidence_.host),
        flow_(evidence_.host_flow) {}

  void run() {
    matches_ = match_device(evidence_);
    choose_partners();
    order_operators();
    no_parameters_ = std::none_of(device_.operators.begin(), device_.operators.end(), is_parameter);
    for (uint32_t i = 0; i < pairing_.operators.size(); ++i) pair_of_[key_of(pairing_.operators[i])] = i;
    for (uint32_t device = 0; device < device_.operators.size(); ++device) pair_tensors(device);
    for (uint32_t host = 0; host < host_.operators.size(); ++host) add_alone(host);
    sort_tensors();
  }

 private:
  static bool is_parameter(const SequencedOp& one) { return one.type == "Parameter"; }

  // ---- Operators

  // The device operator that an operator of the host is listed with: the one that has its first output.
  void choose_partners() {
    partner_.assign(host_.operators.size(), kNoOperator);
    std::vector<uint32_t> rank(host_.operators.size(), UINT32_MAX);
    for (uint32_t device = 0; device < matches_.size(); ++device) {
      const DeviceMatch& match = matches_[device];
      for (const uint32_t host : match.hosts) {
        uint32_t output = UINT32_MAX - 1;
        if (match.outputs_in_order && host == match.hosts.back()) output = 0;
        for (const MatchedOutput& one : match.outputs) {
          if (one.host == host) output = std::min(output, one.host_output);
        }
        if (output > rank[host] && partner_[host] != kNoOperator) continue;
        rank[host] = output;
        partner_[host] = device;
      }
    }
  }

  [[nodiscard]] OpPair pair_of(uint32_t device, uint32_t host) const {
    OpPair pair;
    (device_is_a_ ? pair.a : pair.b) = device;
    (device_is_a_ ? pair.b : pair.a) = host;
    if (device != kNoOperator && host != kNoOperator) {
      pair.how = matches_[device].sure ? PairedBy::kCompiler : PairedBy::kValues;
      pair.confidence = confidence(pair.how);
    }
    return pair;
  }

  // In the order of b; an operator of a alone follows its predecessor in a.
  void order_operators() {
    std::vector<OpPair> pairs;
    std::vector<bool> has_pair(device_.operators.size(), false);
    for (uint32_t host = 0; host < partner_.size(); ++host) {
      pairs.push_back(pair_of(partner_[host], host));
      if (partner_[host] != kNoOperator) has_pair[partner_[host]] = true;
    }
    for (uint32_t device = 0; device < has_pair.size(); ++device) {
      if (!has_pair[device]) pairs.push_back(pair_of(device, kNoOperator));
    }
    std::vector<uint32_t> after(pairing_.a.size(), 0);  // the place in b, plus 1, that an operator of a comes after
    for (const OpPair& pair : pairs) {
      if (pair.a != kNoOperator && pair.b != kNoOperator) after[pair.a] = std::max(after[pair.a], pair.b + 1);
    }
    for (size_t i = 1; i < after.size(); ++i) {
      if (after[i] == 0) after[i] = after[i - 1];
    }
    const auto key = [&](const OpPair& pair) {
      return pair.b != kNoOperator ? std::tuple(pair.b + 1, 0, pair.a) : std::tuple(after[pair.a], 1, pair.a);
    };
    std::sort(pairs.begin(), pairs.end(), [&](const OpPair& x, const OpPair& y) { return key(x) < key(y); });
    pairing_.operators = std::move(pairs);
  }

  static std::pair<uint32_t, uint32_t> key_of(const OpPair& pair) { return {pair.a, pair.b}; }
  [[nodiscard]] uint32_t index_of(uint32_t device, uint32_t host) const {
    return pair_of_.at(key_of(pair_of(device, host)));
  }

  // ---- Tensors

  [[nodiscard]] Runs runs_of(const MatchSide& side, uint32_t op) const {
    Runs runs;
    const auto& tensors = *side.dump.tensors;
    for (const uint32_t index : side.operators[op].tensors) {
      const TensorRecord& record = tensors[index];
      RunKey key{std::nullopt, record.occurrence};
      if (!lone_step_)
        key.step = side.dump.index->folders()[side.dump.index->files()[record.file].folder].identity.step;
      RunTensors& run = runs[key];
      (record.name.io == Io::kInput ? run.inputs : run.outputs).push_back(index);
    }
    for (auto& [key, run] : runs) {
      for (std::vector<uint32_t>* const list : {&run.inputs, &run.outputs}) {
        std::stable_sort(list->begin(), list->end(), [&](uint32_t x, uint32_t y) {
          return natural_less(tensors[x].name.slot, tensors[y].name.slot);
        });
      }
      for (const uint32_t output : run.outputs) run.output_at.try_emplace(slot_of(side, output).value_or(0), output);
    }
    return runs;
  }

  void add(uint32_t op, uint32_t device, uint32_t host, Alone alone = Alone::kUnknown) {
    TensorPair pair;
    pair.op = op;
    (device_is_a_ ? pair.a : pair.b) = device;
    (device_is_a_ ? pair.b : pair.a) = host;
    pair.alone = alone;
    if (host != kNoTensor) done_.insert(host);
    pairing_.tensors.push_back(pair);
  }

  void pair_tensors(uint32_t device) {
    const DeviceMatch& match = matches_[device];
    const Runs runs = runs_of(device_, device);
    if (match.hosts.empty()) {
      const bool inserted = !ge::OperatorTable::get().inserted(device_.operators[device].type).empty();
      for (const auto& [key, run] : runs) {
        for (const auto& list : {run.inputs, run.outputs}) {
          for (const uint32_t tensor : list)
            add(index_of(device, kNoOperator), tensor, kNoTensor, inserted ? Alone::kInserted : Alone::kUnknown);
        }
      }
      return;
    }
    std::vector<Runs> hosts;
    for (const uint32_t host : match.hosts) hosts.push_back(runs_of(host_, host));
    for (const auto& [key, run] : runs) {
      pair_outputs(device, run.outputs, key, hosts);
      pair_inputs(device, run.inputs, key, hosts);
    }
  }

  // The number in a slot; outputs of the host come with theirs, because some may not be dumped.
  [[nodiscard]] static std::optional<uint64_t> slot_of(const MatchSide& side, uint32_t tensor) {
    return parse_u64((*side.dump.tensors)[tensor].name.slot);
  }

  // The operator pair under which a tensor of a device operator without a partner is listed.
  [[nodiscard]] uint32_t own_pair(uint32_t device) const {
    const DeviceMatch& match = matches_[device];
    for (size_t i = match.hosts.size(); i-- > 0;) {
      if (partner_[match.hosts[i]] == device) return index_of(device, match.hosts[i]);
    }
    return index_of(device, kNoOperator);
  }

  void pair_outputs(uint32_t device, const std::vector<uint32_t>& outputs, const RunKey& key,
                    const std::vector<Runs>& hosts) {
    const DeviceMatch& match = matches_[device];
    for (const uint32_t tensor : outputs) {
      const auto slot = slot_of(device_, tensor);
      std::optional<std::pair<size_t, uint64_t>> wanted;  // place in `hosts`, output
      if (match.outputs_in_order && slot) wanted = {hosts.size() - 1, *slot};
      if (const auto original = original_of(match, tensor)) wanted = original;
      for (const MatchedOutput& one : match.outputs) {
        if (slot != one.device_output) continue;
        const auto at = std::find(match.hosts.begin(), match.hosts.end(), one.host);
        wanted = {static_cast<size_t>(at - match.hosts.begin()), one.host_output};
      }
      const uint32_t found = wanted ? output_of(hosts[wanted->first], key, wanted->second) : kNoTensor;
      if (found != kNoTensor && done_.count(found) == 0) {
        const uint32_t host = match.hosts[wanted->first];
        add(index_of(partner_[host], host), tensor, found);
      } else {
        const bool more = match.sure && (!slot || *slot > 0);
        add(own_pair(device), tensor, kNoTensor,
            match.is_split ? Alone::kSplit
            : more         ? Alone::kNoOutput
                           : Alone::kUnknown);
      }
    }
  }

  // What the file itself says.
  [[nodiscard]] std::optional<std::pair<size_t, uint64_t>> original_of(const DeviceMatch& match,
                                                                       uint32_t tensor) const {
    const TensorRecord& record = (*device_.dump.tensors)[tensor];
    if (record.original == nullptr) return std::nullopt;
    const DeviceName name = parse_device_name(record.original->op);
    if (name.originals.empty()) return std::nullopt;
    const ge::OperatorTable& table = ge::OperatorTable::get();
    for (size_t i = match.hosts.size(); i-- > 0;) {
      const SequencedOp& host = host_.operators[match.hosts[i]];
      const DeviceName own = parse_device_name(host.name);
      if (own.originals.empty() || own.originals.back().scope != name.originals.back().scope) continue;
      if (table.family(name.originals.back().type) == table.family(host.type))
        return std::pair(i, record.original->output);
    }
    return std::nullopt;
  }

  [[nodiscard]] static uint32_t output_of(const Runs& runs, const RunKey& key, uint64_t slot) {
    const auto run = runs.find(key);
    if (run == runs.end()) return kNoTensor;
    const auto found = run->second.output_at.find(slot);
    return found == run->second.output_at.end() ? kNoTensor : found->second;
  }

  // An input of the host and whose it is.
  struct HostInput {
    uint32_t host, tensor;
  };

  void pair_inputs(uint32_t device, const std::vector<uint32_t>& inputs, const RunKey& key,
                   const std::vector<Runs>& hosts) {
    const DeviceMatch& match = matches_[device];
    std::vector<HostInput> candidates;
    for (size_t i = 0; i < hosts.size(); ++i) {
      const auto run = hosts[i].find(key);
      if (run == hosts[i].end()) continue;
      const std::set<uint64_t> fed = slots_fed_inside(match, match.hosts[i]);
      for (const uint32_t tensor : run->second.inputs) {
        const auto slot = slot_of(host_, tensor);
        const bool made_inside = (slot && fed.contains(*slot)) || is_output_inside(match, i, tensor, key, hosts);
        if (done_.count(tensor) == 0 && !made_inside) candidates.push_back({match.hosts[i], tensor});
      }
    }
    std::vector<uint32_t> tensors;
    for (const HostInput& one : candidates) tensors.push_back(one.tensor);
    const bool single = match.hosts.size() == 1 && !match.is_split;
    const std::string_view device_type = single ? device_.operators[device].type : std::string_view();
    const std::string_view host_type = single ? host_.operators[match.hosts[0]].type : std::string_view();
    const InputMatch map = match_inputs({device_.dump, host_.dump, evidence_.values}, inputs, tensors, device_type,
                                        host_type, match.is_split);
    std::vector<bool> used(inputs.size(), false);
    for (size_t i = 0; i < map.size(); ++i) {
      if (!map[i]) continue;
      used[*map[i]] = true;
      const uint32_t host = candidates[i].host;
      add(index_of(partner_[host], host), inputs[*map[i]], candidates[i].tensor);
    }
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (used[j]) continue;
      const bool attribute = may_be_attribute((*device_.dump.tensors)[inputs[j]]);
      add(own_pair(device), inputs[j], kNoTensor,
          match.is_split ? Alone::kSplit
          : attribute    ? Alone::kAttribute
                         : Alone::kUnknown);
    }
  }

  // Inputs that another of the fused operators makes.
  [[nodiscard]] std::set<uint64_t> slots_fed_inside(const DeviceMatch& match, uint32_t host) const {
    std::set<uint64_t> slots;
    if (match.hosts.size() == 1) return slots;
    for (const auto& [slot, producer] : flow_.producers(host)) {
      if (std::find(match.hosts.begin(), match.hosts.end(), producer) != match.hosts.end()) slots.insert(slot);
    }
    return slots;
  }

  // The same without a data flow: does one of the first outputs of another of them have the same values?
  [[nodiscard]] bool is_output_inside(const DeviceMatch& match, size_t place, uint32_t tensor, const RunKey& key,
                                      const std::vector<Runs>& hosts) {
    constexpr size_t kMostOutputs = 64;
    if (flow_.known()) return false;
    for (size_t i = 0; i < hosts.size(); ++i) {
      const auto run = hosts[i].find(key);
      if (match.hosts[i] == match.hosts[place] || run == hosts[i].end()) continue;
      const std::vector<uint32_t>& outputs = run->second.outputs;
      for (size_t k = 0; k < std::min(outputs.size(), kMostOutputs); ++k) {
        if (evidence_.host_values.is_same(tensor, outputs[k])) return true;
      }
    }
    return false;
  }

  // What of an operator of the host has no partner.
  void add_alone(uint32_t host) {
    const uint32_t op = index_of(partner_[host], host);
    for (const uint32_t tensor : host_.operators[host].tensors) {
      if (done_.count(tensor) == 0) add(op, kNoTensor, tensor, why_alone(host, tensor));
    }
  }

  [[nodiscard]] Alone why_alone(uint32_t host, uint32_t tensor) const {
    const SequencedOp& one = host_.operators[host];
    const TensorRecord& record = (*host_.dump.tensors)[tensor];
    if (partner_[host] == kNoOperator) {
      if (is_parameter(one)) return no_parameters_ ? Alone::kNoParameters : Alone::kUnknown;
      const bool none = changes_shape_only(one.type) || !ge::OperatorTable::get().inserted(one.type).empty();
      return none ? Alone::kNoKernel : Alone::kUnknown;
    }
    const DeviceMatch& match = matches_[partner_[host]];
    if (record.name.io == Io::kInput && may_be_attribute(record)) return Alone::kAttribute;
    const bool inner = match.hosts.size() > 1 || match.is_split;
    if (inner && (record.name.io == Io::kInput || host != match.hosts.back())) return Alone::kFused;
    if (!match.outputs.empty()) return Alone::kFused;
    const bool more = record.name.io == Io::kOutput && match.sure && slot_of(host_, tensor).value_or(0) > 0;
    return more ? Alone::kNoOutput : Alone::kUnknown;
  }

  // Operator by operator, by step, inputs before outputs, by slot.
  void sort_tensors() {
    std::stable_sort(pairing_.tensors.begin(), pairing_.tensors.end(), [&](const TensorPair& x, const TensorPair& y) {
      if (x.op != y.op) return x.op < y.op;
      const TensorRecord &left = record_of(x), &right = record_of(y);
      if (left.occurrence != right.occurrence) return left.occurrence < right.occurrence;
      if (left.name.io != right.name.io) return left.name.io < right.name.io;
      return natural_less(left.name.slot, right.name.slot);
    });
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const {
    const uint32_t host = device_is_a_ ? pair.b : pair.a, device = device_is_a_ ? pair.a : pair.b;
    return host != kNoTensor ? (*host_.dump.tensors)[host] : (*device_.dump.tensors)[device];
  }

  Pairing& pairing_;
  const bool device_is_a_, lone_step_;
  MatchEvidence evidence_;
  const MatchSide &device_, &host_;
  const SequenceFlow& flow_;
  std::vector<DeviceMatch> matches_;
  std::vector<uint32_t> partner_;  // by operator of the host
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> pair_of_;
  std::set<uint32_t> done_;  // tensors of the host that are in a pair
  bool no_parameters_ = false;
};

}  // namespace

bool pair_with_device(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool lone_step) {
  std::vector<SequencedOp> files_a = operators_by_file(a), files_b = operators_by_file(b);
  const DeviceSigns signs_a = device_signs(files_a), signs_b = device_signs(files_b);
  const bool neither = signs_a == DeviceSigns::kNone && signs_b == DeviceSigns::kNone;
  if (neither || (signs_a == DeviceSigns::kCertain && signs_b == DeviceSigns::kCertain)) return false;
  const bool device_is_a = signs_a >= signs_b;
  // The graph of a device dump may be that of the front end: files know what was fused and inserted.
  (device_is_a ? pairing.a : pairing.b) = std::move(device_is_a ? files_a : files_b);
  DevicePairer(pairing, a, b, device_is_a, lone_step).run();
  return true;
}

}  // namespace msdump
