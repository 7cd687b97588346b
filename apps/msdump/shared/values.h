// --values [SLICE]: the elements of tensors, or the part of them that an index as numpy writes it chooses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/selection.h"
#include "frame/options.h"
#include "info/shown_array.h"
#include "tensor/dtype.h"

namespace msdump::cli {

struct ValuesOption {
  bool given = false;
  std::string slice;  // empty: everything
};
[[nodiscard]] Option values_option(ValuesOption& option, std::string help);
// Gives back the path of `--values PATH` as the first of `paths`. If `needs_path`, what looks like an index may be one. Throws
// UsageError for what is neither.
void take_back_path(ValuesOption& option, std::vector<std::string>& paths, bool needs_path);

// True if tensors are chosen by what they are, and not by their file.
[[nodiscard]] bool chooses_tensors(const SelectionOptions& selection);

struct ShownTensor {
  ShownArray array;
  DType dtype = DType::kUndefined;  // of the framework's tensor
};
// For people large arrays are summarised.
Result<ShownTensor> show_tensor(HostTensor& tensor, const std::string& slice, bool for_people);
// "output:0[0,:]  float16 (2, 3)" and a line end, then the elements. `label` names the tensor.
[[nodiscard]] std::string shown_text(std::string_view label, const std::string& slice, const ShownTensor& shown);

}  // namespace msdump::cli
