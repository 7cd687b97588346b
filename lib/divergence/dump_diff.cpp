#include "divergence/dump_diff.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/arguments/call_arguments.h"
#include "compare/limits.h"
#include "compare/match/module_tree.h"
#include "compare/match/parameters/parameter_pairing.h"
#include "compare/tokens/token_errors.h"
#include "compare/tokens/token_view.h"
#include "divergence/history_divergence.h"
#include "divergence/roots/cut_text.h"
#include "divergence/roots/diff_roots.h"
#include "divergence/roots/undumped.h"
#include "divergence/token_roots.h"
#include "io/rule_file.h"
#include "msprobe/dump_json.h"

namespace msdump {
namespace {

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// The names of a pair on the sides that have it.
std::vector<std::string_view> names_of(const Pairing& pairing, const OpPair& pair) {
  std::vector<std::string_view> names;
  if (pair.a != kNoId) names.emplace_back(pairing.a[pair.a].name);
  if (pair.b != kNoId) names.emplace_back(pairing.b[pair.b].name);
  return names;
}

template <class Matches>
std::vector<OperatorId> pairs_where(const Pairing& pairing, const Matches& matches) {
  std::vector<OperatorId> found;
  for (OperatorId op{0}; op < pairing.operators.size(); ++op) {
    const auto names = names_of(pairing, pairing.operators[op]);
    if (std::any_of(names.begin(), names.end(), matches)) found.push_back(op);
  }
  return found;
}

std::string nearest_name(const Pairing& pairing, std::string_view wanted) {
  std::vector<std::string> names;
  for (const OpPair& pair : pairing.operators) {
    for (const std::string_view name : names_of(pairing, pair)) {
      names.emplace_back(wanted.find('/') == std::string_view::npos ? last_part(name) : name);
    }
  }
  return did_you_mean(wanted, names, "msdump ls lists all operators");
}

}  // namespace

Result<std::vector<OperatorId>> operators_named(const Pairing& pairing, std::string_view wanted) {
  std::vector<OperatorId> found = pairs_where(pairing, [&](std::string_view name) { return name == wanted; });
  // Operators that are not partners may have each other's names. The candidate's, which is in doubt, comes first.
  const auto is_of_candidate = [&](OperatorId op) {
    const OpPair& pair = pairing.operators[op];
    return pair.a != kNoId && pairing.a[pair.a].name == wanted;
  };
  if (std::any_of(found.begin(), found.end(), is_of_candidate))
    std::erase_if(found, [&](OperatorId op) { return !is_of_candidate(op); });
  if (found.empty()) {
    found = pairs_where(pairing, [&](std::string_view name) {
      return glob_match(wanted, name) || glob_match(wanted, last_part(name));
    });
  }
  if (found.empty()) {
    return fail(make_error(ErrorCode::kUsage, "no operator is named '{}'", excerpt(wanted))
                    .with_hint(nearest_name(pairing, wanted)));
  }
  std::vector<std::string_view> names;
  for (const OperatorId op : found) names.emplace_back(pairing.op_name(op));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() == 1) return found;
  std::string some;
  for (size_t i = 0; i < names.size() && i < kNamedInText; ++i)
    some += (i == 0 ? "" : ", ") + escape_for_terminal(names[i]);
  if (names.size() > kNamedInText) some += ", ...";
  return fail(make_error(ErrorCode::kUsage, "'{}' names {}", excerpt(wanted), plural(names.size(), "operator"))
                  .with_hint("name one: " + some));
}

