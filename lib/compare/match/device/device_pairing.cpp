#include "compare/match/device/device_pairing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/device/device_match.h"
#include "compare/match/device/device_name.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/pairing.h"
#include "ge/operators/operator_table.h"

namespace msdump {
namespace {

// DeviceOpPairs: the operators of both dumps as pairs. The partner of a host operator is the device operator with its first
// output, else another one that stands for it. A device operator that is no partner stands alone.
class DeviceOpPairs {
 public:
  DeviceOpPairs(const std::vector<DeviceMatch>& matches, uint32_t hosts, Side of_device)
      : matches_(matches), of_device_(of_device), partner_(hosts, kNoId), of_host_(hosts), alone_(matches.size()) {
    choose_partners();
    list_pairs();
    sort_pairs();
    for (OperatorId i{0}; i < pairs_.size(); ++i) {
      const SequencedOpId host = pairs_[i][opposite(of_device)];
      (host != kNoId ? of_host_[host] : alone_[pairs_[i][of_device]]) = i;
    }
  }

  // Ordered by b; an operator of a alone follows its predecessor in a.
  [[nodiscard]] const std::vector<OpPair>& pairs() const { return pairs_; }
  // The device operator of a host operator; kNoId: none.
  [[nodiscard]] SequencedOpId partner(SequencedOpId host) const { return partner_[host]; }
  // The pair of a host operator.
  [[nodiscard]] OperatorId of_host(SequencedOpId host) const { return of_host_[host]; }
  // The pair for tensors of a device operator that have no partner: its last one.
  [[nodiscard]] OperatorId of_device(SequencedOpId device) const {
    const std::vector<SequencedOpId>& hosts = matches_[device].hosts;
    const auto last =
        std::find_if(hosts.rbegin(), hosts.rend(), [&](SequencedOpId host) { return partner_[host] == device; });
    return last == hosts.rend() ? alone_[device] : of_host_[*last];
  }

 private:
  void choose_partners() {
    std::vector<uint32_t> first_output(partner_.size(), UINT32_MAX);  // the lowest that the partner has
    for (SequencedOpId device{0}; device < matches_.size(); ++device) {
      const DeviceMatch& match = matches_[device];
      for (const SequencedOpId host : match.hosts) {
        uint32_t output = UINT32_MAX - 1;
        if (match.outputs_in_order && host == match.hosts.back()) output = 0;
        for (const MatchedOutput& one : match.outputs) {
          if (one.host == host) output = std::min(output, one.host_output);
        }
        if (output > first_output[host] && partner_[host] != kNoId) continue;
        first_output[host] = output;
        partner_[host] = device;
      }
    }
  }

  void add_pair(SequencedOpId device, SequencedOpId host) {
    OpPair& pair = pairs_.emplace_back(OpPair{{sides_from(of_device_, device, host)}});
    if (!pair.is_paired()) return;
    pair.how = matches_[device].sure ? PairedBy::kCompiler : PairedBy::kValues;
    pair.confidence = confidence(pair.how);
  }

  void list_pairs() {
    std::vector<bool> has_pair(matches_.size(), false);
    for (SequencedOpId host{0}; host < partner_.size(); ++host) {
      add_pair(partner_[host], host);
      if (partner_[host] != kNoId) has_pair[partner_[host]] = true;
    }
    for (SequencedOpId device{0}; device < has_pair.size(); ++device) {
      if (!has_pair[device]) add_pair(device, kNoId);
    }
  }

  void sort_pairs() {
    const size_t count_a = of_device_ == Side::kCandidate ? matches_.size() : partner_.size();
    std::vector<uint32_t> after(count_a, 0);  // the index in b, plus 1, that an operator of a comes after
    for (const OpPair& pair : pairs_) {
      if (pair.is_paired()) after[pair.a] = std::max(after[pair.a], pair.b + 1);
    }
    for (size_t i = 1; i < after.size(); ++i) {
      if (after[i] == 0) after[i] = after[i - 1];
    }
    const auto key = [&](const OpPair& pair) {
      return pair.b != kNoId ? std::tuple(pair.b + 1, 0, pair.a) : std::tuple(after[pair.a], 1, pair.a);
    };
    std::sort(pairs_.begin(), pairs_.end(), [&](const OpPair& x, const OpPair& y) { return key(x) < key(y); });
  }

