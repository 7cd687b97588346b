// Goldens: writes what outputs should be as files (golden tensors), and judges outputs against it by a precision standard of CANN.
//
// A golden is the answer of the kernel that fits the output best, in double, rounded to the output's dtype. Its file has the name
// that convert gives the output, so that diff pairs the two. An output that is not computed in full has none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "convert/convert.h"
#include "convert/output_tree.h"
#include "recompute/recompute.h"
#include "recompute/standard.h"

namespace msdump::recompute {

struct GoldenRequest {
  std::string folder;   // where the files go; empty: none are written
  std::string version;  // of msdump
  std::optional<Standard> standard;
  // The output of another device for the same inputs, for levels of a standard. Called by several threads.
  std::function<Maybe<Tensor>(TensorId tensor)> reference;

  [[nodiscard]] bool is_empty() const { return folder.empty() && !standard; }
};

struct GoldenOutput {
  TensorId tensor;
  std::string_view type;            // of the operator
  std::optional<std::string> path;  // relative to the folder; none: not written
  std::optional<StandardVerdict> verdict;
  std::optional<Unjudged> why;  // it has no golden, or the standard does not judge it
};

class Goldens {
 public:
  // The objects must outlive it. Of two outputs with one name, the first in the order of executions has it.
  Goldens(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<bool>& chosen,
          const GoldenRequest& request, const CancelToken& cancel);

  // Makes the folder.
  [[nodiscard]] Status begin();
  // RecomputeOptions::golden. Thread-safe.
  void take(const ComputedOutput& output);
  // The chosen outputs of the executions that were judged, in their order. Adds what could not be written to `failures`.
  [[nodiscard]] std::vector<GoldenOutput> finish(const std::vector<OperatorJudgement>& judgements,
                                                 std::vector<Error>& failures);

 private:
  struct FileName {
    std::string folder;
    OutputName name;
    [[nodiscard]] std::string path() const;
  };
  [[nodiscard]] FileName file_of(TensorId tensor) const;
  Status write(const ComputedOutput& output, GoldenOutput& golden);
  void judge(const ComputedOutput& output, GoldenOutput& golden) const;

  const DumpWithGraph& dump_;
  const RunGraph& flow_;
  const std::vector<bool>& chosen_;
  const GoldenRequest& request_;
  const ConvertOptions options_;
  const SettingsFile settings_;
  OutputTree tree_;
  std::map<std::string, TensorId> owners_;  // of the paths
  std::mutex mutex_;
  std::map<TensorId, std::pair<GoldenOutput, Status>> taken_;
};

}  // namespace msdump::recompute
