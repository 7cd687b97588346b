// What msprobe's own names mean for the catalogue.
#pragma once

#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "dump/names/identity.h"
#include "msprobe/names.h"

namespace msdump {

[[nodiscard]] Io io_of(MsprobeIo io);

// Fills `facts` from a file name in dump_tensor_data; false when it has none of msprobe's forms.
[[nodiscard]] bool take_msprobe_name(const FileContext& file, NameFacts& facts);

// The name of a file that no dump has named: its path below the catalogue's root, without the suffix.
[[nodiscard]] std::string_view foreign_name(const FileContext& file, size_t suffix_bytes);

// What names of dump files, and of arrays that were converted from them, mean for the catalogue.

void take_operator(const DumpFileName& name, NameFacts& facts);

// Fills `facts` with those of the file that the array came from, as its own family reads its name. The slot of a
// parameter's array stays empty (converted_name.h).
void take_converted_name(const FileContext& file, const ConvertedName& name, NameFacts& facts);

}  // namespace msdump
