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

class RootReport {
 public:
  RootReport(const DiffResult& run, const Divergence& root) : run_(run), root_(root) {}

  // The operator, or the value that enters the graph.
  [[nodiscard]] std::string name() const;
  // " (Mul, rank 0, step 1)"
  [[nodiscard]] std::string place() const;
  // In the order of the text.
  [[nodiscard]] std::vector<RootFact> facts() const;
  // "it explains 6 differences; confidence 0.95; the error grows 3 times"; else from the confidence, "0.95; .."
  [[nodiscard]] std::string effect(bool with_differences = true) const;
  // The same as an entry of first_divergence.
  [[nodiscard]] report::Object object() const;

 private:
  void add_others(std::vector<RootFact>& facts) const;
  [[nodiscard]] std::string chain_text() const;
  [[nodiscard]] std::string places_text() const;
  [[nodiscard]] report::Value dump_config() const;
  [[nodiscard]] report::Value gradient_cut() const;
  [[nodiscard]] report::List evidence(const std::vector<TensorId>& tensors) const;
  [[nodiscard]] report::List candidates() const;

  const DiffResult& run_;
  const Divergence& root_;
};

// first_divergence
[[nodiscard]] report::List divergences_value(const DiffResult& run);

// --explain: the account of one operator, run by run.
[[nodiscard]] std::string explain_text(const DiffResult& run);
[[nodiscard]] report::List explain_value(const DiffResult& run);

}  // namespace msdump::cli
