// The last steps of TensorList: rows of tables are joined to the tensors that they describe, and all records are sorted.
#pragma once

#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"

namespace msdump {

struct TableReference {
  size_t record = 0;           // the record of the row
  std::string_view data_name;  // the file that a row of dump.json names
};

// Removes each row about a tensor in a file; its record gets the `table` and the facts that the file lacks. A row of
// statistic.csv is about the tensor in the same folder with the same op type, op name, io and slot. Of several (a loop) it
// is the one with the row's time stamp, else the next in order of time. A row of dump.json names its file. `references`
// are in the order of the records.
void join_tables(const DumpIndex& index, std::vector<TensorRecord>& tensors,
                 const std::vector<TableReference>& references);

// Makes outputs of an execution of what looks like parameters: a dict of activations for each pass, pass_0.pt, pass_1.pt. Their
// tokens or batch change from file to file, so most tensors that the files of a folder have in common differ in one axis.
// The order of the dict is that of the operators; the number of the file, or its place, is the step.
void find_passes(const DumpIndex& index, std::vector<TensorRecord>& tensors);

// Sets `occurrence` and `claimed_twice`, and sorts as TensorList::tensors says.
void sort_tensors(const DumpIndex& index, std::vector<TensorRecord>& tensors);

}  // namespace msdump
