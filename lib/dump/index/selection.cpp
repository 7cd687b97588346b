#include "dump/index/selection.h"

#include <algorithm>

#include <re2/re2.h>

#include "base/text.h"

namespace msdump {

struct Selection::Rules {
  IntRanges rank, graph, step;
  std::vector<std::string> op, op_type;
  std::vector<std::string> parameter;  // `op` in the spelling of MindSpore 2.7 for parameters: w_1 for w.1
  std::unique_ptr<re2::RE2> regex;
  std::optional<Io> io;
  std::string slot;
};

namespace {

Result<IntRanges> compile_ranges(std::string_view option, const std::string& text) {
  if (text.empty()) return IntRanges{};
  auto ranges = IntRanges::parse(text);
  if (!ranges) ranges.error().message = fmt::format("{}: {}", option, ranges.error().message);
  return ranges;
}

bool matches_number(const IntRanges& wanted, const std::optional<int64_t>& value) {
  return wanted.empty() || (value && wanted.contains(*value));
}

bool matches_any(const std::vector<std::string>& globs, std::string_view text) {
  return globs.empty() ||
         std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, text); });
}

}  // namespace

Selection::Selection() : rules_(std::make_unique<Rules>()) {}
Selection::Selection(Selection&&) noexcept = default;
Selection& Selection::operator=(Selection&&) noexcept = default;
Selection::~Selection() = default;

Result<Selection> Selection::compile(const SelectionOptions& options) {
  Selection selection;
  Rules& rules = *selection.rules_;
  MSDUMP_TRY(rules.rank, compile_ranges("--rank", options.rank));
  MSDUMP_TRY(rules.graph, compile_ranges("--graph", options.graph));
  MSDUMP_TRY(rules.step, compile_ranges("--step", options.step));
  rules.op = options.op;
  for (std::string glob : options.op) {
    std::replace(glob.begin(), glob.end(), '/', '_');
    rules.op.push_back(glob);
    std::replace(glob.begin(), glob.end(), '.', '_');
    rules.parameter.push_back(std::move(glob));
  }
  rules.op_type = options.op_type;
  rules.slot = options.slot;
  if (!options.regex.empty()) {
    re2::RE2::Options quiet;
    quiet.set_log_errors(false);
    rules.regex = std::make_unique<re2::RE2>(options.regex, quiet);
    if (!rules.regex->ok()) return fail(ErrorCode::kUsage, "--regex: {}", rules.regex->error());
  }
  if (options.io == "input") rules.io = Io::kInput;
  if (options.io == "output") rules.io = Io::kOutput;
  if (options.io == "parameter") rules.io = Io::kParameter;
  if (!options.io.empty() && !rules.io)
    return fail(ErrorCode::kUsage, "--io: '{}' is neither input, output nor parameter", options.io);
  return selection;
}

bool Selection::matches_any_step(const Identity& identity) const {
  return matches_number(rules_->rank, identity.rank) && matches_number(rules_->graph, identity.graph);
}

bool Selection::matches_folder(const Identity& identity) const {
  return matches_any_step(identity) && matches_number(rules_->step, identity.step);
}

bool Selection::matches_file(const Identity& identity) const {
  const Rules& rules = *rules_;
  if (!matches_folder(identity)) return false;
  const NameFacts& name = identity.name;
  const bool is_named = matches_any(rules.op, name.op_name) ||
                        (name.op_type == "Parameter" && matches_any(rules.parameter, name.op_name));
  if (!is_named || !matches_any(rules.op_type, name.op_type)) return false;
  return !rules.regex ||
         re2::RE2::PartialMatch(re2::StringPiece(identity.name.op_name.data(), identity.name.op_name.size()),
                                *rules.regex);
}

bool Selection::matches_tensor(Io io, std::string_view slot) const {
  if (rules_->io && *rules_->io != io) return false;
  return rules_->slot.empty() || rules_->slot == slot;
}

bool Selection::everything() const {
  const Rules& rules = *rules_;
  return rules.rank.empty() && rules.graph.empty() && rules.step.empty() && rules.op.empty() && rules.op_type.empty() &&
         !rules.regex && !rules.io && rules.slot.empty();
}

}  // namespace msdump
