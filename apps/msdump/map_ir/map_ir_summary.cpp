#include "map_ir/map_ir_summary.h"

#include <fmt/format.h>

#include "graph/operator_files.h"
#include "shared/identity_row.h"

namespace msdump::cli {
namespace {

constexpr size_t kUnmatchedShown = 20;

}  // namespace

JoinSummary::JoinSummary(const OpenedGraph& opened) : opened_(opened), counts_(count_joined(opened)) {}

report::Object JoinSummary::counts() const {
  report::Object counts;
  counts.add("parsed", opened_.loaded->parsed).add("nodes", opened_.loaded->expected);
  counts.add("matched_operators", counts_.matched_operators).add("unmatched_operators", counts_.unmatched_operators);
  counts.add("matched_files", counts_.matched_files).add("unmatched_files", counts_.unmatched_files);
  return counts;
}

report::Object JoinSummary::further(const RunContext& context, OpenedGraph& opened) const {
  report::Object further;
  if (!opened_.joined) return further;
  const Numbering& choice = opened_.joined->join.numbering();
  report::Object numbering;
  numbering.add("renumbered", choice.renumbered).add("confidence", choice.confidence);
  numbering.add("agreeing", choice.agreeing).add("contradicting", choice.contradicting);
  numbering.add("evidence", choice.evidence.empty() ? report::Value() : report::Value(choice.evidence));
  further.add("numbering", std::move(numbering));
  report::List unmatched;
  const FileJoin& join = opened_.joined->join;
  context.pool.ordered_for(
      static_cast<int64_t>(counts_.unmatched_groups.size()),
      [&](int64_t i) {
        if (context.cancel.cancelled()) return OperatorFiles();
        return files_of_groups(opened_, {counts_.unmatched_groups[static_cast<size_t>(i)]}, Detail::kHeaders);
      },
      [&](int64_t i, OperatorFiles&& files) {
        opened.add_failures(std::move(files.failures));
        const std::string reason = join.reason(join.groups()[counts_.unmatched_groups[static_cast<size_t>(i)]]);
        for (const TensorRecord& tensor : files.tensors) {
          report::Object file = identity_object(opened_.catalogue->index, tensor);
          file.add("reason", reason);
          unmatched.emplace_back(std::move(file));
        }
      });
  further.add("unmatched_files", std::move(unmatched));
  return further;
}

std::string JoinSummary::text() const {
  std::string text = fmt::format("parsed {} of {}", opened_.loaded->parsed, opened_.loaded->expected);
  if (!opened_.joined) return text;
  return text + fmt::format("; {} of {} operators have files, {} of {} files have an operator",
                            counts_.matched_operators, counts_.matched_operators + counts_.unmatched_operators,
                            counts_.matched_files, counts_.matched_files + counts_.unmatched_files);
}

void JoinSummary::name_unmatched_files(Session& session) const {
  for (size_t i = 0; i < counts_.unmatched_groups.size() && i < kUnmatchedShown; ++i) {
    const TensorGroup& group = opened_.joined->join.groups()[counts_.unmatched_groups[i]];
    const std::string place = group.rank ? fmt::format(" of rank {}", *group.rank) : std::string();
    session.messages.note(fmt::format("{}{}: {}", group.op_name, place, opened_.joined->join.reason(group)));
  }
}

}  // namespace msdump::cli
