// The data files of this folder, as text. The head of each describes its lines and names the sources.
#pragma once

#include <string_view>

namespace msdump::ge {

extern const std::string_view kArgumentsCsv, kOperatorsCsv, kInsertedCsv, kNoKernelTxt, kPropertiesCsv, kRewritesTxt;

}  // namespace msdump::ge