namespace {

bool is_one_file(const DiffSide& side) {
  return side.catalogue().index.files().size() == 1 && side.catalogue().list.tensors().size() == 1;
}

bool is_selected(const DiffResult& run, const TensorPair& pair) {
  const OpenedGraph& side = run.side_of(pair);
  if (!side.selects(run.record_of(pair))) return false;
  if (side.operators.everything()) return true;
  const auto named = [&](SequencedOpId place, const std::vector<SequencedOp>& operators) {
    if (place == kNoId) return false;
    Identity identity;
    identity.name.op_name = operators[place].name;
    identity.name.op_type = operators[place].type;
    return side.operators.matches_file(identity);
  };
  const OpPair& op = run.pairing.operators[pair.op];
  return side.operators.matches_file(identity_of(side.catalogue->index, run.record_of(pair))) ||
         named(op.a, run.pairing.a) || named(op.b, run.pairing.b);
}

// Selects the rows, by rank, graph and step, then in the order of operators.
void choose_rows(DiffResult& run) {
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>, TensorId>;
  std::vector<Key> keys;
  for (TensorId i{0}; i < run.pairing.tensors.size(); ++i) {
    if (!is_selected(run, run.pairing.tensors[i])) continue;
    const Identity identity = run.identity(i);
    keys.emplace_back(identity.rank, identity.graph, identity.step, i);
  }
  std::sort(keys.begin(), keys.end());
  for (const Key& key : keys) run.rows.push_back(std::get<3>(key));
}

void accept_rows(DiffRules& rules, DiffResult& run) {
  run.accepted.assign(run.diffs.size(), false);
  if (!rules.baseline) return;
  for (const TensorId tensor : run.rows)
    run.accepted[tensor] = rules.baseline->accepts(run.key(tensor), run.diffs[tensor]);
}

void accept_arguments(DiffRules& rules, DiffResult& run) {
  if (!rules.baseline) return;
  accept_rows(rules, run);  // judge_arguments() has turned some into differences
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    run.accepted_arguments[i] =
        rules.baseline->accepts(run.key(run.arguments[i]), difference_of(run.arguments[i], run.pairing));
  }
  for (const TensorKey* const key : rules.baseline->unused())
    run.unused_baseline.push_back(fmt::format("{} {}:{}", key->op_name, name_of(key->io), key->slot));
}

void compare_as(DiffResult& run, PairedParameters&& paired) {
  run.pairing = std::move(paired.pairing);
  run.views = std::move(paired.views);
  run.a->tensors = std::move(paired.tensors.a);
  run.b->tensors = std::move(paired.tensors.b);
  run.a->side.tensors = &run.a->tensors;
  run.b->side.tensors = &run.b->tensors;
}

Status pair(DiffResult& run, const NameMap* map, const RunContext& context, const DiffDetails& details) {
  const CompareSide &a = run.a->side, &b = run.b->side;
  if (run.single_pair) {
    run.pairing = pair_single(a, b);
    return {};
  }
  if (is_checkpoint(a) && is_checkpoint(b)) {
    MSDUMP_TRY(PairedCheckpoints paired,
               pair_checkpoints({a, run.a->tables}, {b, run.b->tables}, map, details.layouts, context));
    run.locals = std::move(paired.locals);
    run.sharded_a = std::move(paired.shards.a);
    run.sharded_b = std::move(paired.shards.b);
    run.placements = std::move(paired.notes);
    if (run.sharded_a != nullptr) {
      run.a->side = run.sharded_a->side();
      run.b->side = run.sharded_b->side();
    }
    compare_as(run, std::move(paired));
    return {};
  }
  if (is_checkpoint(a) || is_checkpoint(b) || details.parameters_alone) {
    MSDUMP_TRY(PairedParameters paired, pair_parameters(a, b, map, {nullptr, nullptr}, context.cancel));
    compare_as(run, std::move(paired));
    return {};
  }
  MSDUMP_TRY(run.tokens, view_tokens(a, b, details.tokens, context));
  if (run.tokens != nullptr) {
    run.a->side = run.tokens->a->side();
    run.b->side = run.tokens->b->side();
  }
  if (map == nullptr && run.tokens != nullptr && run.tokens->names) map = &*run.tokens->names;
  if (!sharding_differs(a, b)) {
    run.pairing = pair_sides(a, b, map);
    if (run.tokens != nullptr) return settle_rows(*run.tokens, run.pairing, context.cancel);
    if (details.tokens != TokenUse::kNever && statistics_of_other_rows(a, b)) part_other_rows(a, b, run.pairing);
    return {};
  }
  if (run.tokens != nullptr) align_names(*run.tokens);
  MSDUMP_TRY(PairedShards paired, pair_sharded({a, run.a->tables}, {b, run.b->tables}, map, details.layouts, context));
  run.pairing = std::move(paired.pairing);
  run.sharded_a = std::move(paired.a);
  run.sharded_b = std::move(paired.b);
  run.placements = std::move(paired.notes);
  run.a->side = run.sharded_a->side();
  run.b->side = run.sharded_b->side();
  return {};
}

