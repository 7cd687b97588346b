#include "ir/model/ir_graph.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

uint64_t load64(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t load32(const char* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

__extension__ using Wide = unsigned __int128;

uint64_t mix(uint64_t a, uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t random_word() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// Arbitrary numbers, not even and without a pattern.
constexpr uint64_t kFirst = 0x8f3a5d27c16be94d, kSecond = 0xd1b54a32d192ed03;

// Packs at most sixteen bytes into two words that differ when the bytes do.
std::pair<uint64_t, uint64_t> two_words(const char* bytes, size_t size) {
  if (size >= 8) return {load64(bytes), load64(bytes + size - 8)};
  if (size >= 4) return {load32(bytes), load32(bytes + size - 4)};
  if (size == 0) return {0, 0};
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
  return {byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1), 0};
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  static const uint64_t seed = random_word();
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t state = seed ^ mix(bytes.size() + kFirst, kSecond);
  for (; left > 16; at += 16, left -= 16) state = mix(load64(at) ^ kFirst, load64(at + 8) ^ state);
  const auto [low, high] = two_words(at, left);
  return mix(mix(low ^ kSecond, high ^ state), kFirst ^ state);
}

List InternPool::intern(std::span<const uint32_t> numbers) {
  if (numbers.empty()) return List::kEmpty;
  return List{find_or_add({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()})};
}

std::span<const uint32_t> InternPool::view(List list) const {
  if (list == List::kEmpty) return {};
  const auto handle = static_cast<uint32_t>(list);
  const uint32_t* words = chunks_[handle / kChunkWords] + handle % kChunkWords;
  return {words + 1, words[0] / sizeof(uint32_t)};
}

std::string_view InternPool::at(uint32_t handle) const {
  if (handle == 0) return {};
  const uint32_t* words = chunks_[handle / kChunkWords] + handle % kChunkWords;
  return {reinterpret_cast<const char*>(words + 1), words[0]};
}

uint32_t InternPool::find_or_add(std::string_view text) {
  if (text.empty()) return 0;
  if (!slots_) slots_.emplace();
  const uint64_t hash = hash_bytes(text);
  const uint32_t known = slots_->find(hash, [&](uint32_t handle) { return at(handle) == text; });
  if (known != HashSlots::kNone) return known;
  const uint32_t handle = add(text);
  if (handle != 0) slots_->find_or_add(hash, handle, [](uint32_t) { return false; });
  return handle;
}

uint32_t InternPool::add(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t words = 1 + (uint64_t{text.size()} + 3) / 4;
  if (words > free_words_) {
    // Handle 0 is the empty text, so the first word of the first chunk stays unused.
    const uint64_t wanted = (words + kChunkWords) / kChunkWords;
    if (text.size() > UINT32_MAX || (chunks_.size() + wanted) * kChunkWords > UINT32_MAX) {
      full_ = true;
      return 0;
    }
    owned_.push_back(std::make_unique_for_overwrite<uint32_t[]>(wanted * kChunkWords));
    for (uint64_t i = 0; i < wanted; ++i) chunks_.push_back(owned_.back().get() + i * kChunkWords);
    free_words_ = static_cast<uint32_t>(wanted * kChunkWords - 1);
    chunk_bytes_ += wanted * kChunkWords * sizeof(uint32_t);
  }
  const auto handle = static_cast<uint32_t>(chunks_.size() * kChunkWords - free_words_);
  uint32_t* const place = chunks_[handle / kChunkWords] + handle % kChunkWords;
  place[0] = static_cast<uint32_t>(text.size());
  place[words - 1] = 0;
  std::memcpy(place + 1, text.data(), text.size());
  free_words_ -= static_cast<uint32_t>(words);
  return handle;
}

namespace {

// Operators that only the compiler knows: no kernel, no dump file. Reshape is not among them: some targets have a
// kernel for it. Source: MindSpore's list of operators without a kernel.
constexpr std::string_view kVirtualOps[] = {
    "Depend",     "DynamicLoss",  "HistogramSummary", "ImageSummary", "ListGetItem", "Load",          "MakeDict",
    "MakeList",   "MakeSlice",    "MakeTuple",        "Partial",      "Return",      "ScalarSummary", "StreamRecv",
    "StreamSend", "Switch",       "TensorSummary",    "TupleGetItem", "UpdateState", "getattr",       "list_getitem",
    "make_dict",  "make_list",    "make_slice",       "make_tuple",   "partial",     "resolve",       "return",
    "switch",     "switch_layer", "tuple_getitem",
};

constexpr std::string_view kPrimFunc = "PrimFunc_";

template <class T>
uint64_t bytes_of_vector(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

}  // namespace

bool is_virtual_op(std::string_view op_type) {
  return std::find(std::begin(kVirtualOps), std::end(kVirtualOps), op_type) != std::end(kVirtualOps);
}

std::string_view op_type_of(std::string_view op) {
  if (op.starts_with(kPrimFunc)) return op.substr(kPrimFunc.size());
  // A call may also go through a parameter, "x[@f]", in 1.x by its bare name, "903"; or a value, "Tensor(shape=[],
  // ..)".
  const bool call = op.starts_with("call @") || op.starts_with('%') || op.starts_with("$(") ||
                    op.find("[@") != std::string_view::npos || op.ends_with(')') ||
                    (!op.empty() && op.front() >= '0' && op.front() <= '9');
  return call ? "call" : op;
}

IrNodeKind node_kind(std::string_view op) {
  const std::string_view type = op_type_of(op);
  if (type == "call") return IrNodeKind::kCall;
  return is_virtual_op(type) ? IrNodeKind::kVirtual : IrNodeKind::kKernel;
}

std::optional<DType> IrType::known_dtype() const {
  if (dtype.empty()) return std::nullopt;
  // Types inside of Ref[Tensor(..)] are short up to 1.10: F32, I64, U8.
  constexpr std::pair<char, std::string_view> kShort[] = {{'F', "float"}, {'I', "int"}, {'U', "uint"}};
  for (const auto& [letter, word] : kShort) {
    if (dtype[0] == letter && is_digits(dtype.substr(1)))
      return dtype_from_name(fmt::format("{}{}", word, dtype.substr(1)));
  }
  return dtype_from_name(dtype);
}

std::string IrGraph::node_name(const IrNode& node) const {
  return node.number == kNoIndex ? "Return" : fmt::format("%{}", node.number);
}

std::string_view IrGraph::graph_name(const IrNode& node) const {
  return node.graph == kNoIndex ? std::string_view() : text(graphs[node.graph].name);
}

std::string IrGraph::full_name(const IrNode& node) const {
  const std::string_view leaf = text(node.leaf);
  if (leaf.empty() || node.scope == Text::kEmpty) return std::string(leaf);
  return fmt::format("{}/{}", text(node.scope), leaf);
}

std::string_view IrGraph::op_type(const IrNode& node) const { return op_type_of(text(node.op)); }

std::span<const IrOperand> IrGraph::operands_of(const IrNode& node) const {
  return std::span(operands).subspan(node.first_operand, node.operand_count);
}

// A signature is a list: how many inputs, then the inputs, then the outputs.
std::span<const uint32_t> IrGraph::inputs(Signature signature) const {
  const auto list = pool.view(signature);
  return list.empty() ? list : list.subspan(1, list[0]);
}

std::span<const uint32_t> IrGraph::outputs(Signature signature) const {
  const auto list = pool.view(signature);
  return list.empty() ? list : list.subspan(1 + size_t{list[0]});
}

// The list holds how many names, the names, then name and index for each output. kNoIndex names if none are given.
std::optional<std::span<const uint32_t>> IrGraph::originals(const IrNode& node) const {
  const auto list = pool.view(node.originals);
  if (list.empty() || list[0] == kNoIndex) return std::nullopt;
  return list.subspan(1, list[0]);
}

OriginOutput IrGraph::origin_output(const IrNode& node, size_t output) const {
  const auto list = pool.view(node.originals);
  if (list.empty()) return {};
  const size_t at = 1 + size_t{list[0] == kNoIndex ? 0 : list[0]} + 2 * output;
  return at + 1 < list.size() ? OriginOutput{Text{list[at]}, list[at + 1]} : OriginOutput{};
}

std::vector<Error> errors_of(const IrProblems& problems, const std::string& path) {
  ProblemList errors;
  for (const IrProblem& problem : problems) {
    const std::string place = problem.line > 0 ? fmt::format("line {}: ", problem.line) : std::string();
    errors.add(make_error(ErrorCode::kBadIr, "{}{}", place, problem.reason).with_path(path));
  }
  errors.count_more(problems.count() - problems.size());
  return errors_of(errors);
}

uint64_t IrGraph::expected() const {
  const uint64_t seen = std::max<uint64_t>(facts.node_heads, nodes.size());
  return std::max(facts.declared_nodes.value_or(0), seen);
}

uint64_t IrGraph::memory() const {
  uint64_t bytes = pool.memory() + bytes_of_vector(nodes) + bytes_of_vector(operands) + bytes_of_vector(parameters) +
                   bytes_of_vector(graphs) + bytes_of_vector(constants) + bytes_of_vector(types) +
                   bytes_of_vector(frames) + bytes_of_vector(problems.first());
  for (const IrType& type : types) {
    bytes += bytes_of_vector(type.elements) + (type.shape ? bytes_of_vector(*type.shape) : 0);
  }
  return bytes;
}

}  // namespace msdump
