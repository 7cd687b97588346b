// What ran, by the files beside a dump that record it: it shows which tensors are missing.
//
//   execution_order/ms_execution_order_graph_G.csv         a header, then the operators of graph G in their order
//   execution_order/ms_global_execution_order_graph_G.csv  the steps that were run, a number a line
// Source: reference/dump-layouts-and-statistics.md section 7.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"

namespace msdump::check {

struct OperatorOrder {
  std::optional<int64_t> rank, graph;
  std::string path;
  std::vector<std::string> names;  // as the script's graph has them; files may have new numbers
};

struct ExecutionOrders {
  std::vector<OperatorOrder> operators;                       // none of them is empty
  std::map<std::optional<int64_t>, std::set<int64_t>> steps;  // by rank
};

// Files that cannot be read are in `failures`, and their content is ignored.
[[nodiscard]] ExecutionOrders read_execution_orders(const DumpIndex& index, std::vector<Error>& failures);

}  // namespace msdump::check