  const std::vector<DeviceMatch>& matches_;
  const Side of_device_;
  std::vector<SequencedOpId> partner_;  // by operator of the host
  std::vector<OpPair> pairs_;
  std::vector<OperatorId> of_host_, alone_;  // by host operator; by device operator that stands alone
};

// An execution of an operator: the step, none if a single one is compared, and the occurrence.
using RunKey = std::pair<std::optional<int64_t>, uint32_t>;

// The tensors of an execution, by slot.
struct RunTensors {
  std::vector<RecordId> inputs, outputs;
  std::map<uint64_t, RecordId> output_at;  // by the number of the slot; an output without one is the first
};

using Runs = std::map<RunKey, RunTensors>;

std::optional<uint64_t> slot_of(const MatchSide& side, RecordId tensor) {
  return parse_u64(side.tensor(tensor).name.slot);
}

Runs runs_of(const MatchSide& side, SequencedOpId op, bool lone_step) {
  Runs runs;
  for (const RecordId index : side.operators[op].tensors) {
    const TensorRecord& record = side.tensor(index);
    RunKey key{std::nullopt, record.occurrence};
    const DumpIndex& dump = *side.dump.index;
    if (!lone_step) key.first = dump.folders()[dump.files()[record.file].folder].identity.step;
    RunTensors& run = runs[key];
    (record.name.io == Io::kInput ? run.inputs : run.outputs).push_back(index);
  }
  for (auto& [key, run] : runs) {
    for (std::vector<RecordId>* const list : {&run.inputs, &run.outputs}) {
      std::stable_sort(list->begin(), list->end(), [&](RecordId x, RecordId y) {
        return natural_less(side.tensor(x).name.slot, side.tensor(y).name.slot);
      });
    }
    for (const RecordId output : run.outputs) run.output_at.emplace(slot_of(side, output).value_or(0), output);
  }
  return runs;
}

// The output in a slot; kNoId if there is none.
RecordId output_of(const Runs& runs, const RunKey& key, uint64_t slot) {
  const auto run = runs.find(key);
  if (run == runs.end()) return kNoId;
  const auto found = run->second.output_at.find(slot);
  return found == run->second.output_at.end() ? kNoId : found->second;
}

// An input of a host operator that the device operator may have, too: no operator of the fusion writes it.
struct HostInput {
  SequencedOpId host;
  RecordId tensor;
};

std::set<uint64_t> slots_fed_inside(const DeviceMatch& match, SequencedOpId host, const SequenceFlow& flow) {
  std::set<uint64_t> slots;
  if (match.hosts.size() == 1) return slots;
  for (const auto& [slot, producer] : flow.producers(host)) {
    if (std::find(match.hosts.begin(), match.hosts.end(), producer) != match.hosts.end()) slots.insert(slot);
  }
  return slots;
}

// True if one of the first outputs of another operator of the fusion has these values. Used without a data flow.
bool is_output_inside(const DeviceMatch& match, SequencedOpId host, RecordId tensor, const std::vector<Runs>& hosts,
                      const RunKey& key, MatchEvidence& evidence) {
  for (size_t i = 0; i < hosts.size(); ++i) {
    const auto run = hosts[i].find(key);
    if (match.hosts[i] == host || run == hosts[i].end()) continue;
    const std::vector<RecordId>& outputs = run->second.outputs;
    for (size_t k = 0; k < std::min(outputs.size(), kMostTried); ++k) {
      if (evidence.is_same(tensor, outputs[k])) return true;
    }
    if (outputs.size() > kMostTried) {
      evidence.limits.insert(
          {"device_outputs", kMostTried,
           "an input was not compared with all outputs of the operators that are one on the device"});
    }
  }
  return false;
}

// The inputs of one execution that come from outside the fusion. `hosts` are the executions of match.hosts.
std::vector<HostInput> outer_inputs(const DeviceMatch& match, const std::vector<Runs>& hosts, const RunKey& key,
                                    MatchEvidence& evidence) {
  std::vector<HostInput> inputs;
  const SequenceFlow& flow = evidence.host_flow;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const auto run = hosts[i].find(key);
    if (run == hosts[i].end()) continue;
    const SequencedOpId host = match.hosts[i];
    const std::set<uint64_t> fed = slots_fed_inside(match, host, flow);
    for (const RecordId tensor : run->second.inputs) {
      const auto slot = slot_of(evidence.host, tensor);
      const bool inside = (slot && fed.contains(*slot)) ||
                          (!flow.known() && is_output_inside(match, host, tensor, hosts, key, evidence));
      if (!inside) inputs.push_back({host, tensor});
    }
  }
  return inputs;
}

bool is_parameter(const SequencedOp& one) { return one.type == "Parameter"; }

class DevicePairer {
 public:
  DevicePairer(MatchEvidence& evidence, const std::vector<DeviceMatch>& matches, Side of_device, bool lone_step)
      : evidence_(evidence),
        device_(evidence.device),
        host_(evidence.host),
        matches_(matches),
        of_device_(of_device),
        lone_step_(lone_step),
        no_parameters_(std::none_of(device_.operators.begin(), device_.operators.end(), is_parameter)),
        op_pairs_(matches, static_cast<uint32_t>(host_.operators.size()), of_device),
        done_(host_.dump.tensors->size(), false) {}

