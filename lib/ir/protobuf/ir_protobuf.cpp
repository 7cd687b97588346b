#include "ir/protobuf/ir_protobuf.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "anf_ir.pb.h"
#include "base/text.h"
#include "debug_graph.pb.h"
#include "io/file.h"
#include "ir/model/ir_builder.h"
#include "ir/model/scan.h"
#include "ir/protobuf/protobuf_value.h"

namespace msdump {
namespace {

constexpr std::string_view kForward = "Corresponding forward node candidate:";
constexpr std::string_view kCandidate = "Corresponding code candidate:";

}  // namespace

size_t add_source_address(IrGraphBuilder& builder, std::string_view text, std::vector<uint32_t>& frames) {
  FrameKind kind = FrameKind::kOwn;
  bool begins_chain = true;
  size_t without_place = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with('#')) continue;
    line = trim_front(line.substr(1));
    if (line == kForward || line == kCandidate) {
      kind = line == kForward ? FrameKind::kForward : FrameKind::kCandidate;
      begins_chain = true;
      continue;
    }
    if (line.starts_with("- ")) {
      line = trim_front(line.substr(2));
      begins_chain = true;
    }
    if (!is_source_frame(line)) continue;
    if (const auto frame = builder.frame(line, kind, begins_chain)) {
      frames.push_back(*frame);
      begins_chain = false;
    } else {
      ++without_place;
    }
  }
  return without_place;
}

namespace {

// An entry of a real graph takes some kilobytes, or megabytes with a constant tensor in it (1.3 to 1.5). Parsed, it
// takes at worst some twenty times that.
constexpr size_t kMaxEntry = size_t{16} << 20;
constexpr size_t kMemoryCheck = 65536;  // entries between two checks of the memory
constexpr uint64_t kPerName = 80;       // what the tables of names take for one

enum GraphField : uint32_t { kNode = 1, kName = 2, kParameter = 3, kConstant = 5, kRootName = 6 };
constexpr uint32_t kNodeName = 2;

struct Anf {
  static constexpr IrSchema kSchema = IrSchema::kAnfIr;
  using Node = pb::irpb::NodeProto;
  using Parameter = pb::irpb::ParameterProto;
  using Constant = pb::irpb::NamedValueProto;
};

struct Debug {
  static constexpr IrSchema kSchema = IrSchema::kDebugGraph;
  using Node = pb::debugger::NodeProto;
  using Parameter = pb::debugger::ParameterProto;
  using Constant = pb::debugger::NamedValueProto;
};

// Fields that only one of the schemas has.
std::string_view source_address(const pb::irpb::NodeProto&) { return {}; }
std::string_view source_address(const pb::debugger::NodeProto& node) { return node.source_address(); }
std::string_view full_name(const pb::irpb::NamedValueProto&) { return {}; }
std::string_view full_name(const pb::debugger::NamedValueProto& constant) { return constant.full_name(); }

template <class Schema>
class GraphReader {
 public:
  GraphReader(const IrProtobufGraph& graph, const IrProtobufOptions& options)
      : graph_(graph), options_(options), argument_keys_(options.arguments.begin(), options.arguments.end()) {}

  Result<IrGraph> read() {
    // Nodes stand before the parameters and constants that they refer to, so those are read first.
    MSDUMP_CHECK_OK(each_field(&GraphReader::index_field));
    IrFacts& facts = builder_.graph().facts;
    builder_.begin_graph(name_, {}, 0);
    facts.entry = builder_.intern(name_);
    MSDUMP_CHECK_OK(each_field(&GraphReader::add_node));
    facts.truncated = graph_.cut;
    facts.truncated_at = graph_.cut ? end_of_graph() : 0;
    if (builder_.graph().nodes.empty() && (graph_.bare || graph_.cut || facts.node_heads > 0)) return fail(no_nodes());
    resolve_operands();
    set_host_types();
    MSDUMP_CHECK_OK(check_memory());
    return builder_.finish();
  }

 private:
  using Kind = IrOperand::Kind;
  struct Uses {
    uint32_t all = 0, unfolded = 0;
  };

  Status each_field(Status (GraphReader::*read_field)(const ProtobufField&)) {
    ProtobufFields fields(graph_.bytes);
    while (const auto field = fields.next()) {
      if (field->cut) break;
      MSDUMP_CHECK_OK((this->*read_field)(*field));
      if (++entries_ % kMemoryCheck == 0) MSDUMP_CHECK_OK(check_memory());
    }
    // A graph that ends inside a field although the file continues is damaged, not cut.
    const bool cut = fields.state() == ProtobufFields::State::kCut;
    if (graph_.bare && cut) graph_.cut = true;
    if (fields.state() == ProtobufFields::State::kGood || (cut && graph_.cut)) return {};
    return fail(make_error(ErrorCode::kBadProtobuf, "a damaged field of the graph")
                    .with_offset(graph_.offset + fields.offset()));
  }

