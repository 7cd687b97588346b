// IrGraph: the operators, operands, types and source lines of a graph, from IR as text, IR as protobuf or a graph of GE.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

// HandleMap maps a handle of an InternPool, or any other non-zero number, to an index.

class HandleMap {
 public:
  [[nodiscard]] std::optional<uint32_t> find(uint32_t key) const {
    const uint32_t at = slots_.find(hash(key), kSame);
    return at == HashSlots::kNone ? std::nullopt : std::optional(values_[at]);
  }

  // Replaces the value of an existing key.
  void set(uint32_t key, uint32_t value) {
    const uint32_t at = slots_.find_or_add(hash(key), static_cast<uint32_t>(values_.size()), kSame);
    if (at == values_.size()) values_.push_back(value);
    values_[at] = value;
  }

 private:
  // HashSlots compares the upper half itself, so equal hashes are equal keys.
  static constexpr uint64_t hash(uint32_t key) { return uint64_t{key} << 32; }
  static constexpr auto kSame = [](uint32_t) { return true; };

  HashSlots slots_;
  std::vector<uint32_t> values_;
};

// InternPool: texts and lists of numbers, each kept once and named by a handle of four bytes.
//
// An IR of a million operators repeats a few thousand scopes, types and source lines. Texts that do not repeat (debug
// names) are kept without a look-up. A text costs its bytes, four for the length, and the padding to a multiple of
// four. The look-up table, some sixteen bytes a text, exists only while the pool grows.
//
// Handles address 16 GiB of texts. Beyond that intern() and keep() return the empty text, and full() is true.

enum class Text : uint32_t { kEmpty = 0 };
enum class List : uint32_t { kEmpty = 0 };

class InternPool {
 public:
  // Equal texts have equal handles.
  Text intern(std::string_view text) { return Text{find_or_add(text)}; }
  List intern(std::span<const uint32_t> numbers);

  // Stores a text without a look-up: its handle is new, and a later intern() of the same text returns another one.
  Text keep(std::string_view text) { return Text{add(text)}; }

  // Valid as long as the pool, even if the pool is moved.
  [[nodiscard]] std::string_view view(Text text) const { return at(static_cast<uint32_t>(text)); }
  [[nodiscard]] std::span<const uint32_t> view(List list) const;

  // No intern() after this: frees the look-up table.
  void close() { slots_.reset(); }

  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] uint64_t memory() const { return chunk_bytes_ + (slots_ ? slots_->memory() : 0); }

 private:
  static constexpr uint32_t kChunkWords = uint32_t{1} << 14;  // 64 KiB; a longer text takes several adjacent ones

  uint32_t find_or_add(std::string_view text);
  uint32_t add(std::string_view text);
  [[nodiscard]] std::string_view at(uint32_t handle) const;

  std::vector<std::unique_ptr<uint32_t[]>> owned_;
  std::vector<uint32_t*> chunks_;
  std::optional<HashSlots> slots_;  // of the texts that are looked up
  uint32_t free_words_ = 0;         // at the end of the last chunk
  uint64_t chunk_bytes_ = 0;
  bool full_ = false;
};

// A 64-bit hash that differs in each process: nobody can prepare texts that collide.
[[nodiscard]] uint64_t hash_bytes(std::string_view bytes);

// IrGraph: the contents of a graph file, from IR text (ir/text/ir_text.h), IR protobuf or GE (ge/graph/ge_graph.h). It has
// graphs, parameters, operators, their types and the source lines of each. It owns its texts; nothing refers to the file.
//
// Two spellings become one model:
//   1. Source lines are a stack with the innermost frame first, whatever the order in the file. A gradient or fused
//      operator has several stacks ("chains"), concatenated; each frame says which kind of chain it is in.
//   2. The full name of an operator is kept as scope and leaf ("Default/conv1-Conv2d", "Conv2D-op12").
//   3. Types are identified by their text. Tuples have elements.
// Facts that a file lacks are empty: no debug names and types at format level 0, no device types in protobuf.
//
// An operator takes about 90 bytes with its operands, plus its debug name and leaf; everything else is kept once.
// Source: the dumper sources and files of MindSpore 0.5 to 2.10.

inline constexpr uint32_t kNoIndex = UINT32_MAX;  // no graph, no number, no type

enum class FrameKind : uint8_t {
  kOwn,
  kForward,    // of the forward operator that this gradient belongs to ("Corresponding forward node candidate")
  kCandidate,  // of an operator that was fused or expanded into this one ("Corresponding code candidate")
};

