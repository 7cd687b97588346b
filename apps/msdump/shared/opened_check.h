// A dump that is opened for a check.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "check/check.h"
#include "frame/subcommand.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

struct OpenedCheck {
  OpenedGraph opened;
  std::unique_ptr<check::CheckRun> run;

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
  [[nodiscard]] bool has_tensors() const { return !opened.catalogue->list.tensors().empty(); }
};

// `watched`: globs of operators whose outputs were watched. Reads no tensor yet. Must not move: `run` refers to `opened`.
Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const GraphOptions& options, check::RuleSet rules,
                                                std::span<const std::string> watched,
                                                Headers headers = Headers::kWhereNeeded);

}  // namespace msdump::cli
