// The list of what became of a file, for a part of a run (parts/fact_codec.h).
#pragma once

#include "convert/convert.h"
#include "convert/file_converter.h"
#include "parts/fact_codec.h"

namespace msdump {

void fields(auto& visit, FieldsOf<ConvertRow> auto& value) {
  MSDUMP_FIELDS(input, tensor, output, from_format, to_format, dtype, npy_dtype, shape, policy, status);
}
void fields(auto& visit, FieldsOf<TensorWarning> auto& value) { MSDUMP_FIELDS(tensor, text); }
void fields(auto& visit, FieldsOf<LongName> auto& value) { MSDUMP_FIELDS(folder, mapped, original); }
void fields(auto& visit, FieldsOf<FileOutcome> auto& value) {
  MSDUMP_FIELDS(path, not_a_dump, interrupted, rows, failures, warnings, long_names, bytes_in, bytes_out);
}

}  // namespace msdump
