// diff_table(): the rows of msdump diff that answer its question, those first that do: of the causes, of what reads them, and
// what nobody explains, the largest error first. What is left out is counted.
#pragma once

#include <string>
#include <vector>

#include "diff/diff_options.h"
#include "diff/diff_rows.h"

namespace msdump::cli {

struct DiffTable {
  std::vector<DiffRow> rows;
  std::string left_out;  // lines of counts; empty: nothing is left out
};

// With --json, --csv and --jsonl, all rows in the order of reports, unless --rows or --top chooses.
[[nodiscard]] DiffTable diff_table(const DiffResult& run, const DiffOptions& options);

// By Pairing::tensors: those that differ of an operator that is a root and of its further places, or the value that enters the
// graph and is one.
[[nodiscard]] std::vector<bool> rows_of_causes(const DiffResult& run);

}  // namespace msdump::cli
