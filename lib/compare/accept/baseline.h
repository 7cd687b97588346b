// Baseline: the differences that somebody has reviewed and accepted, as a file for version control.
//
//   {"schema": 1, "command": "diff-baseline",
//    "made_of": {"version": "0.1.0", "candidate": {"writer": "MindSpore 2.10.0", "content": "tensors, float32", "ranks": 1,
//      "operators": 812, "graph": "digest", "configuration": "data_dump.json digest"}, "reference": {..}},
//    "accepted": [
//     {"rank": 0, "graph": null, "step": 1, "op_name": "..", "io": "output", "slot": 0, "occurrence": 0,
//      "verdict": "differ", "relative_l2": 0.0124, "max_abs": 1.5, "mismatches": 0},     one line each
//   ...]}
//
//   1. what is accepted    a difference of the same tensor and the same verdict whose relative_l2, max_abs and number of
//                          mismatches (NaN or an infinity on one side) are at most 1 % larger than recorded. For tensors
//                          compared by statistics relative_l2 is TensorDiff::relative_error and mismatches is the
//                          difference of the counts of NaN
//   2. numbers             rounded up to three digits, so that noise in the last ones makes no new line in a review;
//                          "inf" for infinity; null: there was none, and none is checked
//   3. lines               sorted by rank, graph, step, op_name, io, slot, occurrence; all keys are required, others are
//                          ignored; bytes of a name that are not UTF-8 stand as \udcXX
//   4. made_of             may be missing, as any of its values, which are then unknown: files of versions before it
//
// Bounds for reading and writing: 32 MiB, 100,000 differences.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/pair/tensor_diff.h"
#include "compare/sides.h"
#include "dump/names/identity.h"

namespace msdump {

// Identifies a row of diff.
struct TensorKey {
  std::optional<int64_t> rank, graph, step;
  std::string op_name;
  Io io = Io::kOutput;
  std::string slot;
  uint32_t occurrence = 0;
  std::string dump = {};  // of several below one path (DumpIndex::dumps())

  auto operator<=>(const TensorKey&) const = default;
};

struct AcceptedDifference {
  Verdict verdict = Verdict::kDiffer;
  std::optional<double> relative_l2, max_abs;
  uint64_t mismatches = 0;
  bool used = false;  // accepted a difference
};

// One of the two dumps that a baseline was written for. An empty text, or 0, is unknown.
struct BaselineSide {
  std::string writer;   // "MindSpore 2.10.0"
  std::string content;  // how it was dumped: "tensors, float32"
  int64_t ranks = 0;    // of the run
  int64_t operators = 0;
  std::string graph;          // a digest of the operators' names without their numbers, in no order
  std::string configuration;  // the name of the file that the dump was configured with, and a digest of its settings
};
struct BaselineOrigin {
  std::string version;  // of msdump
  Sides<BaselineSide> sides;
};
// Why accepted differences of `then` say nothing about `now`: another writer, content, configuration or number of ranks on
// either side, or another graph of the reference. The candidate's graph is what is tested. Empty: they still fit, or nothing is known.
[[nodiscard]] std::string why_stale(const BaselineOrigin& then, const BaselineOrigin& now);

// Not thread-safe.
class Baseline {
 public:
  // kBadJson with line, column and what was expected.
  static Result<Baseline> parse(std::string_view text);
  static Result<Baseline> read(const std::string& path);

  // Records a difference; ignores other verdicts.
  void add(const TensorKey& key, const TensorDiff& diff);
  [[nodiscard]] bool accepts(const TensorKey& key, const TensorDiff& diff);

  void set_origin(BaselineOrigin origin) { origin_ = std::move(origin); }
  [[nodiscard]] const std::optional<BaselineOrigin>& origin() const { return origin_; }

  [[nodiscard]] Result<std::string> text() const;
  Status write(const std::string& path) const;

  [[nodiscard]] const std::map<TensorKey, AcceptedDifference>& accepted() const { return accepted_; }
  // Entries that accepted nothing, in order: the difference is gone or has grown.
  [[nodiscard]] std::vector<const TensorKey*> unused() const;

 private:
  std::map<TensorKey, AcceptedDifference> accepted_;
  std::optional<BaselineOrigin> origin_;
};

}  // namespace msdump
