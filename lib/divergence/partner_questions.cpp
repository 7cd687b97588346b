#include "divergence/partner_questions.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compare/limits.h"
#include "ge/operators/operator_table.h"

namespace msdump {
namespace {

using recompute::AskedOutput;
using recompute::Operand;
using recompute::Question;
using recompute::Reason;

constexpr std::string_view kConvolution = "conv", kBatchNorm = "batch_norm", kBiasAdd = "bias_add";

Question not_asked(Question question, Reason reason, std::string what = {}) {
  question.row = nullptr;
  question.why = {reason, std::move(what)};
  return question;
}

bool has_kernel(const Question& question, std::string_view kernel) {
  return question.row != nullptr && question.row->kernel != nullptr && question.row->kernel->name == kernel;
}

int64_t elements_of(const TensorRecord& record) {
  return record.shape == nullptr ? -1 : recompute::size_of(*record.shape);
}

}  // namespace

PartnerQuestions::PartnerQuestions(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                   const check::CheckedDump& reference, const recompute::Questions& questions)
    : a_(a),
      b_(b),
      pairing_(pairing),
      reference_(reference),
      questions_(questions),
      partner_(b.tensors->size()),
      pair_of_(b.tensors->size()),
      any_pair_(b.tensors->size()) {
  for (TensorId pair{0}; pair < pairing.tensors.size(); ++pair) {
    const TensorPair& tensors = pairing.tensors[pair];
    if (tensors.b != kNoId) any_pair_[tensors.b] = pair;
    if (!tensors.is_paired()) continue;
    partner_[tensors.b] = TensorId(uint32_t{tensors.a});
    pair_of_[tensors.b] = pair;
    candidate_pair_[TensorId(uint32_t{tensors.a})] = pair;
  }
  for (ExecutionId run{0}; run < reference.runs().size(); ++run) {
    if (const SequencedOpId device = device_of(run); device != kNoId) hosts_[device].push_back(run);
  }
}

TensorId PartnerQuestions::pair_of_candidate(TensorId tensor) const {
  const auto found = candidate_pair_.find(tensor);
  return found == candidate_pair_.end() ? TensorId() : found->second;
}

OperatorId PartnerQuestions::op_of(ExecutionId run) const {
  const OpRun& one = reference_.runs()[run];
  for (const TensorId tensor : one.outputs) {
    if (any_pair_[tensor] != kNoId) return pairing_.tensors[any_pair_[tensor]].op;
  }
  for (const RunInput& input : one.inputs) {
    if (input.tensor != kNoId && any_pair_[input.tensor] != kNoId) return pairing_.tensors[any_pair_[input.tensor]].op;
  }
  return {};
}

// The operator of the candidate that the execution's operator was paired with.
SequencedOpId PartnerQuestions::device_of(ExecutionId run) const {
  const OperatorId op = op_of(run);
  return op == kNoId ? SequencedOpId() : pairing_.operators[op].a;
}

std::string_view PartnerQuestions::type_of(ExecutionId run) const {
  return reference_.operators()[SequencedOpId(uint32_t{reference_.runs()[run].op})].type;
}

// The members of the region that ends with `run`, in the order of the data flow; only `run` if its operator stands alone.
// None if the members are not known.
std::optional<PartnerQuestions::Members> PartnerQuestions::members_of(ExecutionId run) const {
  const SequencedOpId device = device_of(run);
  if (device == kNoId) return Members{run};
  const std::vector<OpRun>& runs = reference_.runs();
  std::set<ExecutionId> hosts;  // of this execution
  for (const ExecutionId host : hosts_.at(device)) {
    if (host <= run && runs[host].place == runs[run].place) hosts.insert(host);
  }
  if (hosts.size() == 1) return members_by_type(run, device);
  const ge::OperatorTable& types = ge::OperatorTable::get();
  std::set<ExecutionId> members = {run};
  Members open = {run};
  while (!open.empty()) {
    const ExecutionId one = open.back();
    open.pop_back();
    for (const RunInput& input : runs[one].inputs) {
      const ExecutionId producer = input.producer;
      if (producer == kNoId || members.count(producer) > 0) continue;
      // Operators that move no data may lie between the members.
      const bool view = device_of(producer) == kNoId && types.may_have_no_kernel(type_of(producer));
      if (hosts.count(producer) == 0 && !view) continue;
      if (members.size() == kFewTried) return std::nullopt;
      members.insert(producer);
      open.push_back(producer);
    }
  }
  const auto is_member = [&](ExecutionId host) { return members.count(host) > 0; };
  if (!std::all_of(hosts.begin(), hosts.end(), is_member)) return std::nullopt;
  return Members(members.begin(), members.end());
}

// An operator of a type that the device has for several was paired with the last of these alone.
std::optional<PartnerQuestions::Members> PartnerQuestions::members_by_type(ExecutionId run,
                                                                           SequencedOpId device) const {
  const ge::OperatorTable& types = ge::OperatorTable::get();
  const TensorId output = device_output(run);
  const std::string_view device_type = output == kNoId ? pairing_.a[device].type : (*a_.tensors)[output].name.op_type;
  const std::string whole = types.family(device_type), last = types.family(type_of(run));
  if (whole == last) return Members{run};
  bool fused = false;
  for (const ge::Rewrite& rewrite : types.rewrites()) {
    if (rewrite.device.size() != 1 || rewrite.mindspore.size() < 2 || rewrite.device.front() != whole) continue;
    fused = true;
    for (const ge::Rewrite::Output& one : rewrite.outputs) {
      if (rewrite.mindspore[one.op] != last) continue;
      std::multiset<std::string> left(rewrite.mindspore.begin(), rewrite.mindspore.begin() + one.op);
      std::set<ExecutionId> members = {run};
      Members open = {run};
      while (!open.empty()) {
        const ExecutionId reader = open.back();
        open.pop_back();
        for (const RunInput& input : reference_.runs()[reader].inputs) {
          const ExecutionId producer = input.producer;
          if (producer == kNoId || members.count(producer) > 0 || device_output(producer) != kNoId) continue;
          const auto found = left.find(types.family(type_of(producer)));
          if (found == left.end()) continue;
          left.erase(found);
          members.insert(producer);
          open.push_back(producer);
        }
      }
      if (left.empty()) return Members(members.begin(), members.end());
    }
  }
  return fused ? std::nullopt : std::optional(Members{run});
}

// The candidate's tensor of an output of the execution, or kNoId.
TensorId PartnerQuestions::device_output(ExecutionId run) const {
  for (const TensorId tensor : reference_.runs()[run].outputs) {
    if (partner_[tensor] != kNoId) return partner_[tensor];
  }
  return {};
}

std::map<uint32_t, TensorId> PartnerQuestions::device_inputs(TensorId output) const {
  std::map<uint32_t, TensorId> inputs;
  const TensorId pair = pair_of_candidate(output);
  if (pair == kNoId) return inputs;
  const TensorRecord& written = (*a_.tensors)[output];
  const SequencedOpId device = pairing_.operators[pairing_.tensors[pair].op].a;
  const auto folder_of = [&](const TensorRecord& record) { return a_.index->files()[record.file].folder; };
  for (const RecordId id : pairing_.a[device].tensors) {
    const TensorRecord& record = (*a_.tensors)[id];
    if (record.name.io != Io::kInput || record.occurrence != written.occurrence || record.step != written.step ||
        folder_of(record) != folder_of(written))
      continue;
    const auto slot = parse_u64(record.name.slot);
    if (slot && *slot < kNoIndex) inputs.emplace(static_cast<uint32_t>(*slot), TensorId(uint32_t{id}));
  }
  return inputs;
}

std::vector<Question> PartnerQuestions::ask(ExecutionId run) const {
  const auto members = members_of(run);
  if (!members) return {not_asked(questions_.ask(run), Reason::kRegion)};
  if (members->size() == 1) return {ask_alone(run)};
  if (const auto fold = folded(*members)) return {ask_folded(*members, *fold)};
  return ask_region(*members);
}

// True for a product whose device operator reads more than it is asked about: a bias of an operator that was fused with it.
bool PartnerQuestions::has_more_inputs(ExecutionId run, const Question& question) const {
  for (const auto& input : device_inputs(device_output(run))) {
    const auto tensor = input.second;
    const TensorRecord& record = (*a_.tensors)[tensor];
    const bool asked = std::any_of(question.operands.begin(), question.operands.end(),
                                   [&](const Operand& operand) { return operand.tensor == tensor; });
    if (!asked && kind_of(record.name.dtype) == DTypeKind::kFloat && elements_of(record) != 1) return true;
  }
  return false;
}

// Constants that only the reference has as files stay its own.
Question PartnerQuestions::ask_alone(ExecutionId run) const {
  Question question = questions_.ask(run);
  if (question.row == nullptr) return question;
  std::vector<Operand> operands;
  const SequencedOpId asked = device_of(run);
  const OperatorId op = op_of(run);
  const auto is_own = [&](TensorId tensor) {
    return op != kNoId && pairing_.operators[pairing_.tensors[pair_of_[tensor]].op].b == pairing_.operators[op].b;
  };
  for (Operand& operand : question.operands) {
    // Operators of the device that are one of the network have a part of the inputs each. A gradient reads those of its forward
    // operator, too.
    if (operand.tensor != kNoId && (*b_.tensors)[operand.tensor].name.io == Io::kInput &&
        partner_[operand.tensor] != kNoId && is_own(operand.tensor) &&
        pairing_.operators[pairing_.tensors[pair_of_[operand.tensor]].op].a != asked) {
      question.unknown.emplace_back(operand.name, recompute::Unjudged{Reason::kRegion, operand.name});
      continue;
    }
    if (operand.tensor != kNoId) {
      const RunInput* const input = find_input(reference_.runs()[run], operand.tensor);
      if (partner_[operand.tensor] != kNoId) {
        operand.tensor = partner_[operand.tensor];
      } else if (input != nullptr && input->from == InputEdge::From::kConstant) {
        operand.tensor = constant(operand.tensor);
      } else {
        question.unknown.emplace_back(operand.name, recompute::Unjudged{Reason::kNoInput, operand.name});
        continue;
      }
    }
    operands.push_back(std::move(operand));
  }
  question.operands = std::move(operands);
  if (question.row->kernel->arithmetic == recompute::Arithmetic::kProduct && has_more_inputs(run, question))
    return not_asked(std::move(question), Reason::kRegion);
  for (AskedOutput& output : question.outputs) output.tensor = partner_[output.tensor];
  std::erase_if(question.outputs, [](const AskedOutput& output) { return output.tensor == kNoId; });
  return question;
}

std::vector<Question> PartnerQuestions::ask_region(const Members& members) const {
  RegionChain chain(reference_, questions_);
  const TensorId written = device_output(members.back());
  const std::map<uint32_t, TensorId> inputs = device_inputs(written);
  const SequencedOpId device = device_of(members.back());
  // What enters, once for all operands that read one value.
  struct Entering {
    TensorId tensor, device;  // of the reference; of the candidate, if the pairing tells it
    std::vector<std::pair<size_t, size_t>> operands;
  };
  std::map<std::pair<uint32_t, uint32_t>, Entering> entering;  // by producer and output, or by tensor
  for (const ExecutionId member : members) {
    std::vector<std::pair<TensorId, const RunInput*>> read;
    const auto added = chain.add(member, [&](Operand& operand, const RunInput& input) -> recompute::Maybe<void> {
      if (input.from == InputEdge::From::kConstant && partner_[operand.tensor] == kNoId)
        operand.tensor = constant(operand.tensor);
      else
        read.emplace_back(operand.tensor, &input);
      return {};
    });
    if (!added) return {not_asked(questions_.ask(member), added.error().reason, added.error().what)};
    const std::vector<Operand>& operands = chain.questions().back().operands;
    for (const auto& [tensor, input] : read) {
      const std::pair<uint32_t, uint32_t> key = input->producer != kNoId
                                                    ? std::pair(uint32_t{input->producer}, uint32_t{input->produced})
                                                    : std::pair(UINT32_MAX, uint32_t{tensor});
      Entering& one = entering[key];
      if (one.operands.empty()) one.tensor = tensor;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].tensor == tensor) one.operands.emplace_back(chain.questions().size() - 1, i);
      }
      if (partner_[tensor] != kNoId && pairing_.operators[pairing_.tensors[pair_of_[tensor]].op].a == device &&
          (*a_.tensors)[partner_[tensor]].name.io == Io::kInput)
        one.device = partner_[tensor];
    }
  }
  for (Question& question : chain.questions()) {
    for (AskedOutput& output : question.outputs) output.tensor = partner_[output.tensor];
  }
  std::set<TensorId> free;
  for (const auto& [slot, tensor] : inputs) free.insert(tensor);
  std::vector<Entering*> unplaced;
  for (auto& [key, one] : entering) {
    if (one.device == kNoId)
      unplaced.push_back(&one);
    else
      free.erase(one.device);
  }
  std::vector<Question> questions;
  // Places the rest one after the other, in each way that fits.
  const auto place = [&](const auto& self, size_t at) -> void {
    if (questions.size() == kFewTried) return;
    if (at == unplaced.size()) {
      // An input that nothing reads would show that the members are others; a scalar may be a constant of the reference.
      for (const TensorId tensor : free) {
        if (elements_of((*a_.tensors)[tensor]) != 1) return;
      }
      RegionChain placed = chain;
      for (const auto& [key, one] : entering) {
        for (const auto& [question, operand] : one.operands)
          placed.questions()[question].operands[operand].tensor = one.device;
      }
      questions.push_back(std::move(placed).joined());
      return;
    }
    for (const auto& [slot, tensor] : inputs) {
      if (free.count(tensor) == 0 ||
          elements_of((*a_.tensors)[tensor]) != elements_of((*b_.tensors)[unplaced[at]->tensor]))
        continue;
      free.erase(tensor);
      unplaced[at]->device = tensor;
      self(self, at + 1);
      unplaced[at]->device = {};
      free.insert(tensor);
    }
  };
  place(place, 0);
  if (questions.empty()) return {not_asked(questions_.ask(members.back()), Reason::kRegion)};
  return questions;
}

