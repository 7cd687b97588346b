#include "compare/match/device/device_pairing.h"

#include <algorithm>
#include <compare>
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
#include "compare/match/device/input_match.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/pairing.h"
#include "ge/operators/operator_table.h"

namespace msdump {
namespace {

// DeviceOpPairs: the operators of both dumps as pairs. The partner of a host operator is the device operator with its first
// output, else another one that stands for it. A device operator that is no partner stands alone.
class DeviceOpPairs {
 public:
  DeviceOpPairs(const std::vector<DeviceMatch>& matches, uint32_t hosts, bool device_is_a);

  // Ordered by b; an operator of a alone follows its predecessor in a.
  [[nodiscard]] const std::vector<OpPair>& pairs() const { return pairs_; }
  // The device operator of a host operator; kNoId: none.
  [[nodiscard]] SequencedOpId partner(SequencedOpId host) const { return partner_[host]; }
  // The pair of a host operator, and the pair for tensors of a device operator that have no partner: its last one.
  [[nodiscard]] OperatorId of_host(SequencedOpId host) const { return of_host_[host]; }
  [[nodiscard]] OperatorId of_device(SequencedOpId device) const;

 private:
  void choose_partners();
  void list_pairs();
  void sort_pairs();
  [[nodiscard]] OpPair pair_of(SequencedOpId device, SequencedOpId host) const;