// Discards the difference of a tensor that could not be assembled from local tensors.
void apply_placement_notes(DiffResult& run, const std::vector<TensorId>& rows) {
  if (run.placements.empty()) return;
  for (const TensorId row : rows) {
    const PlacementNote& note = run.placements[row];
    TensorDiff& diff = run.diffs[row];
    if (!note.lacking.empty() && diff.verdict == Verdict::kShape) diff.reason = note.lacking;
    if (note.problem.empty() && note.unreadable.empty()) continue;
    TensorDiff none;
    none.verdict = note.problem.empty() ? Verdict::kSkipped : Verdict::kShape;
    none.reason = note.problem.empty() ? note.unreadable : note.problem;
    none.dtype_a = diff.dtype_a;
    none.dtype_b = diff.dtype_b;
    diff = std::move(none);
    run.details.erase(row);
  }
}

// All failures, each once: those of both sides, which may share an IR, then the later ones. A tensor that is listed
// already is left out of those. Last, files that could not be read to match tensors, if nothing else names them.
std::vector<Error> all_failures(const DiffResult& run, std::vector<Error> later) {
  std::vector<Error> failures;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  std::set<std::pair<std::string, std::string>> tensors;
  const auto add = [&](const Error& error) {
    if (!known.emplace(error.path, error.tensor, error.message).second) return;
    tensors.emplace(error.path, error.tensor);
    failures.push_back(error);
  };
  for (const DiffSide* const side : {run.a.get(), run.b.get()}) {
    for (const Error& error : side->opened.loaded->failures) add(error);
    for (const Error& error : side->catalogue().list.failures()) add(error);
  }
  std::erase_if(later, [&](const Error& error) { return tensors.contains({error.path, error.tensor}); });
  for (const Error& error : later) add(error);
  std::set<std::string> paths;
  for (const Error& error : failures) paths.insert(error.path);
  for (const Error& error : run.match_failures()) {
    if (!paths.contains(error.path)) add(error);
  }
  return failures;
}

}  // namespace

DiffSide::DiffSide(OpenedGraph&& graph) : opened(std::move(graph)), tables(opened.catalogue->index) {
  dump.index = &catalogue().index;
  dump.tensors = &catalogue().list.tensors();
  dump.arguments = &catalogue().list.arguments();
  // An IR that was found nearby and has none of the operators belongs to another run.
  if (opened.joined && opened.joined->join.matched_operators() > 0) {
    dump.graph = &opened.graph();
    dump.join = &opened.joined->join;
    lines = OperatorLines(opened.graph());
    code = CodeLines(opened.graph());
    dump.code = &code;
  }
  side = dump;
}

const TensorRecord& DiffResult::record_of(const TensorPair& pair) const {
  return pair.b != kNoId ? (*b->side.tensors)[pair.b] : (*a->side.tensors)[pair.a];
}

Identity DiffResult::identity(TensorId tensor) const {
  const TensorPair& pair = pairing.tensors[tensor];
  const DumpIndex& index = side_of(pair).catalogue->index;
  const TensorRecord& record = record_of(pair);
  Identity identity = identity_of(index, record);
  // The two sides may call the dump differently.
  identity.dump = pairing.dump_name(pairing.common_dump(pair.known_side(), place_of(index, record).dump));
  return identity;
}

TensorKey DiffResult::key(TensorId tensor) const {
  const Identity identity = this->identity(tensor);
  const OpPair& op = pairing.operators[pairing.tensors[tensor].op];
  std::string name(op_name(pairing.tensors[tensor].op));
  // Several parts of one parameter have its name.
  if (pairing.of_parameters && op.is_paired() && pairing.b[op.b].name != name)
    name.append(" = ").append(pairing.b[op.b].name);
  return {identity.rank,       identity.graph,
          identity.step,       std::move(name),
          identity.name.io,    std::string(identity.name.slot),
          identity.occurrence, std::string(identity.dump)};
}

TensorKey DiffResult::key(const ArgumentDiff& argument) const {
  const OpPair& pair = pairing.operators[argument.op];
  const SequencedOp& op = pair.b != kNoId ? pairing.b[pair.b] : pairing.a[pair.a];
  return {op.rank,
          op.graph,
          argument.step,
          std::string(op_name(argument.op)),
          Io::kArgument,
          argument.name,
          0,
          std::string(pairing.dump_name(op.dump))};
}