std::optional<FoldedConvolution> PartnerQuestions::folded(ExecutionId run) const {
  const auto members = members_of(run);
  return members && members->size() > 1 ? folded(*members) : std::nullopt;
}

std::optional<FoldedConvolution> PartnerQuestions::folded(const Members& members) const {
  FoldedConvolution fold;
  fold.convolution = members.front();
  if (!has_kernel(questions_.ask(fold.convolution), kConvolution)) return std::nullopt;
  ExecutionId before = fold.convolution;
  for (size_t i = 1; i < members.size() && fold.batch_norm == kNoId; ++i) {
    const Question question = questions_.ask(members[i]);
    const auto& read = reference_.runs()[members[i]].inputs;
    if (read.empty() || read.front().producer != before) return std::nullopt;
    if (has_kernel(question, kBatchNorm)) {
      fold.batch_norm = members[i];
    } else if (has_kernel(question, kBiasAdd) && fold.bias == kNoId) {
      fold.bias = members[i];
    } else {
      return std::nullopt;
    }
    before = members[i];
  }
  const std::map<uint32_t, TensorId> inputs = device_inputs(device_output(members.back()));
  if (fold.batch_norm == kNoId || inputs.size() != 3 || inputs.rbegin()->first != 2) return std::nullopt;
  fold.x = inputs.at(0);
  fold.folded_filter = inputs.at(1);
  fold.folded_bias = inputs.at(2);
  return fold;
}

