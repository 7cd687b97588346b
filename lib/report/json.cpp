#include "report/json_text.h"
#include "report/row_sink.h"

namespace msdump::report {
namespace {

class JsonFormatter : public RowFormatter {
 public:
  JsonFormatter(std::string_view before, std::string_view after) : before_(before), after_(after) {}
  void append(const Row& row, std::string& text) override {
    text += before_;
    append_json(text, row);
    text += after_;
  }

 private:
  std::string_view before_, after_;  // of each row
};

class JsonSink : public RowSink {
 public:
  JsonSink(TextOutput& out, Report report, std::optional<Closing>* held)
      : out_(out), report_(std::move(report)), held_(held) {}
  std::unique_ptr<RowFormatter> formatter() const override {
    return first_ ? nullptr : std::make_unique<JsonFormatter>(",\n", "");
  }

 private:
  TextOutput& output() override { return out_; }

  Status begin() override {
    Object head;
    head.add("schema", kSchema)
        .add("command", report_.command)
        .add("version", report_.version)
        .add("dumps", list_of(report_.dumps));
    buffer_.clear();
    append_json(buffer_, head);
    buffer_.back() = ',';  // the closing brace comes with the end of the document
    buffer_ += "\"rows\":[";
    return out_.write(buffer_);
  }

  Status add(const Row& row) override {
    buffer_ = first_ ? "\n" : ",\n";
    first_ = false;
    append_json(buffer_, row);
    return out_.write(buffer_);
  }

  Status end(Closing&& closing) override {
    MSDUMP_CHECK_OK(out_.write(first_ ? "]" : "\n]"));
    if (held_ == nullptr) return write_json_end(out_, closing);
    *held_ = std::move(closing);
    return {};
  }

  TextOutput& out_;
  Report report_;
  std::optional<Closing>* held_;
  std::string buffer_;
  bool first_ = true;
};

class JsonlSink : public RowSink {
 public:
  explicit JsonlSink(TextOutput& out) : out_(out) {}
  std::unique_ptr<RowFormatter> formatter() const override { return std::make_unique<JsonFormatter>("", "\n"); }

 private:
  TextOutput& output() override { return out_; }
  Status begin() override { return {}; }

  Status add(const Row& row) override {
    buffer_.clear();
    JsonFormatter("", "\n").append(row, buffer_);
    return out_.write(buffer_);
  }

  Status end(Closing&&) override { return {}; }

  TextOutput& out_;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<RowSink> make_json_sink(TextOutput& out, Report report, const SinkOptions& options) {
  return std::make_unique<JsonSink>(out, std::move(report), options.held);
}

Status write_json_end(TextOutput& out, const Closing& closing) {
  std::string text;
  const auto append_key = [&](std::string_view key, const Value& value) {
    text += ",\n";
    append_json_string(text, key);
    text += ':';
    append_json(text, value);
  };
  append_key("summary", closing.summary);
  append_key("failures", list_of(closing.failures));
  for (const Member& member : closing.further.members()) append_key(member.key, member.value);
  text += "}\n";
  return out.write(text);
}

std::unique_ptr<RowSink> make_jsonl_sink(TextOutput& out) { return std::make_unique<JsonlSink>(out); }

}  // namespace msdump::report
