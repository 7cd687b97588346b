#include "check/tree/dump_estimate.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "config/kernels.h"
#include "graph/join/numbering.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr uint64_t kNpyHeaderBytes = 128;
constexpr size_t kLongestName = 400;  // longer names are not compared
constexpr Version kV23{2, 3, 0}, kV24{2, 4, 0}, kV27{2, 7, 0};

// Saturates: larger sums need not be exact.
void add(uint64_t& sum, uint64_t value) { sum = checked_add(sum, value).value_or(UINT64_MAX); }

class Estimator {
 public:
  Estimator(const OpGraph& graph, const DataDump& dump, const Setup& setup)
      : graph_(graph), dump_(dump), setup_(setup), numbers_(renumbered(graph)) {
    if (dump.kernels != nullptr) kernels_ = parse_kernels(*dump.kernels);
    if (dump.dumps_kernels(setup)) filter_.emplace(kernels_, setup.version);
    matched_.assign(kernels_.size(), false);
    const uint32_t io = dump.debug_mode(setup) == 3 ? 0 : dump.input_output.value_or(0);
    inputs_ = io != 2;
    outputs_ = io != 1;
    // 2.4 and later: true if it is missing.
    host_types_ = dump.is_synchronous(setup) && dump.trans_flag.value_or(setup.version >= kV24 || !dump.has_e2e);
    npy_ = dump.is_synchronous(setup) || dump.file_format == "npy";
    tensors_ = dump.saved_data.value_or("tensor") != "statistic";
    statistics_ = dump.saves_statistics();
    if (dump.is_synchronous(setup) && dump.sample_mode == 1U && setup.version >= kV23)
      sample_ = dump.sample_num.value_or(100);
    if (setup.version >= kV23 && dump.debug_mode(setup) == 4) dump_exceptions();
  }

  DumpEstimate estimate() {
    DumpEstimate result;
    for (uint32_t i = 0; i < graph_.origins().size(); ++i) {
      const DumpEstimateRow row = of_graph(i);
      if (row.tensors + row.statistics > 0) result.rows.push_back(row);
    }
    const Iteration iteration = parse_iteration(dump_.iteration.value_or("all"));
    result.all_steps = iteration.all || every_step_;
    if (!every_step_) result.steps = iteration.count(dump_.initial_iteration.value_or(0));
    if (filter_) name_unmatched(result);
    result.at_most = dump_.debug_mode(setup_) != 0 && operators_;
    return result;
  }

 private:
  // Operators that failed: only Ascend reports them; synchronous, every step counts and whole tensors are saved.
  void dump_exceptions() {
    operators_ = setup_.device == Device::kAscend;
    if (!dump_.is_synchronous(setup_)) return;
    every_step_ = tensors_ = true;
    statistics_ = false;
    sample_.reset();
  }

  DumpEstimateRow of_graph(uint32_t index) {
    const Origin& origin = graph_.origins()[index];
    DumpEstimateRow row{.rank = origin.rank, .graph = origin.graph_id};
    for (uint32_t node = 0; operators_ && node < origin.graph.nodes.size(); ++node) {
      const OpId op = graph_.id(index, node);
      if (graph_.has_kernel(op) && is_chosen(op)) add_operator(row, origin.graph, origin.graph.nodes[node]);
    }
    const bool parameters = setup_.device != Device::kAscend || (setup_.version < kV23 && dump_.is_synchronous(setup_));
    if (parameters && outputs_ && !filter_) {
      for (const IrParameter& parameter : origin.graph.parameters) {
        if (parameter.graph != kNoIndex) continue;  // only the entry graph's have values of their own
        if (parameter.host == kNoIndex || origin.graph.types[parameter.host].is_monad) continue;
        const uint32_t device = parameter.device == kNoIndex ? parameter.host : parameter.device;
        add_tensor(row, origin.graph.types[host_types_ ? parameter.host : device], origin.graph.types[parameter.host]);
      }
    }
    return row;
  }

  bool is_chosen(OpId op) {
    if (!filter_) return true;
    const std::string name = name_in_files(op);
    filter_->mark_choosing(name, matched_);
    return filter_->match(name) >= 0;
  }

  // `kernels` takes the numbers of the files, which from 2.7 on are not those of the IR beside a dump.
  [[nodiscard]] std::string name_in_files(OpId op) const {
    const std::string name = graph_.full_name(op);
    const auto numbered = numbers_[op] == kNoIndex ? std::nullopt : split_number(name);
    if (setup_.version < kV27 || !numbered) return name;
    return fmt::format("{}{}{}", numbered->prefix, kNumberMark, numbers_[op]);
  }

  void add_operator(DumpEstimateRow& row, const IrGraph& ir, const IrNode& node) const {
    const uint64_t before = row.tensors + row.statistics;
    if (inputs_) add_types(row, ir, ir.inputs(node.host), ir.inputs(node.device));
    if (outputs_) add_types(row, ir, ir.outputs(node.host), ir.outputs(node.device));
    if (row.tensors + row.statistics > before) ++row.operators;
  }

