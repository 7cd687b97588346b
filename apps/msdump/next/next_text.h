// The answer of msdump next, as text and as members of its document.
#pragma once

#include <string>
#include <vector>

#include "next/next_plan.h"
#include "report/row_type.h"

namespace msdump::cli {

// The answer and its configurations; their texts are empty if nothing is asked.
struct NextAnswer {
  NextPlan plan;
  size_t round = 1;                            // that was compared
  std::string candidate = {}, reference = {};  // the texts of the configurations
  std::vector<std::string> written = {};       // paths
};

[[nodiscard]] std::vector<report::Column> next_columns(const std::vector<std::string>& dumps);  // DumpIndex::dumps
[[nodiscard]] const report::RowType<Suspect>& suspect_rows();
[[nodiscard]] std::vector<report::DocumentType> next_documents();
// state, rounds, pinned, nothing, question, outcomes, configuration, estimate, written.
[[nodiscard]] report::Object next_document(const NextAnswer& answer);
[[nodiscard]] std::string next_text(const NextAnswer& answer);

}  // namespace msdump::cli