  Status index_field(const ProtobufField& field) {
    if (!field.is_bytes) return {};
    if (field.number == kNode) {
      const auto name = find_field(field.bytes, kNodeName).value_or(std::string_view());
      const auto ordinal = static_cast<uint32_t>(node_names_.size());
      node_names_.push_back(name);
      add_name(name, Kind::kNode, ordinal);
    } else if (field.number == kName) {
      name_ = field.bytes;
    } else if (field.number == kRootName) {
      builder_.graph().facts.root_name = builder_.intern(field.bytes);
    } else if (field.number == kParameter) {
      add_parameter(field);
    } else if (field.number == kConstant) {
      add_constant(field);
    }
    return {};
  }

  void add_parameter(const ProtobufField& field) {
    typename Schema::Parameter message;
    if (!parse(message, field) || !message.has_name()) return problem(field, "a parameter that cannot be read");
    IrParameter parameter;
    parameter.text = parameter.name = builder_.intern(message.name());
    parameter.number = static_cast<uint32_t>(builder_.graph().parameters.size()) + 1;
    parameter.has_default = message.has_default_val();
    parameter.host = type(message.type(), field);
    add_name(builder_.graph().text(parameter.name), Kind::kParameter, builder_.add_parameter(parameter));
  }

  void add_constant(const ProtobufField& field) {
    typename Schema::Constant message;
    if (!parse(message, field) || !message.has_key()) return problem(field, "a constant that cannot be read");
    const auto value = protobuf_value(Schema::kSchema, message.value());
    if (!value) problem(field, "the value of a constant cannot be read");
    IrConstant constant;
    constant.key = builder_.intern(message.key());
    constant.full_name = builder_.intern(full_name(message));
    constant.type = value ? builder_.type(value->type) : 0;
    const bool tensor = builder_.graph().types[constant.type].is_tensor;
    if (value && !tensor) constant.value = builder_.intern(value->text);
    add_name(builder_.graph().text(constant.key), Kind::kNamed, builder_.add_constant(constant));
  }

  // Names of nodes are numbers, keys of constants are cst1, ..; names of parameters may be anything. A name with
  // several owners is ambiguous.
  void add_name(std::string_view name, Kind kind, uint32_t value) {
    const auto [place, added] = names_.try_emplace(name, IrOperand{kind, false, value});
    if (added) return;
    IrOperand& known = place->second;
    if (kind == Kind::kNode || known.kind == Kind::kNode) return;  // the numbers are those of nodes
    known = {Kind::kUnresolved, false, static_cast<uint32_t>(builder_.intern(name))};
  }

  Status add_node(const ProtobufField& field) {
    if (field.number != kNode || !field.is_bytes) return {};
    IrGraph& ir = builder_.graph();
    ++ir.facts.node_heads;
    const size_t ordinal = node_index_.size();
    node_index_.push_back(kNoIndex);
    typename Schema::Node message;
    if (!parse(message, field) || message.op_type().empty()) {
      problem(field, "an operator that cannot be read");
      return {};
    }
    IrNode node;
    node.graph = 0;
    set_number(node, message.name(), ordinal);
    node.op = builder_.intern(message.op_type());
    node.kind = node_kind(message.op_type());
    if (message.has_full_name()) builder_.set_full_name(node, message.full_name());
    if (node.leaf == Text::kEmpty) node.scope = builder_.intern(message.scope());
    node.attributes = builder_.intern(attributes_text(message, field));
    add_arguments(message);
    node.arguments = builder_.take_arguments();
    frames_.clear();
    if (add_source_address(builder_, source_address(message), frames_) > 0)
      problem(field, "a source line without a place");
    node.stack = builder_.stack(frames_);
    operands_.clear();
    for (const auto& input : message.input()) operands_.push_back(operand(input.name(), input.type() == 1));
    output_types_.push_back(type(message.output_type(), field));
    node_index_.back() = builder_.add_node(node, operands_);
    return {};
  }

  void set_number(IrNode& node, std::string_view name, size_t ordinal) {
    const auto number = parse_u64(name);
    const bool fits = number && *number < kNoIndex;
    node.number = fits ? static_cast<uint32_t>(*number) : static_cast<uint32_t>(ordinal) + 1;
    if (!fits) node.debug_name = builder_.intern(name);
  }

  // A node's value is its place among all nodes of the file, read or not; resolve_operands() turns it into an index.
  IrOperand operand(const std::string& name, bool control) {
    const auto known = names_.find(name);
    IrOperand operand = known != names_.end()
                            ? known->second
                            : IrOperand{Kind::kUnresolved, false, static_cast<uint32_t>(builder_.intern(name))};
    operand.control = control;
    return operand;
  }

  void resolve_operands() {
    for (IrOperand& operand : builder_.graph().operands) {
      if (operand.kind != Kind::kNode) continue;
      const std::string_view name = node_names_[operand.value];
      operand.value = node_index_[operand.value];
      if (operand.value == kNoIndex)
        operand = {Kind::kUnresolved, operand.control, static_cast<uint32_t>(builder_.intern(name))};
    }
  }

