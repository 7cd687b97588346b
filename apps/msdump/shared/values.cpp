#include "shared/values.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frame/usage.h"
#include "io/dir_walk.h"
#include "tensor/shape.h"

namespace msdump::cli {
namespace {

// "(2, 3)", "(2,)"
std::string python_shape(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace

bool chooses_tensors(const SelectionOptions& selection) {
  return !(selection.rank + selection.graph + selection.step + selection.regex).empty() || !selection.op.empty() ||
         !selection.op_type.empty();
}

Option values_option(ValuesOption& option, std::string help) {
  const auto take = [&option](const std::string& typed) { option = {true, typed}; };
  return {.names = "--values",
          .other_names = "show view cat print value read load data head get fetch peek",
          .is_common = true,
          .value = OptionValue::optional_text(take, "[SLICE]"),
          .group = kOutputGroup,
          .help = std::move(help) + "; SLICE chooses a part as numpy does: 0,:,2:5  ...,-1  ::2"};
}

void take_back_path(ValuesOption& option, std::vector<std::string>& paths, bool is_path) {
  if (option.slice.empty()) return;
  const bool exists = path_kind(option.slice) != PathKind::kMissing;
  if (looks_like_index(option.slice) && !(is_path && exists)) return;
  if (!is_path && !exists)
    throw UsageError("--values: '" + option.slice + "' is neither an index nor a path",
                     "write an index as in numpy: 0,:,2:5  ...,-1  ::2");
  paths.insert(paths.begin(), std::exchange(option.slice, {}));
}

Result<ShownTensor> show_tensor(HostTensor& tensor, const std::string& slice, bool for_people) {
  ArrayView view = whole_view(tensor.shape());
  if (!slice.empty()) {
    MSDUMP_TRY(view, index_view(slice, tensor.shape()));
  }
  ShownTensor shown{{}, tensor.original_dtype()};
  MSDUMP_TRY(shown.array, read_shown(tensor, view, {for_people}));
  MSDUMP_CHECK_OK(tensor.check_unchanged());
  return shown;
}

std::string shown_text(std::string_view label, const std::string& slice, const ShownTensor& shown) {
  const std::string part = slice.empty() ? "" : fmt::format("[{}]", slice);
  return fmt::format("{}{}  {} {}\n{}", label, part, name_of(shown.dtype), python_shape(shown.array.shape),
                     array_text(shown.array));
}

}  // namespace msdump::cli