  void run(Pairing& pairing) {
    for (SequencedOpId device{0}; device < matches_.size(); ++device) pair_tensors(device);
    for (SequencedOpId host{0}; host < host_.operators.size(); ++host) add_rest(host);
    sort_tensors();
    pairing.operators = op_pairs_.pairs();
    pairing.tensors = std::move(tensors_);
  }

 private:
  void add(OperatorId op, RecordId device, RecordId host, Alone alone = Alone::kUnknown) {
    tensors_.push_back({{sides_from(of_device_, device, host)}, op, alone});
    if (host != kNoId) done_[host] = true;
  }
  void add_alone(SequencedOpId device, RecordId tensor, Alone alone) {
    add(op_pairs_.of_device(device), tensor, kNoId, alone);
  }

  void pair_tensors(SequencedOpId device) {
    const DeviceMatch& match = matches_[device];
    const Runs runs = runs_of(device_, device, lone_step_);
    if (match.hosts.empty()) {
      const bool inserted = !table_.inserted(device_.operators[device].type).empty();
      for (const auto& [key, run] : runs) {
        for (const std::vector<RecordId>* const list : {&run.inputs, &run.outputs}) {
          for (const RecordId tensor : *list) add_alone(device, tensor, inserted ? Alone::kInserted : Alone::kUnknown);
        }
      }
      return;
    }
    std::vector<Runs> hosts;
    for (const SequencedOpId host : match.hosts) hosts.push_back(runs_of(host_, host, lone_step_));
    for (const auto& [key, run] : runs) {
      pair_outputs(device, run.outputs, key, hosts);
      pair_inputs(device, run.inputs, key, hosts);
    }
  }

  // An output of one of the host operators of a device operator.
  struct WantedOutput {
    size_t place = 0;  // in DeviceMatch::hosts
    uint64_t output = 0;
  };

  void pair_outputs(SequencedOpId device, const std::vector<RecordId>& outputs, const RunKey& key,
                    const std::vector<Runs>& hosts) {
    const DeviceMatch& match = matches_[device];
    for (const RecordId tensor : outputs) {
      const auto wanted = wanted_by(match, tensor);
      const RecordId found = wanted ? output_of(hosts[wanted->place], key, wanted->output) : kNoId;
      if (found != kNoId && !done_[found]) {
        add(op_pairs_.of_host(match.hosts[wanted->place]), tensor, found);
        continue;
      }
      const bool more = match.sure && slot_of(device_, tensor).value_or(1) > 0;
      add_alone(device, tensor, match.is_split ? Alone::kSplit : more ? Alone::kNoOutput : Alone::kUnknown);
    }
  }