DiffResult::OpInGraph DiffResult::operator_in_graph(OperatorId pair) const {
  const OpPair& op = pairing.operators[pair];
  if (op.a != kNoId && pairing.a[op.a].op != kNoId) return {a.get(), pairing.a[op.a].op};
  if (op.b != kNoId && pairing.b[op.b].op != kNoId) return {b.get(), pairing.b[op.b].op};
  return {};
}

ReachedLimits DiffResult::limits() const {
  ReachedLimits all = pairing.limits;
  all.insert(divergence.limits.begin(), divergence.limits.end());
  for (const DiffSide* const side : {a.get(), b.get()}) {
    all.insert(side->opened.search.limits.begin(), side->opened.search.limits.end());
    if (!side->opened.joined) continue;
    const ReachedLimits& of_join = side->opened.joined->join.limits();
    all.insert(of_join.begin(), of_join.end());
  }
  return all;
}

std::vector<Error> DiffResult::match_failures() const {
  std::vector<Error> unread = pairing.unread;
  for (const ShardedSide* const side : {sharded_a.get(), sharded_b.get()}) {
    if (side == nullptr) continue;
    for (Error& error : side->contents().failures().all()) unread.push_back(std::move(error));
  }
  return unread;
}

std::string_view DiffResult::explained(TensorId tensor) const { return name_of(divergence.explained[tensor]); }

OperatorLine DiffResult::line(OperatorId pair) const {
  const OpInGraph found = operator_in_graph(pair);
  if (found.side == nullptr) return {};
  if (!pairing.operators[pair].is_paired()) {
    const DiffSide& other = found.side == a.get() ? *b : *a;
    if (const SourceFrame* const changed = found.side->code.changed_line(found.op, other.code)) return {changed, false};
  }
  return found.side->lines.of(found.op);
}

Result<DiffResult> pair_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              const RunContext& context, const DiffDetails& details) {
  DiffResult run;
  run.a = std::move(a);
  run.b = std::move(b);
  run.single_pair = is_one_file(*run.a) && is_one_file(*run.b);
  MSDUMP_CHECK_OK(pair(run, map, context, details));
  choose_rows(run);
  return run;
}

Status compare_pairs(DiffResult& run, const std::vector<TensorId>& rows, const DiffRules& rules,
                     const SecondLookOptions& look, const RunContext& context) {
  const auto dump_of = [](DiffSide& side) {
    return ComparedDump{side.side, side.tables, side.catalogue().list.failures()};
  };
  ComparedTensors compared = compare_dumps({dump_of(*run.a), dump_of(*run.b)}, run.pairing, rows, rules, look, context);
  MSDUMP_CHECK_OK(context.cancel.check());
  for (DiffSide* const side : {run.a.get(), run.b.get()}) side->tables.free();
  run.diffs = std::move(compared.diffs);
  run.details = std::move(compared.details);
  apply_placement_notes(run, rows);
  run.failures = std::move(compared.failures);
  return {};
}

std::vector<uint64_t> bytes_of_rows(const DiffResult& run) {
  const auto bytes_of = [](const DiffSide& side, RecordId tensor) {
    const TensorRecord& record = (*side.side.tensors)[tensor];
    return record.has_elements ? record.bytes.value_or(side.catalogue().index.files()[record.file].size) : 0;
  };
  std::vector<uint64_t> bytes;
  for (const TensorId row : run.rows) {
    const TensorPair& pair = run.pairing.tensors[row];
    const bool is_pair = pair.is_paired();
    bytes.push_back(is_pair ? bytes_of(*run.a, pair.a) + bytes_of(*run.b, pair.b) : 0);
  }
  return bytes;
}

// If the sides are sharded differently and no root is found, compares the candidate's replicas with each other.
Status find_roots(DiffResult& run, const ModuleTree& modules, DivergenceDetails details, const RunContext& context) {
  details.computed = &run.computed;
  const DumpSide a = {run.a->catalogue().index, run.a->tables}, b = {run.b->catalogue().index, run.b->tables};
  details.error_of_records = [&](RecordId of_a, RecordId of_b) -> std::optional<double> {
    const auto diff = diff_records(a, (*run.a->side.tensors)[of_a], b, (*run.b->side.tensors)[of_b], {}, context);
    for (DiffSide* const side : {run.a.get(), run.b.get()}) side->tables.free();
    return diff && has_metrics(diff->verdict) ? diff->error() : std::nullopt;
  };
  const auto find = [&] {
    run.divergence = find_divergences(run.a->side, run.b->side, run.pairing, run.diffs, modules, details);
  };
  if (run.placements.empty() || run.pairing.of_parameters) {
    MSDUMP_TRY(run.computed,
               compute_outputs(run.a->side, run.b->side, run.pairing, run.diffs,
                               run.tokens == nullptr ? details.recompute : recompute::Extent::kNever, context));
    find();
    return {};
  }
  const ComparedShards placements = {*run.sharded_a, *run.sharded_b, run.pairing, run.placements,
                                     run.diffs,      run.a->dump,    run.b->dump};
  MSDUMP_TRY(run.placement_evidence, placement_evidence(placements, context));
  details.placements = &run.placement_evidence;
  find();
  if (!run.divergence.roots.empty()) return {};
  MSDUMP_TRY(run.placement_evidence.apart, replicas_apart(placements, context));
  if (run.placement_evidence.apart) find();
  return {};
}

