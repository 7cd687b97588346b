#include "graph/join/proof.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "tables/statistic_csv.h"

namespace msdump {
namespace {

constexpr int64_t kPieceBytes = int64_t{1} << 20;

const TensorRecord* best(const std::vector<TensorRecord>& tensors, const FileJoin& join, OpId op, Io io, uint32_t slot,
                         const TensorRecord* like, const DumpIndex& index) {
  const auto pairs = join.pairs_of(op);
  if (pairs.empty()) return nullptr;
  const auto folder = [&](const TensorRecord& tensor) {
    return index.folders()[index.files()[tensor.file].folder].identity;
  };
  for (const uint32_t place : join.tensors_of(join.groups()[pairs.front().group])) {
    const TensorRecord& tensor = tensors[place];
    if (tensor.name.io != io || parse_u64(tensor.name.slot) != slot || tensor.broken) continue;
    if (like == nullptr) return &tensor;
    if (tensor.occurrence == like->occurrence && folder(tensor).step == folder(*like).step) return &tensor;
  }
  return nullptr;
}

}  // namespace

// The rows of all statistic.csv, one hash per row.
class ValueComparer::Rows {
 public:
  std::optional<uint64_t> find(const DumpIndex& index, const TensorRecord& tensor) {
    if (tensor.table == kNoTable || index.files()[tensor.table].kind != FileKind::kStatistic) return std::nullopt;
    const std::lock_guard lock(mutex_);
    auto [table, is_new] = tables_.try_emplace(tensor.table);
    if (is_new) read(index.path_of(index.files()[tensor.table]), table->second);
    const auto row = table->second.find(tensor.row_offset);
    return row == table->second.end() ? std::nullopt : std::optional(row->second);
  }

 private:
  using Table = std::unordered_map<uint64_t, uint64_t>;  // by offset

  static void read(const std::string& path, Table& table) {
    const auto file = File::open(path);
    if (!file) return;
    auto reader = StatisticReader::open(*file);
    if (!reader) return;
    for (;;) {
      const auto row = reader->next();
      if (!row) continue;  // reported when the table was listed
      if (*row == nullptr) return;
      std::string text((*row)->dtype);
      for (const std::string_view value : (*row)->values) text.append("\n").append(value);
      table.emplace((*row)->offset, std::hash<std::string>()(text));
    }
  }

  std::mutex mutex_;
  std::unordered_map<uint32_t, Table> tables_;
};

ValueComparer::ValueComparer(const DumpIndex& index, const std::vector<TensorRecord>& tensors)
    : index_(index), tensors_(tensors), rows_(std::make_unique<Rows>()) {}
ValueComparer::~ValueComparer() = default;

Agreement ValueComparer::compare(uint32_t a, uint32_t b) const {
  if (tensors_[a].has_elements && tensors_[b].has_elements) return compare_elements(tensors_[a], tensors_[b]);
  const auto left = rows_->find(index_, tensors_[a]), right = rows_->find(index_, tensors_[b]);
  if (!left || !right) return Agreement::kUnknown;
  return *left == *right ? Agreement::kEqual : Agreement::kDifferent;
}

Agreement ValueComparer::compare_elements(const TensorRecord& a, const TensorRecord& b) const {
  auto left = HostTensor::open(index_, a, {}), right = HostTensor::open(index_, b, {});
  if (!left) return unread(std::move(left).error(), a);
  if (!right) return unread(std::move(right).error(), b);
  if (left->dtype() != right->dtype() || left->count() != right->count()) return Agreement::kDifferent;
  if (left->count() == 0) return Agreement::kUnknown;
  const int64_t piece = std::min(left->count(), kPieceBytes / static_cast<int64_t>(left->element_bytes()));
  const size_t bytes = static_cast<size_t>(piece) * left->element_bytes();
  std::vector<std::byte> buffer(2 * bytes);
  const auto compare_from = [&](int64_t first) {
    if (Status read = left->read(first, piece, buffer.data()); !read) return unread(std::move(read).error(), a);
    if (Status read = right->read(first, piece, buffer.data() + bytes); !read)
      return unread(std::move(read).error(), b);
    const bool equal = std::memcmp(buffer.data(), buffer.data() + bytes, bytes) == 0;
    return equal ? Agreement::kEqual : Agreement::kDifferent;
  };
  const Agreement front = compare_from(0);
  const bool more = left->count() > piece && left->direct() && right->direct();
  return front == Agreement::kEqual && more ? compare_from(left->count() - piece) : front;
}

Agreement ValueComparer::unread(Error error, const TensorRecord& tensor) const {
  if (error.path.empty()) error.path = index_.path_of(index_.files()[tensor.file]);
  const std::lock_guard lock(mutex_);
  std::string path = error.path;
  failures_.try_emplace(std::move(path), std::move(error));
  return Agreement::kUnknown;
}

std::vector<Error> ValueComparer::failures() const {
  std::vector<Error> failures;
  for (const auto& [path, error] : failures_) failures.push_back(error);
  return failures;
}

std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                   const OpGraph& graph, const FileJoin& join, OpId consumer) {
  if (join.pairs_of(consumer).empty()) return {};
  return proof_edges(tensors, index, inputs_of(graph, consumer), join, consumer);
}

std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                   const std::vector<InputEdge>& inputs, const FileJoin& join, OpId consumer) {
  std::vector<ProofEdge> edges;
  for (const InputEdge& input : inputs) {
    if (input.from != InputEdge::From::kOperator) continue;
    const TensorRecord* const in = best(tensors, join, consumer, Io::kInput, input.slot, nullptr, index);
    if (in == nullptr) continue;
    const TensorRecord* const out = best(tensors, join, input.op, Io::kOutput, input.output, in, index);
    if (out == nullptr) continue;
    edges.push_back({consumer, input.op, input.slot, input.output, static_cast<uint32_t>(in - tensors.data()),
                     static_cast<uint32_t>(out - tensors.data())});
  }
  return edges;
}

void ProofTally::count(Agreement agreement) {
  if (agreement == Agreement::kEqual) ++agreeing;
  if (agreement == Agreement::kDifferent) ++contradicting;
}

double ProofTally::share() const { return all() == 0 ? 0 : static_cast<double>(agreeing) / static_cast<double>(all()); }

double proved_confidence(double confidence, const ProofTally& tally) {
  constexpr double kProved = 1.0, kContradicted = 0.3;
  if (tally.contradicting > tally.agreeing) return std::min(confidence, kContradicted);
  return tally.agreeing > 0 && tally.contradicting == 0 ? kProved : confidence;
}

}  // namespace msdump
