// The elements of a file's tensors, for msdump info --values.
#pragma once

#include "info/file_facts.h"
#include "info/info_run.h"
#include "info/info_text.h"

namespace msdump::cli {

// Adds them to the text or to the detail: with one tensor under "values", with several under "values" of each of
// "tensors". Null if they cannot be read, which is a failure of the run.
void add_values(InfoTask& task, const DumpIndex& index, const FileFacts& facts, report::Object& detail, InfoText& text);

}  // namespace msdump::cli