// True if the baseline accepts all the evidence of a root.
bool is_accepted(const DiffResult& run, const Divergence& root) {
  std::vector<TensorId> shown = root.outputs.empty() ? root.inputs : root.outputs;
  for (const DivergencePlace& other : root.places)
    shown.insert(shown.end(), other.outputs.begin(), other.outputs.end());
  bool any_argument = false;
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    if (run.arguments[i].op != root.op || !run.arguments[i].differs) continue;
    if (!run.accepted_arguments[i]) return false;
    any_argument = true;
  }
  const auto counts = [&](TensorId tensor) { return counts_as_difference(run, tensor); };
  const auto accepted = [&](TensorId tensor) { return run.accepted[tensor]; };
  return (any_argument || std::any_of(shown.begin(), shown.end(), accepted)) &&
         std::none_of(shown.begin(), shown.end(), counts);
}

// Corrects an account, which was written before the roots were final.
void settle_account(const std::vector<Divergence>& roots, bool any_difference, RunAccount& account) {
  const auto root = std::find_if(roots.begin(), roots.end(), [&](const Divergence& one) {
    return one.op == account.op || std::any_of(one.places.begin(), one.places.end(),
                                               [&](const DivergencePlace& other) { return other.op == account.op; });
  });
  if (root != roots.end()) {
    if (account.is_root && decided_by(root->rule) == DecidedBy::kEstimate) return;
    if (enters(*root)) return;
    account.is_root = true;
    account.root_op = root->op;
    account.conclusion = "a root: " + root->reason;
  } else if (!any_difference) {
    account.is_root = false;
    account.root_op.reset();
    account.conclusion = "no root: all that was compared agrees within the tolerance";
  } else if (roots.empty() && account.root_op) {
    account.is_root = false;
    account.root_op.reset();
    account.conclusion = "no root: its difference is accepted, or the two networks are not the same";
  }
}

// Keeps the roots that are reported, most evidence first: those that were computed again, then roots without a score, which need
// no model, then by score.
void settle_roots(DiffResult& run) {
  std::vector<Divergence>& roots = run.divergence.roots;
  const auto differs = [&](TensorId row) { return is_difference(run.diffs[row].verdict); };
  const bool any_difference = std::any_of(run.rows.begin(), run.rows.end(), differs) ||
                              std::any_of(run.arguments.begin(), run.arguments.end(),
                                          [](const ArgumentDiff& argument) { return is_difference(argument.verdict); });
  // However small the difference to the reference is, replicas that diverge count, as do operators that compute wrongly and values that
  // are not handed on.
  const bool keeps_any = any_difference || run.placement_evidence.apart.has_value();
  std::erase_if(roots, [&](const Divergence& root) {
    const bool is_shown =
        root.rule == RootRule::kComputed || root.rule == RootRule::kHandedOn || root.rule == RootRule::kToken;
    return (!keeps_any && !is_shown) || is_accepted(run, root);
  });
  std::stable_sort(roots.begin(), roots.end(), [](const Divergence& left, const Divergence& right) {
    const bool exact = decided_by(left.rule) != DecidedBy::kEstimate;
    if (exact != (decided_by(right.rule) != DecidedBy::kEstimate)) return exact;
    if (!left.score || !right.score) return !left.score && right.score;
    return left.score->score > right.score->score;
  });
  for (RunAccount& account : run.divergence.accounts) settle_account(roots, keeps_any, account);
}

