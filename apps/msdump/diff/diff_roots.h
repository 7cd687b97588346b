// The answer of msdump diff: its roots, for the text, first_divergence and the page of --report; and the account of --explain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "divergence/dump_diff.h"
#include "report/value.h"

namespace msdump::cli {

struct RootFact {
  std::string_view label;  // line, in, out, why, or, dump, error, and, so
  std::string text;
  std::string_view long_label = label;  // if there is room for words
  bool is_code = false;                 // a piece of a configuration
};

// The operator, or the value that enters the graph.
[[nodiscard]] std::string root_name(const DiffResult& run, const Divergence& root);
// " (Mul, rank 0, step 1)"
[[nodiscard]] std::string root_place(const DiffResult& run, const Divergence& root);
// In the order of the text.
[[nodiscard]] std::vector<RootFact> root_facts(const DiffResult& run, const Divergence& root);
// first_divergence
[[nodiscard]] report::List divergences_value(const DiffResult& run);

// --explain: the account of one operator, run by run.
[[nodiscard]] std::string explain_text(const DiffResult& run);
[[nodiscard]] report::List explain_value(const DiffResult& run);

}  // namespace msdump::cli
