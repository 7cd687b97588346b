// Any bytes as the files of a small dump, all of which msdump check reads: tensors, tables, IR, overflow records,
// configuration, execution order. What it finds is about things that are there, and the search for the first operator
// finds what the whole check does.
//
// The input is a row of files: a byte that chooses the name, two with the length, the content.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "check/check.h"
#include "fuzz_file.h"
#include "graph/join/numbering.h"
#include "graph/load/load_graph.h"

namespace {

using namespace msdump;
using fuzz::require;
namespace fs = std::filesystem;

constexpr std::array kNames = {
    "rank_0/Net/0/0/Mul.Default_Mul-op1.3.7.1700000000000001.input.0.DefaultFormat.npy",
    "rank_0/Net/0/0/Mul.Default_Mul-op1.3.7.1700000000000002.output.0.DefaultFormat.npy",
    "rank_0/Net/0/1/Mul.Default_Mul-op1.3.7.1700000000000003.output.0.DefaultFormat.npy",
    "rank_0/Net/0/0/Parameter.w.0.0.1700000000000009.output.0.DefaultFormat.npy",
    "rank_0/Net/0/0/Opdebug.Node_OpDebug.1.2.1700000000000000",
    "rank_0/Net/0/0/Opdebug.Node_OpDebug.1.2.1700000000000000.output.0.json",
    "rank_0/Net/0/0/statistic.csv",
    "rank_0/Net/0/1/statistic.csv",
    "rank_0/graphs/ms_output_trace_code_graph_0.ir",
    "rank_0/graphs/ms_output_trace_code_graph_0.pb",
    "rank_0/execution_order/ms_execution_order_graph_0.csv",
    "rank_0/execution_order/ms_global_execution_order_graph_0.csv",
    "rank_0/.dump_metadata/data_dump.json",
    "step0/rank0/dump.json",
    "step0/rank0/stack.json",
    "step0/rank0/dump_tensor_data/Functional.relu.0.forward.output.0.npy",
};
constexpr size_t kMostFiles = 8;

void write_files(std::string_view data, const fs::path& root) {
  for (size_t files = 0; files < kMostFiles && data.size() >= 3; ++files) {
    const fs::path path = root / kNames[static_cast<uint8_t>(data[0]) % kNames.size()];
    const size_t length = static_cast<uint8_t>(data[1]) + (size_t{static_cast<uint8_t>(data[2])} << 8);
    data.remove_prefix(3);
    const std::string_view content = data.substr(0, length);
    data.remove_prefix(content.size());
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<long>(content.size()));
  }
}

DumpIndex index_of(const fs::path& root) {
  auto index = DumpIndex::build({root.string()}, {});
  require(index.has_value(), "a folder that is there has an index");
  return std::move(*index);
}

class Run {
 public:
  explicit Run(const fs::path& root) : index_(index_of(root)) {
    auto list = TensorList::read(index_, {}, {Headers::kWhereNeeded}, {pool_, cancel_});
    require(list.has_value(), "a list is made of what can be read");
    list_ = std::move(*list);
    load_ir();
  }

  void check() {
    const bool joined = joined_ && joined_->join.matched_operators() > 0;
    const DumpWithGraph side{&index_, &list_.tensors(), joined ? &loaded_.graph : nullptr,
                             joined ? &joined_->join : nullptr};
    check::RuleSet rules = check::RuleSet::defaults();
    require(rules.apply("all").has_value(), "every rule can be on");
    check::CheckRun all(side, rules), first(side, rules);
    for (const Error& error : list_.failures()) {
      all.listing_failures.push_back(&error);
      first.listing_failures.push_back(&error);
    }
    require(check::check_all(all, {}, {pool_, cancel_}).has_value(), "nothing that can be read ends a check");
    require(check::check_first(first, {}, {pool_, cancel_}).has_value(), "nothing that can be read ends a search");
    const auto &a = all.report.first, &b = first.report.first;
    require(a.has_value() == b.has_value(), "both find a first, or none");
    if (a) require(a->op == b->op, "both find the same");
    require(first.facts.count_read() <= all.facts.count_read(), "the search reads no more");
    for (const check::Finding& finding : all.report.findings) require_valid(finding, all.dump);
    for (const Error& failure : all.report.failures) fuzz::require_good_error(failure);
  }

 private:
  void load_ir() {
    const auto search = find_ir(&index_, {});
    require(search.has_value(), "a missing IR is not a failure");
    auto loaded = load_graph(search->files, {}, {pool_, cancel_});
    require(loaded.has_value(), "an IR that cannot be read is a failure of that file");
    loaded_ = std::move(*loaded);
    if (loaded_.graph.size() == 0) return;
    auto joined = join_files(index_, list_.tensors(), loaded_.graph, {pool_, cancel_});
    require(joined.has_value(), "a join is made of what is there");
    joined_.emplace(std::move(*joined));
  }

  void require_valid(const check::Finding& finding, const check::CheckedDump& dump) const {
    require(!finding.message.empty(), "a finding says something");
    require(finding.tensor == kNoId || finding.tensor < dump.tensors(), "a finding is about a tensor");
    require(finding.op == kNoId || finding.op < dump.operators().size(), "a finding is about an operator");
    require(finding.file == kNoId || finding.file < index_.files().size(), "a finding is about a file");
  }

  WorkerPool pool_{1};
  CancelToken cancel_;
  DumpIndex index_;
  TensorList list_;
  LoadedGraph loaded_;
  std::optional<Joined> joined_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fs::path root = fuzz::memory_folder() / "dump";
  fs::create_directories(root);
  write_files({reinterpret_cast<const char*>(data), size}, root);
  Run(root).check();
  fs::remove_all(root);
  return 0;
}
