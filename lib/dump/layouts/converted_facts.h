// What names of dump files, and of arrays that were converted from them, mean for the catalogue.
#pragma once

#include "dump/layouts/family.h"
#include "dump/names/converted_name.h"
#include "dump/names/file_name.h"
#include "dump/names/identity.h"

namespace msdump {

void take_operator(const DumpFileName& name, NameFacts& facts);

// Fills `facts` with those of the file that the array came from, as its own family reads its name. The slot of a
// parameter's array stays empty (converted_name.h).
void take_converted_name(const FileContext& file, const ConvertedName& name, NameFacts& facts);

}  // namespace msdump