  // The table of rewrites decides, else what the file itself says, else the slot.
  [[nodiscard]] std::optional<WantedOutput> wanted_by(const DeviceMatch& match, RecordId tensor) const {
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

  [[nodiscard]] std::optional<WantedOutput> original_of(const DeviceMatch& match, RecordId tensor) const {
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

  void pair_inputs(SequencedOpId device, const std::vector<RecordId>& inputs, const RunKey& key,
                   const std::vector<Runs>& hosts) {
    const DeviceMatch& match = matches_[device];
    std::vector<HostInput> candidates = outer_inputs(match, hosts, key, evidence_);
    std::erase_if(candidates, [&](const HostInput& one) { return done_[one.tensor]; });
    std::vector<RecordId> tensors;
    for (const HostInput& one : candidates) tensors.push_back(one.tensor);
    const bool single = match.hosts.size() == 1 && !match.is_split;
    const std::string_view device_type = single ? device_.operators[device].type : std::string_view();
    const std::string_view host_type = single ? host_.operators[match.hosts[0]].type : std::string_view();
    const InputMatch map = match_inputs(evidence_, inputs, tensors, device_type, host_type, match.is_split);
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

  // Adds the tensors of a host operator that have no partner.
  void add_rest(SequencedOpId host) {
    for (const RecordId tensor : host_.operators[host].tensors) {
      if (!done_[tensor]) add(op_pairs_.of_host(host), kNoId, tensor, why_alone(host, tensor));
    }
  }

  [[nodiscard]] Alone why_alone(SequencedOpId host, RecordId tensor) const {
    const SequencedOp& one = host_.operators[host];
    const TensorRecord& record = host_.tensor(tensor);
    const SequencedOpId partner = op_pairs_.partner(host);
    if (partner == kNoId) {
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

  // Sorts by operator, occurrence, inputs before outputs, and slot. Otherwise the order stays, which is by step.
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
    const RecordId host = pair[opposite(of_device_)];
    return host != kNoId ? host_.tensor(host) : device_.tensor(pair[of_device_]);
  }

  const ge::OperatorTable& table_ = ge::OperatorTable::get();
  MatchEvidence& evidence_;
  const MatchSide &device_, &host_;
  const std::vector<DeviceMatch>& matches_;
  const Side of_device_;
  const bool lone_step_, no_parameters_;
  const DeviceOpPairs op_pairs_;
  std::vector<bool> done_;  // tensors of the host that are in a pair
  std::vector<TensorPair> tensors_;
};

}  // namespace

bool pair_with_device(Pairing& pairing, const CompareSide& a, const CompareSide& b, bool lone_step) {
  const Sides<const CompareSide*> dumps = {&a, &b};
  // The operators as the files name them. Without a graph, `pairing` has these.
  Sides<std::optional<std::vector<SequencedOp>>> files;
  Sides<DeviceSigns> signs = {};
  for (const Side side : kBothSides) {
    if (dumps[side]->join != nullptr) files[side] = operators_by_file(*dumps[side]);
    signs[side] = device_signs(files[side] ? *files[side] : pairing.operators_of(side));
  }
  const auto [least, most] = std::minmax(signs.a, signs.b);
  if (most == DeviceSigns::kNone || least == DeviceSigns::kCertain) return false;
  const Side device = signs.a >= signs.b ? Side::kCandidate : Side::kReference, host = opposite(device);
  // The graph of a device dump may be that of the front end, so its operators are those of the files.
  if (files[device]) pairing.operators_of(device) = *std::move(files[device]);
  MatchEvidence evidence({*dumps[device], pairing.operators_of(device)}, {*dumps[host], pairing.operators_of(host)});
  const std::vector<DeviceMatch> matches = match_device(evidence);
  DevicePairer(evidence, matches, device, lone_step).run(pairing);
  pairing.limits.merge(evidence.limits);
  for (TensorSamples* const samples : {&evidence.device_samples, &evidence.host_samples}) {
    for (Error& error : samples->failures().all()) pairing.unread.push_back(std::move(error));
  }
  return true;
}

}  // namespace msdump