struct SourceFrame {
  std::string_view file;  // as written, also relative
  std::string_view code;  // without blanks around it; empty when the script could not be read
  uint32_t line = 0;      // from 1; 0 when the framework knew none
  uint32_t end_line = 0;  // the same as line, or the last line of a range: a statement or a whole def
  FrameKind kind = FrameKind::kOwn;
  bool begins_chain = false;  // the innermost frame of a stack
};

// The type of a value, on the host or on the device: `<Tensor[Float32], (2, 3)>`, `<Float16xNC1HWC0[const vector][1, 2,
// 3]>`.
struct IrType {
  std::string_view text;           // as written, with its brackets: <...>; a kernel object type has none: TupleUnfold
  std::string_view dtype;          // of the elements: "Float32", "F32", "Int64"; "Tuple" for a tuple; empty for <null>
  std::string_view format;         // device only: "NC1HWC0", "DefaultFormat"
  std::string_view ref_key;        // the name of the parameter that a Ref stands for
  std::optional<Shape> shape;      // -1: dynamic; nothing: the rank is unknown, or it has no shape
  std::vector<uint32_t> elements;  // of a tuple or list: indices of types
  bool is_tensor = false;          // with elements that have an address: Tensor, Ref
  bool is_tuple = false;
  bool is_monad = false;    // UMonad, IOMonad: order only, never a value
  bool is_inplace = false;  // "is_inplace": the operator writes into it; 2.10

  // The dtype that msdump computes with; nothing for Func, None and the like.
  [[nodiscard]] std::optional<DType> known_dtype() const;
};

// Types of all inputs and all outputs; kEmpty when none were printed.
using Signature = List;

struct IrOperand {
  enum class Kind : uint8_t {
    kNode,        // value: index of the node; of another graph for a closure's captured value
    kParameter,   // value: index of the parameter
    kGraph,       // value: index of the graph
    kConstant,    // value: Text, the literal as printed
    kNamed,       // value: index of the IrConstant (protobuf)
    kUnresolved,  // value: Text, the reference as printed; what it refers to is not in the file
  };
  static constexpr uint16_t kWhole = UINT16_MAX;

  IrOperand() = default;
  // Implicit on purpose: readers write {kind, control, value}.
  // NOLINTNEXTLINE(google-explicit-constructor)
  IrOperand(Kind of_kind, bool is_control = false, uint32_t of_value = 0, uint16_t of_output = kWhole)
      : kind(of_kind), control(is_control), output(of_output), value(of_value) {}

  Kind kind = Kind::kConstant;
  bool control = false;      // an order, not a value (protobuf, GE)
  uint16_t output = kWhole;  // of kNode in GE, whose operands are single outputs; IR has TupleGetItem for that
  uint32_t value = 0;
};
static_assert(sizeof(IrOperand) == 8);

// The origin of an output of a GE operator: the operator that it belonged to before operators were fused, cut or
// converted.
struct OriginOutput {
  Text name = Text::kEmpty;  // kEmpty: unknown
  uint32_t index = 0;
};

enum class IrNodeKind : uint8_t {
  kKernel,   // may have run on a device and have dump files
  kVirtual,  // Load, MakeTuple, Depend, Return, ...: for the compiler only, never dumped
  kCall,     // call @g, %5[@FuncUnion(..)](..): runs another graph
};

struct IrNode {
  uint32_t graph = kNoIndex;   // index of the subgraph; kNoIndex in an excerpt without one
  uint32_t number = kNoIndex;  // N of "%N" (protobuf: of the node's name); kNoIndex for Return. Unique in a graph only
  uint32_t line = 0;           // in the file, from 1; 0 in protobuf
  Text debug_name = Text::kEmpty;
  Text op = Text::kEmpty;  // as printed: "Conv2D", "PrimFunc_Add", "call @g", "%5[@FuncUnion(@a, @b)]"
  Text scope = Text::kEmpty;
  Text leaf = Text::kEmpty;        // empty: no full name was printed
  Text attributes = Text::kEmpty;  // as printed, only those requested: ir/text/attributes.h
  Text arguments = Text::kEmpty;   // likewise, those that say what it computes: "{epsilon: F32(1e-05), axes: (1, 2)}"
  uint32_t first_operand = 0, operand_count = 0;
  Signature host = List::kEmpty, device = List::kEmpty;
  List stack = List::kEmpty;
  List originals = List::kEmpty;  // GE only: IrGraph::originals()
  IrNodeKind kind = IrNodeKind::kKernel;
};