  void add_types(DumpEstimateRow& row, const IrGraph& ir, std::span<const uint32_t> host,
                 std::span<const uint32_t> device) const {
    // The slots are those of the device; a tuple of tensors on the host is several of them.
    const bool as_many = host.size() == device.size();
    const bool by_host = device.empty() || (host_types_ && as_many);
    const std::span<const uint32_t> types = by_host ? host : device;
    for (size_t i = 0; i < types.size(); ++i) {
      const IrType& type = ir.types[types[i]];
      const IrType& on_host = by_host || as_many ? ir.types[host[i]] : type;
      if (!type.is_monad && !is_tuple_of_numbers(ir, on_host)) add_tensor(row, type, on_host);
    }
  }

  // A shape, a permutation, axes: attributes that became inputs, which no kernel reads from the device.
  static bool is_tuple_of_numbers(const IrGraph& ir, const IrType& type) {
    return type.is_tuple && std::none_of(type.elements.begin(), type.elements.end(),
                                         [&](uint32_t element) { return ir.types[element].is_tensor; });
  }

  // `other`: the size to assume if the IR says nothing of the size of `type`.
  void add_tensor(DumpEstimateRow& row, const IrType& type, const IrType& other) const {
    if (tensors_) ++row.tensors;
    if (statistics_) {
      ++row.statistics;
      add(row.bytes, DumpEstimate::kStatisticRowBytes);
    }
    if (!tensors_) return;
    const auto known = size_of(type);
    const auto size = known ? known : size_of(other);
    if (!size) ++row.unsized;
    add(row.bytes, size.value_or(0));
    if (npy_) add(row.bytes, kNpyHeaderBytes);
  }

  [[nodiscard]] std::optional<uint64_t> size_of(const IrType& type) const {
    const auto dtype = type.known_dtype();
    // A scalar has no shape in some spellings.
    std::optional<int64_t> count = type.shape ? element_count(*type.shape) : std::nullopt;
    if (!type.shape && !type.is_tensor && !type.is_tuple) count = 1;
    if (!dtype || !count || is_raw(*dtype)) return std::nullopt;
    if (sample_) count = std::min<int64_t>(*count, static_cast<int64_t>(*sample_));
    return bytes_of(npy_ ? info(*dtype).npy_dtype : *dtype, *count);
  }

  void name_unmatched(DumpEstimate& result) {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const bool blank = kernels_[i].kind == KernelItem::Kind::kBlank;
      if (matched_[i] || blank) continue;
      result.unmatched_kernels.push_back(dump_.kernels->items[i].text);
      if (result.nearest.size() < DumpEstimate::kMostNearest) result.nearest.push_back(nearest_to(kernels_[i]));
    }
    result.nearest.resize(result.unmatched_kernels.size());
  }

  // The name that was probably meant: a type of the IR, or the full name of one of its operators.
  std::string nearest_to(const KernelItem& item) {
    const bool by_type = item.kind == KernelItem::Kind::kType;
    if (!by_type && item.kind != KernelItem::Kind::kFullName) return "";
    if (item.text.size() > kLongestName) return "";
    if (full_names_.empty()) collect_names();
    if (const auto near = closest_match(item.text, by_type ? types_ : full_names_)) return *near;
    if (by_type) return "";
    // Also without its scope, or with a number of another run, as people write it.
    const std::string_view unnumbered = without_number(item.text);
    const auto within = std::find_if(full_names_.begin(), full_names_.end(), [&](const std::string& name) {
      const std::string_view full = without_number(name);
      return full == unnumbered || (full.ends_with(unnumbered) && full[full.size() - unnumbered.size() - 1] == '/');
    });
    return within == full_names_.end() ? "" : *within;
  }

  static std::string_view without_number(std::string_view name) {
    const auto numbered = split_number(name);
    return numbered ? numbered->prefix : name;
  }

  void collect_names() {
    std::set<std::string, std::less<>> types;
    for (OpId op{0}; op < graph_.size(); ++op) {
      if (!graph_.has_kernel(op)) continue;
      full_names_.push_back(name_in_files(op));
      types.emplace(kernel_type_in(full_names_.back()));
    }
    types_.assign(types.begin(), types.end());
  }

  const OpGraph& graph_;
  const DataDump& dump_;
  Setup setup_;
  std::vector<uint32_t> numbers_;
  std::vector<KernelItem> kernels_;
  std::vector<bool> matched_;
  std::vector<std::string> full_names_, types_;  // of the operators, for nearest_to
  std::optional<KernelFilter> filter_;           // none: every operator
  std::optional<uint32_t> sample_;
  bool inputs_ = true, outputs_ = true, host_types_ = true, npy_ = true, tensors_ = true, statistics_ = false;
  bool operators_ = true, every_step_ = false;
};

}  // namespace

uint64_t DumpEstimate::tensors() const {
  uint64_t sum = 0;
  for (const DumpEstimateRow& row : rows) add(sum, row.tensors);
  return sum;
}

uint64_t DumpEstimate::bytes() const {
  uint64_t sum = 0;
  for (const DumpEstimateRow& row : rows) add(sum, row.bytes);
  return sum;
}

DumpEstimate estimate_dump(const OpGraph& graph, const DataDump& dump, const Setup& setup) {
  return Estimator(graph, dump, setup).estimate();
}

}  // namespace msdump
