// The tables of keys (config/keys.h) as text: data_dump.keys, msprobe.keys, acl.keys.
#pragma once

#include <string_view>

namespace msdump {

extern const std::string_view kDataDumpKeys, kMsprobeKeys, kAclKeys;

}  // namespace msdump
