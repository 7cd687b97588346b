// Joins the rows of tables to the tensors in files that they describe. Internal to lib/dump.
#pragma once

#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"

namespace msdump {

struct TableReference {
  size_t record = 0;           // whose row it is
  std::string_view data_name;  // msprobe's dump.json names the file itself
};

// A row about a tensor in a file gives that record its `table` and the facts that the file lacks, and is removed. A row
// of statistic.csv is about the tensor in the same folder with the same op type, op name, io and slot; of several (a
// loop) the one with its time stamp, else the next in order of time. A row of dump.json names its file.
// `references` in the order of the records.
void join_tables(const DumpIndex& index, std::vector<TensorRecord>& tensors,
                 const std::vector<TableReference>& references);

// The order of tensors in reports, and which run of its operator a tensor belongs to. Internal to lib/dump.

// Sets `occurrence` and `claimed_twice` and sorts: see TensorList::tensors.
void sort_tensors(const DumpIndex& index, std::vector<TensorRecord>& tensors);

}  // namespace msdump
