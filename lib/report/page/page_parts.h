// The files of this folder that a page is made of, as text; CMake puts them into the program.
#pragma once

#include <string_view>

namespace msdump::report {

extern const std::string_view kPageSkeleton;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
extern const std::string_view kChartStyle, kChartScript;  // of dygraphs
extern const std::string_view kChartLicence;
// SHA-256 of the scripts in hexadecimal digits.
extern const std::string_view kPageScriptHash, kChartScriptHash;

}  // namespace msdump::report
