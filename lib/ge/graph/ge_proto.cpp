#include "ge/graph/ge_proto.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "ge/graph/ge_assembler.h"
#include "ge/graph/proto_messages.h"

namespace msdump {
namespace {

using Item = ProtoText::Item;

class GeProtoReader {
 public:
  explicit GeProtoReader(ProtoText text) : text_(std::move(text)) {}

  Result<IrGraph> run() {
    // Not a loop over one message, so that a bracket too many does not end the file.
    for (Item item = text_.next(); item.kind != ProtoText::Kind::kEnd; item = text_.next()) top(item);
    MSDUMP_CHECK_OK(text_.status());
    if (text_.depth() > 0) out_.set_truncated(text_.offset());
    out_.add_problems(text_.take_problems());
    return out_.finish();
  }

 private:
  void top(const Item& item) {
    if (item.kind == ProtoText::Kind::kField) {
      if (item.name == "name") name_ = item.value;
      return;
    }
    if (item.name == "graph") return graph();
    if (item.name == "op") {
      if (!bare_) out_.begin_graph(name_, text_.line());
      bare_ = true;
      return op();
    }
    return text_.skip();
  }

  void graph() {
    bare_ = false;
    out_.begin_graph("", text_.line());
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) return item.name == "op" ? op() : text_.skip();
      if (item.name == "name") out_.name_graph(item.value);
    });
  }

  void op() {
    op_ = {};
    op_.line = text_.line();
    const bool whole = for_each_item(text_, [&](const Item& item) { op_item(item); });
    out_.add_problems(text_.take_problems());
    if (whole) {
      out_.add(op_);
    } else {
      out_.lose_operator(op_.line, fmt::format("the file ends inside operator '{}'", excerpt(op_.name)));
    }
  }

  void op_item(const Item& item) {
    if (item.kind == ProtoText::Kind::kOpen) {
      if (item.name == "attr") return attribute(op_, is_kept_of_operator);
      if (item.name == "input_desc") return tensor(op_.input_descs.emplace_back());
      if (item.name == "output_desc") return tensor(op_.output_descs.emplace_back());
      return text_.skip();
    }
    if (item.too_long)
      out_.add_problem(text_.line(), fmt::format("a {} that is too long to be kept", excerpt(item.name)));
    if (item.name == "name") op_.name = item.value;
    if (item.name == "type") op_.type = item.value;
    if (item.name == "input") op_.inputs.emplace_back(item.value);
    if (item.name == "subgraph_name") op_.subgraphs.emplace_back(item.value);
  }

  void tensor(GeTensor& into) {
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) {
        if (item.name == "shape") return shape(into);
        return item.name == "attr" ? attribute(into, is_kept_of_tensor) : text_.skip();
      }
      if (item.name == "dtype") into.dtype = item.value;
      if (item.name == "layout") into.layout = item.value;
    });
  }

  void shape(GeTensor& into) {
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) return text_.skip();
      if (item.name == "dim") into.shape.push_back(number_of(item.value));
    });
  }

  // protobuf prints the key before the value. Where they were exchanged, every value is read.
  template <class Owner>
  void attribute(Owner& owner, bool (*is_kept)(std::string_view)) {
    GeAttribute found;
    for (Item item = text_.next(); item.kind != ProtoText::Kind::kEnd && item.kind != ProtoText::Kind::kClose;
         item = text_.next()) {
      if (item.kind == ProtoText::Kind::kOpen) {
        item.name == "value" ? value(found) : text_.skip();
      } else if (item.name == "key") {
        if (!is_kept(item.value)) return text_.skip();
        found.key = item.value;
      }
    }
    if (is_kept(found.key)) set_attribute(owner, std::move(found));
  }

  void value(GeAttribute& into) {
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) return item.name == "list" ? list(into) : text_.skip();
      into.add_value(item.name, item.value);
      if (item.name == "s") into.text = item.value;
      if (item.name == "i") into.number = number_of(item.value);
    });
  }

  void list(GeAttribute& into) {
    into.is_list = true;
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) return text_.skip();
      into.add_value(item.name, item.value);
      if (item.name == "s") into.texts.emplace_back(item.value);
      if (item.name == "i") into.numbers.push_back(number_of(item.value));
    });
  }

  ProtoText text_;
  GeAssembler out_;
  GeOperator op_;
  std::string name_;   // of the top level
  bool bare_ = false;  // inside a graph without "graph {"
};

}  // namespace

Result<IrGraph> read_ge_proto(ProtoText text) { return GeProtoReader(std::move(text)).run(); }

}  // namespace msdump