  const std::vector<DeviceMatch>& matches_;
  const bool device_is_a_;
  std::vector<SequencedOpId> partner_;  // by operator of the host
  std::vector<OpPair> pairs_;
  std::vector<OperatorId> of_host_, alone_;  // by host operator; by device operator that stands alone
};

DeviceOpPairs::DeviceOpPairs(const std::vector<DeviceMatch>& matches, uint32_t hosts, bool device_is_a)
    : matches_(matches), device_is_a_(device_is_a), partner_(hosts, kNoId) {
  choose_partners();
  list_pairs();
  sort_pairs();
  of_host_.resize(partner_.size());
  alone_.resize(matches.size());
  for (OperatorId i{0}; i < pairs_.size(); ++i) {
    const auto [device, host] = device_is_a ? std::pair(pairs_[i].a, pairs_[i].b) : std::pair(pairs_[i].b, pairs_[i].a);
    (host != kNoId ? of_host_[host] : alone_[device]) = i;
  }
}

void DeviceOpPairs::choose_partners() {
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

OpPair DeviceOpPairs::pair_of(SequencedOpId device, SequencedOpId host) const {
  OpPair pair;
  (device_is_a_ ? pair.a : pair.b) = device;
  (device_is_a_ ? pair.b : pair.a) = host;
  if (device != kNoId && host != kNoId) {
    pair.how = matches_[device].sure ? PairedBy::kCompiler : PairedBy::kValues;
    pair.confidence = confidence(pair.how);
  }
  return pair;
}

void DeviceOpPairs::list_pairs() {
  std::vector<bool> has_pair(matches_.size(), false);
  for (SequencedOpId host{0}; host < partner_.size(); ++host) {
    pairs_.push_back(pair_of(partner_[host], host));
    if (partner_[host] != kNoId) has_pair[partner_[host]] = true;
  }
  for (SequencedOpId device{0}; device < has_pair.size(); ++device) {
    if (!has_pair[device]) pairs_.push_back(pair_of(device, kNoId));
  }
}

void DeviceOpPairs::sort_pairs() {
  const size_t count_a = device_is_a_ ? matches_.size() : partner_.size();
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

OperatorId DeviceOpPairs::of_device(SequencedOpId device) const {
  const DeviceMatch& match = matches_[device];
  for (size_t i = match.hosts.size(); i-- > 0;) {
    if (partner_[match.hosts[i]] == device) return of_host(match.hosts[i]);
  }
  return alone_[device];
}

// The tensors of an operator, by execution and slot.
struct RunKey {
  std::optional<int64_t> step;  // none if a single step is compared
  uint32_t occurrence = 0;
  auto operator<=>(const RunKey&) const = default;
};

struct RunTensors {
  std::vector<RecordId> inputs, outputs;
  std::vector<std::pair<uint64_t, RecordId>>
      output_at;  // by the number of the slot; an output without one is the first
};

using Runs = std::map<RunKey, RunTensors>;

bool by_slot(const std::pair<uint64_t, RecordId>& x, const std::pair<uint64_t, RecordId>& y) {
  return x.first < y.first;
}

std::optional<uint64_t> slot_of(const MatchSide& side, RecordId tensor) {
  return parse_u64(side.tensor(tensor).name.slot);
}

Runs runs_of(const MatchSide& side, SequencedOpId op, bool lone_step) {
  Runs runs;
  for (const RecordId index : side.operators[op].tensors) {
    const TensorRecord& record = side.tensor(index);
    RunKey key{std::nullopt, record.occurrence};
    const DumpIndex& dump = *side.dump.index;
    if (!lone_step) key.step = dump.folders()[dump.files()[record.file].folder].identity.step;
    RunTensors& run = runs[key];
    (record.name.io == Io::kInput ? run.inputs : run.outputs).push_back(index);
  }
  for (auto& [key, run] : runs) {
    for (std::vector<RecordId>* const list : {&run.inputs, &run.outputs}) {
      std::stable_sort(list->begin(), list->end(), [&](RecordId x, RecordId y) {
        return natural_less(side.tensor(x).name.slot, side.tensor(y).name.slot);
      });
    }
    for (const RecordId output : run.outputs) run.output_at.emplace_back(slot_of(side, output).value_or(0), output);
    std::stable_sort(run.output_at.begin(), run.output_at.end(), by_slot);
  }
  return runs;
}

// The output in a slot; kNoId if there is none.
RecordId output_of(const Runs& runs, const RunKey& key, uint64_t slot) {
  const auto run = runs.find(key);
  if (run == runs.end()) return kNoId;
  const auto& outputs = run->second.output_at;
  const auto found = std::lower_bound(outputs.begin(), outputs.end(), std::pair(slot, RecordId(0)), by_slot);
  return found == outputs.end() || found->first != slot ? kNoId : found->second;
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
    for (SequencedOpId device{0}; device < matches_.size(); ++device) pair_tensors(device);
    for (SequencedOpId host{0}; host < host_.operators.size(); ++host) add_rest(host);
    sort_tensors();
    pairing.operators = op_pairs_.pairs();
    pairing.tensors = std::move(tensors_);
  }

 private:
  void add(OperatorId op, RecordId device, RecordId host, Alone alone = Alone::kUnknown) {
    TensorPair pair;
    pair.op = op;
    (device_is_a_ ? pair.a : pair.b) = device;
    (device_is_a_ ? pair.b : pair.a) = host;
    pair.alone = alone;
    if (host != kNoId) done_[host] = true;
    tensors_.push_back(pair);
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
    const RecordId host = device_is_a_ ? pair.b : pair.a, device = device_is_a_ ? pair.a : pair.b;
    return host != kNoId ? host_.tensor(host) : device_.tensor(device);
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
  // The operators as the files name them. Without a graph, `pairing` has these.
  std::optional<std::vector<SequencedOp>> files_a, files_b;
  if (a.join != nullptr) files_a = operators_by_file(a);
  if (b.join != nullptr) files_b = operators_by_file(b);
  const DeviceSigns signs_a = device_signs(files_a ? *files_a : pairing.a),
                    signs_b = device_signs(files_b ? *files_b : pairing.b);
  const bool neither = signs_a == DeviceSigns::kNone && signs_b == DeviceSigns::kNone;
  if (neither || (signs_a == DeviceSigns::kCertain && signs_b == DeviceSigns::kCertain)) return false;
  const bool device_is_a = signs_a >= signs_b;
  // The graph of a device dump may be that of the front end, so its operators are those of the files.
  if (auto& files = device_is_a ? files_a : files_b) (device_is_a ? pairing.a : pairing.b) = std::move(*files);
  const MatchSide side_a{a, pairing.a}, side_b{b, pairing.b};
  MatchEvidence evidence(device_is_a ? side_a : side_b, device_is_a ? side_b : side_a);
  const std::vector<DeviceMatch> matches = match_device(evidence);
  DevicePairer(evidence, matches, device_is_a, lone_step).run(pairing);
  pairing.limits.merge(evidence.limits);
  for (TensorSamples* const samples : {&evidence.device_samples, &evidence.host_samples}) {
    for (Error& error : samples->failures().all()) pairing.unread.push_back(std::move(error));
  }
  return true;
}

}  // namespace msdump
