// Facts of the names that several families read: those of msprobe, of dump files, and of arrays converted from them.
#pragma once

#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "dump/names/identity.h"
#include "msprobe/names.h"

namespace msdump {

[[nodiscard]] Io io_of(MsprobeIo io);

// Fills `facts` from a file name in dump_tensor_data. False if the name has none of msprobe's forms.
[[nodiscard]] bool take_msprobe_name(const FileContext& file, NameFacts& facts);

// Likewise from a name of ptdbg_ascend, in any folder.
[[nodiscard]] bool take_ptdbg_name(const FileContext& file, NameFacts& facts);

// The operator name of a file that is named freely: its path below the root of the catalogue, without the suffix.
[[nodiscard]] std::string_view foreign_name(const FileContext& file, size_t suffix_bytes);

void take_operator(const DumpFileName& name, NameFacts& facts);

// Fills `facts` from the name of the file that an array came from, as the family of that file reads it. For a parameter
// without a known shape, name and slot stay empty: only the shape shows the end of the name.
void take_converted_name(const FileContext& file, const ConvertedName& name, NameFacts& facts);

}  // namespace msdump
