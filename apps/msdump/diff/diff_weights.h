// diff --weights: of which version of the reference each parameter of the candidate is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/parameters/parameter_versions.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"
#include "report/row_type.h"
#include "report/value.h"

namespace msdump::cli {

struct WeightVersion {
  std::string path;
  std::optional<int64_t> step;  // of several in one path
};

struct WeightVersions {
  std::vector<WeightVersion> versions;
  ParameterVersions found;  // by `versions`

  [[nodiscard]] bool several() const { return versions.size() > 1; }
};

// The comparison with the version that most parameters are of, which `options` name afterwards; with --weights, of all versions
// of the reference, which `versions` has then. `rules` are those of that comparison.
Result<DiffResult> compute_diff_of_versions(Session& session, DiffOptions& options, DiffRules& rules,
                                            WeightVersions& versions);

// "weights: 16 of 18 parameters are those of ckpt, step 42", and a line for each group of others; empty unless there are
// several versions.
[[nodiscard]] std::string weights_text(const WeightVersions& versions);
// `weights` of the document; null unless there are several versions.
[[nodiscard]] report::Value weights_value(const WeightVersions& versions);
[[nodiscard]] const report::ObjectType& weights_type();

}  // namespace msdump::cli