  // An input has the type of the value that it refers to.
  void set_host_types() {
    IrGraph& ir = builder_.graph();
    uses_.resize(ir.parameters.size());
    std::vector<uint32_t> inputs;
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      const auto operands = ir.operands_of(ir.nodes[i]);
      inputs.clear();
      for (const IrOperand& operand : operands) inputs.push_back(type_of(operand));
      unfold_tuples(operands, inputs);
      ir.nodes[i].host = builder_.signature(inputs, {&output_types_[i], 1});
    }
  }

  uint32_t type_of(const IrOperand& operand) {
    const IrGraph& ir = builder_.graph();
    switch (operand.kind) {
      case Kind::kNode: return output_types_[operand.value];
      case Kind::kParameter: return ir.parameters[operand.value].host;
      case Kind::kNamed: return ir.constants[operand.value].type;
      default: return 0;
    }
  }

  // If an operator names a tuple once for each of its elements, each input is one element.
  void unfold_tuples(std::span<const IrOperand> operands, std::vector<uint32_t>& inputs) {
    const std::vector<IrType>& types = builder_.graph().types;
    const auto each_parameter = [&](const auto& act) {
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].kind == Kind::kParameter) act(uses_[operands[i].value], inputs[i]);
      }
    };
    each_parameter([](Uses& uses, uint32_t) { ++uses.all; });
    each_parameter([&](Uses& uses, uint32_t& type) {
      const std::vector<uint32_t>& elements = types[type].elements;
      if (uses.all > 1 && uses.all == elements.size()) type = elements[uses.unfolded++];
    });
    each_parameter([](Uses& uses, uint32_t) { uses = {}; });
  }

  std::string attributes_text(const typename Schema::Node& message, const ProtobufField& field) {
    std::string text;
    for (const auto& attribute : message.attribute()) {
      const std::string& key = attribute.name();
      const auto& wanted = options_.attributes;
      if (std::find(wanted.begin(), wanted.end(), key) == wanted.end()) continue;
      const auto value = protobuf_value(Schema::kSchema, attribute.value());
      if (!value) problem(field, "the value of an attribute cannot be read");
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, value ? value->text : "");
    }
    return text.empty() ? text : fmt::format("primitive_attrs: {{{}}}", text);
  }

  void add_arguments(const typename Schema::Node& message) {
    for (const auto& attribute : message.attribute()) {
      if (!argument_keys_.contains(attribute.name())) continue;
      if (const auto value = protobuf_value(Schema::kSchema, attribute.value()))
        builder_.add_argument(attribute.name(), value->text);
    }
  }

  uint32_t type(std::string_view message, const ProtobufField& field) {
    const auto text = protobuf_type_text(Schema::kSchema, message);
    if (!text) problem(field, "a type that cannot be read");
    return text ? builder_.type(*text) : 0;
  }

  template <class Message>
  static bool parse(Message& message, const ProtobufField& field) {
    return field.bytes.size() <= kMaxEntry &&
           message.ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size()));
  }

  void problem(const ProtobufField& field, std::string_view what) {
    builder_.add_problem(0, fmt::format("byte {}: {}", graph_.offset + field.offset, what));
  }

  Status check_memory() const {
    const uint64_t memory = builder_.graph().memory() + node_names_.size() * kPerName;
    if (memory <= options_.max_memory) return {};
    return fail(ErrorCode::kTooLarge, "the graph does not fit into {} bytes of memory: {} operators so far",
                options_.max_memory, builder_.graph().nodes.size());
  }

  [[nodiscard]] size_t end_of_graph() const { return graph_.offset + graph_.bytes.size(); }

  Error no_nodes() const {
    if (!graph_.cut) {
      return make_error(ErrorCode::kBadProtobuf, "this is not an IR protobuf: there is no operator in it")
          .with_offset(graph_.offset);
    }
    return make_error(ErrorCode::kTruncated, "the file ends before its first operator").with_offset(end_of_graph());
  }

  IrProtobufGraph graph_;
  const IrProtobufOptions& options_;
  const std::unordered_set<std::string_view> argument_keys_;
  IrGraphBuilder builder_;
  std::string_view name_;
  std::vector<std::string_view> node_names_;  // of all nodes of the file
  std::vector<uint32_t> node_index_;          // by node of the file; kNoIndex for those left out
  std::vector<uint32_t> output_types_;        // of those that are not
  std::vector<Uses> uses_;                    // of each parameter, by one operator
  std::unordered_map<std::string_view, IrOperand> names_;
  std::vector<uint32_t> frames_;
  std::vector<IrOperand> operands_;
  size_t entries_ = 0;
};

Result<IrGraph> parse(std::string_view text, const IrProtobufOptions& options) {
  MSDUMP_TRY(const IrProtobufGraph graph, find_ir_graph(text));
  if (graph.schema == IrSchema::kAnfIr) return GraphReader<Anf>(graph, options).read();
  return GraphReader<Debug>(graph, options).read();
}

}  // namespace

Result<IrGraph> read_ir_protobuf(const File& file, const IrProtobufOptions& options) {
  MSDUMP_TRY(const LargeText text, read_large_text(file, options.max_file, "an IR protobuf"));
  return in_file(parse(text.view(), options), file.path());
}

}  // namespace msdump