// Takes the tokens that differ into account.
Status judge_tokens(DiffResult& run, const ModuleTree& modules, const RunContext& context) {
  if (run.tokens == nullptr) return {};
  const PairRows pairs(*run.tokens, {run.sharded_a.get(), run.sharded_b.get()});
  MSDUMP_TRY(TokenErrors errors, find_token_errors(pairs, run.pairing, run.rows, run.diffs, modules, context));
  settle_token_root(run, pairs, errors);
  run.tokens->errors = std::make_shared<const TokenErrors>(std::move(errors));
  return {};
}

Status judge_pairs(DiffResult& run, DiffRules& rules, const RunContext& context, DivergenceDetails request) {
  accept_rows(rules, run);
  if (rules.baseline) request.accepted = &run.accepted;
  const ModuleTree modules = ModuleTree::of(run.b->catalogue().index, run.a->catalogue().index);
  std::vector<ArgumentDiff> of_calls = compare_calls(run.a->side, run.b->side, run.pairing, rules.tolerance);
  for (const ArgumentDiff& argument : of_calls) {
    if (argument.differs) request.asked_otherwise.insert(argument.op);
  }
  MSDUMP_CHECK_OK(find_roots(run, modules, std::move(request), context));
  for (const Error& problem : modules.problems()) run.failures.push_back(problem);
  judge_arguments(run, std::move(of_calls), context);
  if (run.placements.empty()) blame_one_sided_line(run);  // else each way of sharding has its own calls
  note_changes(run, context.cancel);
  note_exchanges(run);
  for (Divergence& root : run.divergence.roots) {
    if (root.cut) root.reason = text_of_cut(run, *root.cut) + "; " + root.reason;
  }
  if (!run.placements.empty() && !run.pairing.of_parameters) find_ranks(run, context.cancel);
  // Two different networks have different operators, and parameters have none.
  if (run.pairing.likeness.two_networks() || run.pairing.of_parameters) run.divergence.roots.clear();
  accept_arguments(rules, run);
  MSDUMP_CHECK_OK(judge_tokens(run, modules, context));
  settle_roots(run);
  run.failures = all_failures(run, std::move(run.failures));
  MSDUMP_TRY(run.histories, diverged_histories(run, context));
  return {};
}

Result<DiffResult> diff_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              DiffRules& rules, const SecondLookOptions& look, const RunContext& context,
                              const DiffDetails& details) {
  MSDUMP_TRY(DiffResult run, pair_dumps(std::move(a), std::move(b), map, context, details));
  std::vector<OperatorId> operators;
  if (!details.explain.empty()) {
    if (run.pairing.of_parameters)
      return fail(ErrorCode::kUsage, "--explain accounts for operators; checkpoints have none");
    MSDUMP_TRY(operators, operators_named(run.pairing, details.explain));
  }
  MSDUMP_CHECK_OK(compare_pairs(run, run.rows, rules, look, context));
  MSDUMP_CHECK_OK(judge_pairs(run, rules, context, {operators, details.flow, nullptr, details.recompute, nullptr}));
  return run;
}

std::vector<std::pair<std::string, std::string>> dump_jsons(const DiffSide& a, const DiffSide& b) {
  using Number = std::optional<int64_t>;
  struct Json {
    Number step, rank;
    std::string path;
  };
  const auto of = [](const DumpIndex& index) {
    std::vector<Json> jsons;
    for (const IndexedFile& file : index.files()) {
      const FolderIdentity& folder = index.folders()[file.folder].identity;
      if (file.kind == FileKind::kDumpJson) jsons.push_back({folder.step, folder.rank, index.path_of(file)});
    }
    return jsons;
  };
  std::vector<Json> left = of(*a.side.index), right = of(*b.side.index);
  for (Number Json::*const number : {&Json::step, &Json::rank}) {
    const auto is_alone = [&](const std::vector<Json>& jsons) {
      return std::all_of(jsons.begin(), jsons.end(), [&](const Json& one) { return one.*number == jsons[0].*number; });
    };
    if (!is_alone(left) || !is_alone(right)) continue;
    for (std::vector<Json>* const jsons : {&left, &right}) {
      for (Json& one : *jsons) one.*number = std::nullopt;
    }
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json& one : left) {
    const auto same = std::find_if(right.begin(), right.end(),
                                   [&](const Json& other) { return one.step == other.step && one.rank == other.rank; });
    if (same == right.end()) continue;
    pairs.emplace_back(one.path, same->path);
    right.erase(same);
  }
  // If nothing pairs by rank and step, the layers of any two files show which modules belong together.
  if (pairs.empty() && !left.empty() && !right.empty()) pairs.emplace_back(left.front().path, right.front().path);
  return pairs;
}

