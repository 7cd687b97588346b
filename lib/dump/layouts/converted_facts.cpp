#include "dump/layouts/converted_facts.h"

#include <algorithm>
#include <array>

#include "dump/layouts/msprobe_facts.h"

namespace msdump {

void take_operator(const DumpFileName& name, NameFacts& facts) {
  facts.op_type = name.op_type;
  facts.op_name = name.op_name;
  facts.task_id = name.task_id;
  facts.stream_id = name.stream_id;
  facts.timestamp = name.timestamp;
}

void take_converted_name(const FileContext& file, const ConvertedName& name, NameFacts& facts) {
  if (name.file.empty()) {
    facts.op_type = "Parameter";
    facts.io = Io::kParameter;
    if (name.shape) {
      facts.op_name = name.parameter;
      facts.slot = name.slot;
    }
  } else {
    const FileContext source{name.file, file.folder, file.identity, file.arena};
    const std::array families = {&ascend_family(), &raw_bin_family(), &raw_family(), &atb_family()};
    const bool known = std::any_of(families.begin(), families.end(), [&](const Family* family) {
      facts = {};
      return family->claim(source, facts) == Claim::kByName;
    });
    if (!known) {
      facts = {};
      facts.op_name = foreign_name(source, 0);
    }
    if (facts.io != Io::kParameter) facts.io = facts.op_type == "Parameter" ? Io::kParameter : name.io;
    facts.slot = name.slot;
  }
  facts.format = name.format;
  facts.dtype = name.dtype.value_or(DType::kUndefined);
}

}  // namespace msdump