Question PartnerQuestions::ask_folded(const Members& members, const FoldedConvolution& fold) const {
  RegionChain chain(reference_, questions_);
  for (const ExecutionId member : members) {
    if (member == fold.bias || member == fold.batch_norm) {
      chain.add_folded(member);
      continue;
    }
    const auto added = chain.add(member, [&](Operand& operand, const RunInput& input) -> recompute::Maybe<void> {
      if (member == fold.convolution) {
        operand.tensor = operand.name == "w" ? fold.folded_filter : fold.x;
      } else if (input.from == InputEdge::From::kConstant) {
        operand.tensor = constant(operand.tensor);
      } else {
        return recompute::unjudged(Reason::kRegion, operand.name);
      }
      return {};
    });
    if (!added) return not_asked(questions_.ask(member), added.error().reason, added.error().what);
    if (member != fold.convolution) continue;
    Question& question = chain.questions().back();
    std::erase_if(question.operands, [](const Operand& operand) { return operand.name == "bias"; });
    std::erase_if(question.unknown, [](const auto& unknown) { return unknown.first == "bias"; });
    Operand bias;
    bias.name = "bias";
    bias.tensor = fold.folded_bias;
    question.operands.push_back(std::move(bias));
  }
  for (Question& question : chain.questions()) {
    for (AskedOutput& output : question.outputs) output.tensor = {};
  }
  // Shapes of all values in between are those of the convolution, and the names of outputs are the kernels'.
  for (AskedOutput& output : chain.questions().back().outputs) {
    if (output.name == "y") output.tensor = device_output(members.back());
  }
  Question question = std::move(chain).joined();
  question.run = members.back();
  return question;
}

}  // namespace msdump