TensorDiff difference_of(const ArgumentDiff& argument, const Pairing& pairing) {
  TensorDiff diff;
  diff.verdict = argument.verdict;
  diff.reason = reason_of(argument, pairing);
  diff.by_statistics = true;
  const auto a = statistic_value(argument.a), b = statistic_value(argument.b);
  kernels::PairMetrics metrics;
  if (a && b && std::isfinite(*a - *b)) metrics.max_abs = std::abs(*a - *b);
  diff.metrics = metrics;
  return diff;
}

bool counts_as_difference(const DiffResult& run, TensorId tensor) {
  return is_difference(run.diffs[tensor].verdict) && !run.accepted[tensor] &&
         run.divergence.explained[tensor] != Explanation::kUnwritten;
}

bool argument_counts(const DiffResult& run, size_t argument) {
  return is_difference(run.arguments[argument].verdict) && !run.accepted_arguments[argument];
}

bool is_unexplained(const DiffResult& run, TensorId tensor) {
  return counts_as_difference(run, tensor) && run.divergence.explained[tensor] == Explanation::kNone;
}

namespace {

bool fails_by_any(const DiffResult& run, FailLevel level) {
  return level == FailLevel::kAny || run.single_pair || run.pairing.of_parameters ||
         run.pairing.likeness.two_networks();
}

}  // namespace

bool tensor_fails(const DiffResult& run, TensorId tensor, FailLevel level) {
  if (fails_by_any(run, level) || run.diffs[tensor].without_rule) return counts_as_difference(run, tensor);
  const Unjudged reason = run.divergence.unjudged[tensor];
  return is_unexplained(run, tensor) &&
         (level == FailLevel::kUnexplained || (reason != Unjudged::kNone && !may_be_rounding(reason)));
}

bool argument_fails(const DiffResult& run, size_t argument, FailLevel level) {
  return argument_counts(run, argument) && (level != FailLevel::kRoot || fails_by_any(run, level));
}

bool fails(const DiffResult& run, FailLevel level) {
  bool any = !run.divergence.roots.empty();
  for (size_t i = 0; i < run.arguments.size(); ++i) any = any || argument_fails(run, i, level);
  return any ||
         std::any_of(run.rows.begin(), run.rows.end(), [&](TensorId row) { return tensor_fails(run, row, level); });
}

uint64_t count_compared(const DiffResult& run) {
  const auto is_compared = [](Verdict verdict) {
    return verdict != Verdict::kUnmatched && verdict != Verdict::kSkipped;
  };
  const auto rows = std::count_if(run.rows.begin(), run.rows.end(),
                                  [&](TensorId row) { return is_compared(run.diffs[row].verdict); });
  const auto arguments = std::count_if(run.arguments.begin(), run.arguments.end(),
                                       [&](const ArgumentDiff& one) { return is_compared(one.verdict); });
  return static_cast<uint64_t>(rows + arguments);
}

double loss_scale_of(const DiffResult& run, TensorId tensor) {
  return scale_of(run.diffs[tensor], run.divergence.loss_scale);
}

std::optional<double> judged_error(const DiffResult& run, TensorId tensor) {
  const TensorDiff& diff = run.diffs[tensor];
  if (loss_scale_of(run, tensor) == 1) return diff.error();
  const auto error = error_of(diff, run.divergence.loss_scale);
  return error ? std::optional(error->relative) : std::nullopt;
}

std::vector<std::string> kernels_of(const DiffResult& run, const std::vector<OperatorId>& operators,
                                    bool of_candidate) {
  std::vector<std::string> names;
  for (const OperatorId op : operators) {
    const OpPair& pair = run.pairing.operators[op];
    const SequencedOpId place = of_candidate ? pair.a : pair.b;
    if (place == kNoId) continue;
    names.push_back(
        kernel_name((of_candidate ? *run.a : *run.b).side, (of_candidate ? run.pairing.a : run.pairing.b)[place]));
  }
  return names;
}

MsprobeSettings msprobe_settings(const DiffResult& run, const UnseenCalls& calls, bool of_candidate) {
  return settings_for(calls, run.pairing, (of_candidate ? *run.a : *run.b).side, of_candidate);
}

}  // namespace msdump
