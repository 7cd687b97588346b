// The text of msdump diff for people: the first divergence in a few lines per root; one pair of tensors in full; the
// formulas.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "report/value.h"

namespace msdump::cli {

// "input 0 differs (relative error 0.83, worst 0.41 against 0.02 at [3,1]); and 2 more"
[[nodiscard]] std::string tensors_text(const DiffResult& run, const std::vector<TensorId>& tensors);
// The name of a side, with its rank and step if options give them, and what is known of it: "Ascend, bfloat16".
struct SideFacts {
  std::string name = {};
  bool of_device = false;
  DType dtype = DType::kUndefined;  // the coarsest that a tenth of its tensors of floating point have

  [[nodiscard]] std::string_view dtype_name() const {  // empty: not known
    return dtype == DType::kUndefined ? std::string_view() : name_of(dtype);
  }
};
[[nodiscard]] Sides<SideFacts> facts_of_sides(const DiffResult& run, const DiffOptions& options);
// "candidate NPU: Ascend, bfloat16 · reference CPU: float32"
[[nodiscard]] std::string roles_text(const DiffResult& run, const DiffOptions& options);
// A warning that the two sides look swapped: only the reference is a device's, or it is the coarser one. Empty if they do not.
[[nodiscard]] std::string swap_text(const DiffResult& run);
// The error of a tensor for people: "0.28 (871 as dumped)" if a loss scale was divided out, "nan (24 of 144)" if
// elements of one side are not finite. Empty if none is known.
[[nodiscard]] std::string error_text(const DiffResult& run, TensorId tensor);
// Elements that are not finite on one side only; none if that is not known.
[[nodiscard]] std::optional<uint64_t> nonfinite_of(const TensorDiff& diff);
// "gradients of the candidate are 1024 times the reference's: a loss scale, divided out"; empty for a scale of 1.
[[nodiscard]] std::string loss_scale_text(double scale);
// Says that steps before the first dumped one have left this error in its weights; empty for 0.
[[nodiscard]] std::string start_text(double error);

// The headline of a run that differs and has no root: "no operator stands out" with the reason; of checkpoints the parameters
// that differ.
[[nodiscard]] std::string rootless_text(const DiffResult& run);

// The roots with most evidence and the number of further ones; or that no operator stands out, and how the error grows.
[[nodiscard]] std::string divergence_text(const DiffResult& run);
// For a terminal: facts of roots that are wider than it are continued below their text. Lines that are copied, a configuration
// and code, stay as they are.
[[nodiscard]] std::string with_wrapped_facts(std::string_view text, size_t width);
// "next: COMMAND": the elements of the first root on both sides, or the next dump if there are none; empty without a root.
[[nodiscard]] std::string next_text(const DiffResult& run, const DiffOptions& options);
// A line for each reason why tensors have no partner although nothing is wrong; empty when there are none.
[[nodiscard]] std::string expected_text(const DiffResult& run);
// The elements of both sides of a tensor (--values SLICE): what differs, then the candidate's, then the reference's.
Result<std::string> values_text(const DiffResult& run, TensorId tensor, const std::string& slice);
// All metrics of the only pair, one per line.
[[nodiscard]] std::string pair_text(const DiffResult& run);
// The worst elements and the axes, if requested. `worst`: how many were asked for.
inline constexpr size_t kElementsShown = 20;
[[nodiscard]] std::string closer_text(const DiffResult& run, TensorId tensor, size_t worst);
[[nodiscard]] std::string metrics_text();

// The first few of a list: "a, b, and 3 more".
template <class Item, class Text>
[[nodiscard]] std::string first_of(const std::vector<Item>& list, const Text& text_of, size_t most = 4,
                                   std::string_view separator = ", ") {
  std::string joined;
  for (size_t i = 0; i < std::min(list.size(), most); ++i)
    joined += fmt::format("{}{}", i == 0 ? "" : separator, text_of(list[i]));
  return list.size() > most ? fmt::format("{}{}and {} more", joined, separator, list.size() - most) : joined;
}

// Adds one line, whatever its parts hold: names come from files, and a line end in a name would forge a line.
template <class... Parts>
void add_line(std::string& text, fmt::format_string<Parts...> format, Parts&&... parts) {
  text += escape_for_terminal(fmt::format(format, std::forward<Parts>(parts)...));
  text += '\n';
}

}  // namespace msdump::cli
