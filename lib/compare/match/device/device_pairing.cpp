#include "compare/match/device/device_pairing.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compare/match/device/device_match.h"
#include "compare/match/device/device_name.h"
#include "compare/match/device/device_op_pairs.h"
#include "compare/match/device/device_signs.h"
#include "compare/match/device/input_match.h"
#include "compare/match/device/op_runs.h"
#include "compare/match/device/outer_inputs.h"
#include "ge/operators/operator_table.h"

namespace msdump {
namespace {

bool is_parameter(const SequencedOp& one) { return one.type == "Parameter"; }

// The tensors of operators that are matched.
class DevicePairer {
 public:
  DevicePairer(MatchEvidence& evidence, const std::vector<DeviceMatch>& matches, bool device_is_a, bool lone_step)
      : evidence_(evidence),
        device_(evidence.device),
        host_(evidence.host),
        matches_(matches),
        device_is_a_(device_is_a),
        lone_step_(lone_step),
        no_parameters_(std::none_of(device_.operators.begin(), device_.operators.end(), is_parameter)),
        op_pairs_(matches, static_cast<uint32_t>(host_.operators.size()), device_is_a),
        done_(host_.dump.tensors->size(), false) {}

  void run(Pairing& pairing) {
    for (uint32_t device = 0; device < matches_.size(); ++device) pair_tensors(device);
    for (uint32_t host = 0; host < host_.operators.size(); ++host) add_rest(host);
    sort_tensors();
    pairing.operators = op_pairs_.pairs();
    pairing.tensors = std::move(tensors_);
  }

 private:
  void add(uint32_t op, uint32_t device, uint32_t host, Alone alone = Alone::kUnknown) {
    TensorPair pair;
    pair.op = op;
    (device_is_a_ ? pair.a : pair.b) = device;
    (device_is_a_ ? pair.b : pair.a) = host;
    pair.alone = alone;
    if (host != kNoTensor) done_[host] = true;
    tensors_.push_back(pair);
  }
  void add_alone(uint32_t device, uint32_t tensor, Alone alone) {
    add(op_pairs_.of_device(device), tensor, kNoTensor, alone);
  }

  void pair_tensors(uint32_t device) {
    const DeviceMatch& match = matches_[device];
    const Runs runs = runs_of(device_, device, lone_step_);
    if (match.hosts.empty()) {
      const bool inserted = !table_.inserted(device_.operators[device].type).empty();
      for (const auto& [key, run] : runs) {
        for (const std::vector<uint32_t>* const list : {&run.inputs, &run.outputs}) {
          for (const uint32_t tensor : *list) add_alone(device, tensor, inserted ? Alone::kInserted : Alone::kUnknown);
        }
      }
      return;
    }
    std::vector<Runs> hosts;
    for (const uint32_t host : match.hosts) hosts.push_back(runs_of(host_, host, lone_step_));
    for (const auto& [key, run] : runs) {
      pair_outputs(device, run.outputs, key, hosts);
      pair_inputs(device, run.inputs, key, hosts);
    }
  }

  // An output of one of the operators that a device operator stands for.
  struct WantedOutput {
    size_t place = 0;  // in DeviceMatch::hosts
    uint64_t output = 0;
  };

  void pair_outputs(uint32_t device, const std::vector<uint32_t>& outputs, const RunKey& key,
                    const std::vector<Runs>& hosts) {
    const DeviceMatch& match = matches_[device];
    for (const uint32_t tensor : outputs) {
      const auto wanted = wanted_by(match, tensor);
      const uint32_t found = wanted ? output_of(hosts[wanted->place], key, wanted->output) : kNoTensor;
      if (found != kNoTensor && !done_[found]) {
        add(op_pairs_.of_host(match.hosts[wanted->place]), tensor, found);
        continue;
      }
      const bool more = match.sure && slot_of(device_, tensor).value_or(1) > 0;
      add_alone(device, tensor, match.is_split ? Alone::kSplit : more ? Alone::kNoOutput : Alone::kUnknown);
    }
  }

  // The table of rewrites knows best, then what the file itself says.
  [[nodiscard]] std::optional<WantedOutput> wanted_by(const DeviceMatch& match, uint32_t tensor) const {
    const auto slot = slot_of(device_, tensor);
    std::optional<WantedOutput> wanted;
    if (match.outputs_in_order && slot) wanted = {match.hosts.size() - 1, *slot};
    if (const auto original = original_of(match, tensor)) wanted = original;
    for (const MatchedOutput& one : match.outputs) {
      if (slot != one.device_output) continue;
      const auto at = std::find(match.hosts.begin(), match.hosts.end(), one.host);
      wanted = {static_cast<size_t>(at - match.hosts.begin()), one.host_output};
    }
    return wanted;
  }

  [[nodiscard]] std::optional<WantedOutput> original_of(const DeviceMatch& match, uint32_t tensor) const {
    const TensorRecord& record = device_.tensor(tensor);
    if (record.original == nullptr) return std::nullopt;
    const DeviceName name = parse_device_name(record.original->op);
    if (name.originals.empty()) return std::nullopt;
    const OriginalName& wanted = name.originals.back();
    for (size_t i = match.hosts.size(); i-- > 0;) {
      const SequencedOp& host = host_.operators[match.hosts[i]];
      const DeviceName own = parse_device_name(host.name);
      if (own.originals.empty() || own.originals.back().scope != wanted.scope) continue;
      if (table_.family(wanted.type) == table_.family(host.type)) return WantedOutput{i, record.original->output};
    }
    return std::nullopt;
  }

