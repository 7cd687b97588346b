#include "shared/opened_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump::cli {
namespace {

// With --ir alone open_graph() would read no dump.
GraphOptions with_dump(GraphOptions options) {
  if (!has_dump(options)) options.dump.options = {"."};
  return options;
}

// The lines and edges of another network's IR would be wrong for all.
void use_graph(Session& session, const OpenedGraph& opened, std::span<const std::string> watched, DumpWithGraph& dump) {
  if (!opened.joined || opened.joined->join.matched_operators() == 0) return;
  const FileJoin& join = opened.joined->join;
  const check::Watched outputs{watched_outputs(*dump.index, *dump.tensors, watched)};
  const std::vector<bool> snapshots = outputs.snapshots(dump.tensors->size());  // no operator has such a name
  const ExplainedGroups groups = join.explained(
      [&](const TensorGroup& group) { return opened.selects(group) && !snapshots[join.tensors_of(group).front()]; });
  if (!groups.mostly()) {
    session.messages.warning(
        fmt::format("the IR has {} of the {}; it is not used", groups.explained, plural(groups.all, "dumped operator")),
        "it belongs to another network or another version of the script; --ir names the right one");
    return;
  }
  dump.graph = &opened.graph();
  dump.join = &opened.joined->join;
}

}  // namespace

Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const GraphOptions& options, check::RuleSet rules,
                                                std::span<const std::string> watched, Headers headers) {
  auto check = std::make_unique<OpenedCheck>();
  MSDUMP_TRY(check->opened, open_graph(session.context, with_dump(options), {{}, headers}));
  const OpenedGraph& opened = check->opened;
  const bool no_ir = opened.graph().size() == 0 && opened.loaded->failures.empty();
  if (!options.ir.empty() && no_ir)
    return fail(make_error(ErrorCode::kUsage, "--ir: no IR in {}", fmt::join(options.ir, ", ")));
  DumpWithGraph dump{&opened.catalogue->index, &opened.catalogue->list.tensors()};
  dump.arguments = &opened.catalogue->list.arguments();
  dump.overflows = &opened.catalogue->list.overflows();
  use_graph(session, opened, watched, dump);
  check->run = std::make_unique<check::CheckRun>(dump, std::move(rules), watched);
  check->run->choose([&](const TensorRecord& record, const Identity& identity) {
    return opened.selects(record) && (opened.operators.everything() || opened.operators.matches_file(identity));
  });
  for (const Error& error : opened.loaded->failures) check->run->listing_failures.push_back(&error);
  for (const Error& error : opened.catalogue->list.failures()) check->run->listing_failures.push_back(&error);
  return check;
}

}  // namespace msdump::cli
