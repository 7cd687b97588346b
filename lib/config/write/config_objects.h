// The configuration of each tool as an object, before it is written; write_config chooses. The request has a release and
// a device. kUsage as write_config has it; what lint_config finds too is left to it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/write/dump_request.h"
#include "report/value.h"

namespace msdump {

[[nodiscard]] Result<report::Object> data_dump_object(const DumpRequest& request);
[[nodiscard]] Result<report::Object> msprobe_object(const DumpRequest& request);
[[nodiscard]] Result<report::Object> acl_object(const DumpRequest& request);

// Ascending numbers as single ones and ranges: {"1", "3-5"}. Repeated numbers count once.
[[nodiscard]] std::vector<std::string> range_texts(std::span<const int64_t> numbers);
// "1|3-5"; kUsage beyond `most` items.
[[nodiscard]] Result<std::string> steps_text(std::span<const int64_t> steps, size_t most);

}  // namespace msdump