  void pair_inputs(uint32_t device, const std::vector<uint32_t>& inputs, const RunKey& key,
                   const std::vector<Runs>& hosts) {
    const DeviceMatch& match = matches_[device];
    std::vector<HostInput> candidates = outer_inputs(match, hosts, key, evidence_);
    std::erase_if(candidates, [&](const HostInput& one) { return done_[one.tensor]; });
    std::vector<uint32_t> tensors;
    for (const HostInput& one : candidates) tensors.push_back(one.tensor);
    const bool single = match.hosts.size() == 1 && !match.is_split;
    const std::string_view device_type = single ? device_.operators[device].type : std::string_view();
    const std::string_view host_type = single ? host_.operators[match.hosts[0]].type : std::string_view();
    const InputMatch map = match_inputs({device_.dump, host_.dump, evidence_.values, evidence_.limits}, inputs, tensors,
                                        device_type, host_type, match.is_split);
    std::vector<bool> used(inputs.size(), false);
    for (size_t i = 0; i < map.size(); ++i) {
      if (!map[i]) continue;
      used[*map[i]] = true;
      add(op_pairs_.of_host(candidates[i].host), inputs[*map[i]], candidates[i].tensor);
    }
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (used[j]) continue;
      const bool attribute = may_be_attribute(device_.tensor(inputs[j]));
      add_alone(device, inputs[j], match.is_split ? Alone::kSplit : attribute ? Alone::kAttribute : Alone::kUnknown);
    }
  }

  // What of an operator of the host has no partner.
  void add_rest(uint32_t host) {
    for (const uint32_t tensor : host_.operators[host].tensors) {
      if (!done_[tensor]) add(op_pairs_.of_host(host), kNoTensor, tensor, why_alone(host, tensor));
    }
  }

  [[nodiscard]] Alone why_alone(uint32_t host, uint32_t tensor) const {
    const SequencedOp& one = host_.operators[host];
    const TensorRecord& record = host_.tensor(tensor);
    const uint32_t partner = op_pairs_.partner(host);
    if (partner == kNoOperator) {
      if (is_parameter(one)) return no_parameters_ ? Alone::kNoParameters : Alone::kUnknown;
      return table_.may_have_no_kernel(one.type) ? Alone::kNoKernel : Alone::kUnknown;
    }
    const DeviceMatch& match = matches_[partner];
    if (record.name.io == Io::kInput && may_be_attribute(record)) return Alone::kAttribute;
    const bool inner = match.hosts.size() > 1 || match.is_split;
    if (inner && (record.name.io == Io::kInput || host != match.hosts.back())) return Alone::kFused;
    if (!match.outputs.empty()) return Alone::kFused;
    const bool more = record.name.io == Io::kOutput && match.sure && slot_of(host_, tensor).value_or(0) > 0;
    return more ? Alone::kNoOutput : Alone::kUnknown;
  }

  // Operator by operator, by step, inputs before outputs, by slot.
  void sort_tensors() {
    std::stable_sort(tensors_.begin(), tensors_.end(), [&](const TensorPair& x, const TensorPair& y) {
      if (x.op != y.op) return x.op < y.op;
      const TensorRecord &left = record_of(x), &right = record_of(y);
      if (left.occurrence != right.occurrence) return left.occurrence < right.occurrence;
      if (left.name.io != right.name.io) return left.name.io < right.name.io;
      return natural_less(left.name.slot, right.name.slot);
    });
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const {
    const uint32_t host = device_is_a_ ? pair.b : pair.a, device = device_is_a_ ? pair.a : pair.b;
    return host != kNoTensor ? host_.tensor(host) : device_.tensor(device);
  }

  const ge::OperatorTable& table_ = ge::OperatorTable::get();
  MatchEvidence& evidence_;
  const MatchSide &device_, &host_;
  const std::vector<DeviceMatch>& matches_;
  const bool device_is_a_, lone_step_, no_parameters_;
  const DeviceOpPairs op_pairs_;
  std::vector<bool> done_;  // tensors of the host that are in a pair
  std::vector<TensorPair> tensors_;
};

}  // namespace

bool pair_with_device(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool lone_step) {
  // Without a graph they are known.
  std::optional<std::vector<SequencedOp>> files_a, files_b;
  if (a.join != nullptr) files_a = operators_by_file(a);
  if (b.join != nullptr) files_b = operators_by_file(b);
  const DeviceSigns signs_a = device_signs(files_a ? *files_a : pairing.a),
                    signs_b = device_signs(files_b ? *files_b : pairing.b);
  const bool neither = signs_a == DeviceSigns::kNone && signs_b == DeviceSigns::kNone;
  if (neither || (signs_a == DeviceSigns::kCertain && signs_b == DeviceSigns::kCertain)) return false;
  const bool device_is_a = signs_a >= signs_b;
  // The graph of a device dump may be that of the front end: files know what was fused and inserted.
  if (auto& files = device_is_a ? files_a : files_b) (device_is_a ? pairing.a : pairing.b) = std::move(*files);
  const MatchSide side_a{a, pairing.a}, side_b{b, pairing.b};
  MatchEvidence evidence(device_is_a ? side_a : side_b, device_is_a ? side_b : side_a);
  const std::vector<DeviceMatch> matches = match_device(evidence);
  DevicePairer(evidence, matches, device_is_a, lone_step).run(pairing);
  pairing.limits.merge(evidence.limits);
  for (ValueProbe* const probe : {&evidence.values, &evidence.host_values}) {
    for (Error& error : probe->failures().all()) pairing.unread.push_back(std::move(error));
  }
  return true;
}

}  // namespace msdump
