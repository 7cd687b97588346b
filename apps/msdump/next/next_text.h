// What msdump next says: for people, and as members of its document.
#pragma once

#include <string>
#include <vector>

#include "next/next_plan.h"
#include "report/row_sink.h"

namespace msdump::cli {

// What was written, or would be; the texts of configurations are empty where nothing is asked.
struct NextAnswer {
  const NextPlan& plan;
  size_t round = 1;                       // that was compared
  std::string candidate, reference;       // the texts of the configurations
  std::vector<std::string> written = {};  // paths
};

[[nodiscard]] std::vector<report::Column> next_columns();
[[nodiscard]] report::Row suspect_row(const Suspect& suspect);
// state, rounds, pinned, question, outcomes, configuration, estimate, written.
[[nodiscard]] report::Object next_document(const NextAnswer& answer);
[[nodiscard]] std::string next_text(const NextAnswer& answer);

}  // namespace msdump::cli
