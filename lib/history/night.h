// A night: what one comparison of a stored reference said. history.jsonl has a line for each, in the order in which they were
// appended:
//
//   {"schema": 1, "time": "2026-11-29T02:00:00Z", "version": "0.1.0", "outcome": "red", "exit_code": 1, "verdict": "differ",
//    "compared": 812, "differ": 40, "accepted": 2, "failed": 0,
//    "root": {"op_name", "op_type", "rank", "step", "file", "line", "decided_by", "confidence", "reason"} or null,
//    "scopes": [{"scope": "Default/layer1", "error": 0.0021, "differ": 3, "first": 12, "accepted": 0.0}, ...]}
//
//   1. outcome    red: diff failed (what --fail-on is for); green: it did not; not_judged: an input could not be read, or no
//                 tensor was compared
//   2. scopes     layers (graph/scope_name.h) in the order of the data flow, at the depth at which there are at most
//                 kMostScopes. The error is the largest relative L2 of their outputs and parameters; inf for NaN and for
//                 another shape. Random numbers and memory that nobody wrote do not count
//   3. texts      at most kMostNameBytes
//
// Documents and lines may be cut or hostile: a document is kBadJson or kUsage then, a line is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/value.h"

namespace msdump::history {

inline constexpr size_t kMostScopes = 32, kMostNameBytes = 300;

enum class Outcome : uint8_t { kGreen, kRed, kNotJudged };
[[nodiscard]] constexpr Outcome last_of(Outcome) { return Outcome::kNotJudged; }
[[nodiscard]] std::string_view name_of(Outcome outcome);  // "green", "red", "not_judged"

struct NightRoot {
  std::string op_name, op_type;
  std::optional<int64_t> rank, step, line;
  std::string file, decided_by, reason;
  double confidence = 0;
};

struct ScopeError {
  std::string scope;
  double error = 0;
  int64_t differ = 0;  // tensors
  int64_t first =
      0;  // the row of the first tensor with half of the error: a layer may be called before and after a fault
  double accepted = 0;  // the largest error that --baseline accepts
};

struct Night {
  std::string time, version;
  Outcome outcome = Outcome::kNotJudged;
  int64_t exit_code = 0;  // that of diff without --exit-zero
  std::string verdict;    // same, close, differ; empty: none
  int64_t compared = 0, differ = 0, accepted = 0, failed = 0;
  std::optional<NightRoot> root;  // the first
  std::vector<ScopeError> scopes;
};

// Of the document that msdump diff --json printed, without its time. Rows are parsed one at a time.
[[nodiscard]] Result<Night> night_of_document(std::string_view text);

[[nodiscard]] report::Object object_of(const Night& night);
[[nodiscard]] std::string line_of(const Night& night);  // with its end
[[nodiscard]] std::optional<Night> parse_line(std::string_view line);

struct Nights {
  std::vector<Night> nights;
  size_t unreadable = 0;  // lines
  bool is_cut = false;    // the last line has no end
};
[[nodiscard]] Nights parse_history(std::string_view text);
// The last 32 MiB of a file; none if it is missing.
[[nodiscard]] Result<Nights> read_history(const std::string& path);

}  // namespace msdump::history
