// The data files of this folder, as text. Each says in its head what a line is and where the knowledge comes from.
#pragma once

#include <string_view>

namespace msdump::ge {

extern const std::string_view kArgumentsCsv, kOperatorsCsv, kInsertedCsv, kNoKernelTxt, kPropertiesCsv, kRewritesTxt;

}  // namespace msdump::ge