struct IrParameter {
  Text text = Text::kEmpty;  // as referred to: "para1_x" ("para1" in 0.5 to 1.0, the name in protobuf)
  Text name = Text::kEmpty;  // "x"
  uint32_t number = 0;
  uint32_t graph = kNoIndex;  // kNoIndex: of the entry graph, listed in the head of the file
  uint32_t line = 0;
  uint32_t host = kNoIndex, device = kNoIndex;  // types
  std::optional<bool> is_weight;
  bool has_default = false;
};

struct IrSubgraph {
  Text name = Text::kEmpty;
  Text parent_name = Text::kEmpty;  // of a closure
  uint32_t parent = kNoIndex;
  uint32_t line = 0;
  uint32_t first_node = 0, node_count = 0;
  uint32_t first_parameter = 0, parameter_count = 0;
  // For a sub-graph of GE that one operator runs: that node, and the node with the results. Input N of the first is the
  // parameter with the number N; output N is operand N of the second.
  uint32_t caller = kNoIndex, result = kNoIndex;
};

// A constant with a name (protobuf); dumped as constants/Parameter.data-N.
struct IrConstant {
  Text key = Text::kEmpty;        // "cst1"
  Text full_name = Text::kEmpty;  // "Default--data-1"
  Text value = Text::kEmpty;      // empty for a tensor
  uint32_t type = kNoIndex;
};

struct IrProblem {
  uint64_t line = 0;  // from 1; 0: about the whole file
  std::string reason;
};
using IrProblems = CappedList<IrProblem>;
// The problems as errors of a file: bad_ir, with the line.
[[nodiscard]] std::vector<Error> errors_of(const IrProblems& problems, const std::string& path);

// Facts about the file as a whole.
struct IrFacts {
  Text entry = Text::kEmpty;                                // name of the graph that runs first
  Text root_name = Text::kEmpty;                            // id of the root graph: the folder of its dump (protobuf)
  std::optional<uint64_t> declared_graphs, declared_nodes;  // what the head of the file says; nodes with Return
  uint64_t node_heads = 0;    // lines that look like the first of an operator, with Return
  bool truncated = false;     // the text ends inside a graph
  uint64_t truncated_at = 0;  // byte
};

struct IrGraph {
  InternPool pool;
  std::vector<IrNode> nodes;  // in the order of the file
  std::vector<IrOperand> operands;
  std::vector<IrParameter> parameters;
  std::vector<IrSubgraph> graphs;
  std::vector<IrConstant> constants;
  std::vector<IrType> types;  // [0] is the unknown type
  std::vector<SourceFrame> frames;
  IrProblems problems;
  IrFacts facts;

  [[nodiscard]] std::string_view text(Text handle) const { return pool.view(handle); }

  // "%12"; "Return".
  [[nodiscard]] std::string node_name(const IrNode& node) const;
  [[nodiscard]] std::string_view graph_name(const IrNode& node) const;  // empty in an excerpt
  [[nodiscard]] std::string_view scope(const IrNode& node) const { return text(node.scope); }
  // "Default/conv1-Conv2d/Conv2D-op12"; empty when the file has none.
  [[nodiscard]] std::string full_name(const IrNode& node) const;
  // The primitive as dump files spell it: without PrimFunc_; "call" for a call.
  [[nodiscard]] std::string_view op_type(const IrNode& node) const;

  [[nodiscard]] std::span<const IrOperand> operands_of(const IrNode& node) const;

  // Indices of types.
  [[nodiscard]] std::span<const uint32_t> inputs(Signature signature) const;
  [[nodiscard]] std::span<const uint32_t> outputs(Signature signature) const;
  // Indices of frames, each chain innermost first: own, then forward and candidates in the order of the file.
  [[nodiscard]] std::span<const uint32_t> stack(const IrNode& node) const { return pool.view(node.stack); }

  // GE: the full names of the operators that this one stands for. No value (also for another IR): it stands for itself.
  // An empty list: the compiler inserted it.
  [[nodiscard]] std::optional<std::span<const uint32_t>> originals(const IrNode& node) const;  // Texts
  [[nodiscard]] OriginOutput origin_output(const IrNode& node, size_t output) const;

  [[nodiscard]] uint64_t parsed() const { return nodes.size(); }
  // The total to compare `parsed` with: the file's own count, but at least what was seen.
  [[nodiscard]] uint64_t expected() const;
  [[nodiscard]] uint64_t memory() const;  // bytes, about
};

// Load, MakeTuple and other operators without a kernel.
[[nodiscard]] bool is_virtual_op(std::string_view op_type);
[[nodiscard]] IrNodeKind node_kind(std::string_view op);
[[nodiscard]] std::string_view op_type_of(std::string_view op);

}  // namespace msdump
