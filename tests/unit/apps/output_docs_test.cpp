// docs/output.md and docs/schema are made of the row types; this test says when they are stale. After a change of a row type:
//
//   MSDUMP_WRITE_DOCS=1 build/release/tests/unit/test_apps "the documents of the output*"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "frame/cli.h"
#include "report/json.h"
#include "report/row_type.h"
#include "support/catch.h"
#include "support/paths.h"

namespace msdump::cli {
namespace {

namespace fs = std::filesystem;
using report::DocumentType;
using report::Key;
using report::List;
using report::Object;
using report::ObjectType;

constexpr std::string_view kMarker =
    "<!-- What follows is made of the row types by tests/unit/apps/output_docs_test.cpp. -->\n";

// With a line for each member, but for short objects and lists.
void append_pretty(std::string& into, const report::Value& value, size_t indent) {
  constexpr size_t kWidth = 120;
  std::string flat;
  report::append_json(flat, value);
  const auto* const object = value.get<Object>();
  const auto* const list = value.get<List>();
  if (flat.size() + indent < kWidth || (object == nullptr && list == nullptr)) {
    into += flat;
    return;
  }
  const std::string margin(indent + 1, ' ');
  into += object != nullptr ? "{" : "[";
  bool first = true;
  const auto begin = [&] { into += (std::exchange(first, false) ? "\n" : ",\n") + margin; };
  if (object != nullptr) {
    for (const report::Member& member : object->members()) {
      begin();
      report::append_json_string(into, member.key);
      into += ": ";
      append_pretty(into, member.value, indent + 1);
    }
  } else {
    for (const report::Value& one : *list) {
      begin();
      append_pretty(into, one, indent + 1);
    }
  }
  into += "\n" + std::string(indent, ' ') + (object != nullptr ? "}" : "]");
}

const ObjectType& failure_type() {
  static const ObjectType type{
      "Failure",
      "An input that could not be used, or an error of the command line.",
      {{.key = "path", .type = "string|null", .text = "file or folder, relative to the dump"},
       {.key = "tensor", .type = "string|null", .text = "tensor in it"},
       {.key = "offset", .type = "integer|null", .unit = "bytes", .text = "where in the file"},
       {.key = "code", .type = "string", .text = "a stable word for the kind of failure"},
       {.key = "message", .type = "string", .text = "what is wrong, in words that may change"},
       {.key = "hint", .type = "string|null", .text = "what to do, in words that may change"}}};
  return type;
}

Object reference(std::string_view name) { return Object().add("$ref", fmt::format("#/definitions/{}", name)); }

// The JSON Schemas of a command, with the types that they use.
class Schema {
 public:
  Object object(const ObjectType& type, const std::vector<Key>& further = {}) {
    Object properties;
    List required;
    for (const std::vector<Key>* const keys : {&type.keys, &further}) {
      for (const Key& key : *keys) {
        properties.add(key.key, key_schema(key));
        if (!key.is_optional()) required.emplace_back(key.key);
      }
    }
    Object schema;
    schema.add("type", "object").add("description", type.text).add("required", std::move(required));
    return schema.add("properties", std::move(properties));
  }

  Object use(const ObjectType& type) {
    if (names_.insert(std::string(type.name)).second) {
      const Object schema = object(type);
      definitions_.emplace(std::string(type.name), schema);
    }
    return reference(type.name);
  }

  Object definitions() const {
    Object all;
    Object number;
    number.add("description", "a number; NaN and infinities are texts")
        .add("anyOf", List{Object().add("type", "number"), Object().add("enum", List{"nan", "inf", "-inf"})});
    all.add("Number", std::move(number));
    for (const auto& [name, schema] : definitions_) all.add(name, schema);
    return all;
  }

 private:
  Object key_schema(const Key& key) {
    List parts;
    List words;  // of plain types
    for (const std::string_view part : key.alternatives()) {
      Object one = part_schema(part, key);
      const auto* const word = one.members().size() == 1 ? one.get<std::string>("type") : nullptr;
      if (word != nullptr) {
        words.emplace_back(*word);
      } else {
        parts.emplace_back(std::move(one));
      }
    }
    Object schema;
    const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
    if (parts.empty()) {
      schema.add("type", words.size() == 1 ? words.front() : report::Value(words));
    } else if (parts.size() == 1 && parts.front().get<Object>()->empty()) {
      // Any value.
    } else {
      if (!words.empty())
        parts.push_back(Object().add("type", words.size() == 1 ? words.front() : report::Value(words)));
      schema.add("anyOf", std::move(parts));
    }
    return schema.add("description", std::string(key.text) + unit);
  }

  Object part_schema(std::string_view part, const Key& key) {
    if (part.ends_with("[]")) {
      part.remove_suffix(2);
      return Object().add("type", "array").add("items", part_schema(part, key));
    }
    if (part == "any") return {};
    if (part == "number") return reference("Number");
    if (part == "object" && key.of != nullptr) return use(key.of());
    return Object().add("type", part);
  }

  std::set<std::string> names_;
  std::map<std::string, Object> definitions_;
};

Object exactly(report::Value value) { return Object().add("enum", List{std::move(value)}); }

const ObjectType& empty_type() {
  static const ObjectType type{"Nothing", "Nothing.", {}};
  return type;
}

// A document without rows ends a command that found no input, or was refused.
Object document_schema(Schema& schema, const std::string& command, const DocumentType* document) {
  Object properties;
  List required;
  const auto add = [&](std::string_view key, Object value) {
    properties.add(key, std::move(value));
    required.emplace_back(key);
  };
  const ObjectType* const row = document == nullptr ? nullptr : document->row;
  const ObjectType* const summary = document == nullptr ? nullptr : document->summary;
  add("schema", exactly(report::kSchema));
  add("command", exactly(command));
  add("version", Object().add("type", "string"));
  add("dumps", Object().add("type", "array").add("items", Object().add("type", "string")));
  add("rows", row == nullptr ? Object().add("type", "array").add("maxItems", 0)
                             : Object().add("type", "array").add("items", schema.use(*row)));
  add("summary", summary == nullptr ? Object().add("type", "object").add("maxProperties", 0) : schema.use(*summary));
  add("failures", Object().add("type", "array").add("items", schema.use(failure_type())));
  if (document != nullptr) {
    const Object further = schema.object(empty_type(), document->further);
    for (const report::Member& member : further.get<Object>("properties")->members())
      properties.add(member.key, member.value);
    for (const report::Value& key : *further.get<List>("required")) required.push_back(key);
  }
  Object result;
  result.add("type", "object")
      .add("description", document == nullptr ? std::string("A command that ended before it had an answer.")
                                              : fmt::format("msdump {}: {}", document->name, document->text));
  return result.add("required", std::move(required)).add("properties", std::move(properties));
}

std::string schema_text(const std::string& title, List variants, const Schema& schema) {
  Object root;
  root.add("$schema", "http://json-schema.org/draft-07/schema#").add("title", title);
  root.add("anyOf", std::move(variants)).add("definitions", schema.definitions());
  std::string text;
  append_pretty(text, root, 0);
  return text + "\n";
}

// The cells of a table in Markdown.
std::string cell(std::string_view text) {
  std::string result(text);
  for (size_t at = 0; (at = result.find('|', at)) != std::string::npos; at += 2) result.insert(at, 1, '\\');
  return result;
}

std::string type_words(const Key& key) {
  std::vector<std::string> words;
  for (std::string_view part : key.alternatives()) {
    const bool is_list = part.ends_with("[]");
    if (is_list) part.remove_suffix(2);
    std::string word(part);
    if (part == "object" && key.of != nullptr) word = fmt::format("[{}](#{})", key.of().name, to_lower(key.of().name));
    words.push_back(is_list ? "list of " + word : word);
  }
  return fmt::format("{}{}", fmt::join(words, " or "), key.is_optional() ? ", may be missing" : "");
}

// The description of documents, and that of the types that they use.
class Pages {
 public:
  std::string document(const DocumentType& document) {
    std::string text = fmt::format("## msdump {}\n\n{}\n", document.name, document.text);
    if (document.row != nullptr) text += fmt::format("\nRows: {}.\n", link(*document.row));
    if (document.summary != nullptr) text += fmt::format("\n`summary`: {}.\n", link(*document.summary));
    if (!document.further.empty()) text += "\nFurther keys:\n\n" + table(document.further);
    return text + "\n";
  }

  std::string types() const {
    std::string text = "## Types\n\n";
    for (const auto& [name, page] : pages_) text += page;
    return text;
  }

  std::string table(const std::vector<Key>& keys) {
    std::string text = "| key | type | unit | meaning |\n|---|---|---|---|\n";
    for (const Key& key : keys) {
      if (key.of != nullptr) (void)link(key.of());
      text += fmt::format("| `{}` | {} | {} | {} |\n", key.key, cell(type_words(key)), cell(key.unit), cell(key.text));
    }
    return text;
  }

 private:
  std::string link(const ObjectType& type) {
    if (pages_.emplace(std::string(type.name), "").second) {
      const std::string page = fmt::format("### {}\n\n{}\n\n{}\n", type.name, type.text, table(type.keys));
      pages_[std::string(type.name)] = page;
    }
    return fmt::format("[{}](#{})", type.name, to_lower(type.name));
  }

  std::map<std::string, std::string> pages_;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The generated files by their paths below docs. What a person wrote in output.md stays.
std::map<std::string, std::string> generated(const fs::path& docs) {
  std::map<std::string, std::string> files;
  const CommandTree tree;
  Pages pages;
  std::string text;
  for (const CommandTree::Entry& entry : tree.entries()) {
    const std::vector<DocumentType> documents = entry.command->documents();
    if (documents.empty()) continue;
    const std::string command(entry.info().name);
    Schema schema, row_schema;
    List variants, rows;
    for (const DocumentType& document : documents) {
      variants.emplace_back(document_schema(schema, command, &document));
      if (document.row != nullptr) rows.emplace_back(row_schema.use(*document.row));
      text += pages.document(document);
    }
    variants.emplace_back(document_schema(schema, command, nullptr));
    files["schema/" + command + ".json"] = schema_text("msdump " + command + " --json", std::move(variants), schema);
    files["schema/" + command + ".row.json"] =
        schema_text("a line of msdump " + command + " --jsonl", std::move(rows), row_schema);
  }
  const std::string old = text_of(docs / "output.md");
  const size_t end = old.find(kMarker);
  files["output.md"] = old.substr(0, end) + std::string(kMarker) + "\n" + text + "## Failures\n\n" +
                       pages.table(failure_type().keys) + "\n" + pages.types();
  return files;
}

TEST_CASE("the documents of the output are those of the row types") {
  const fs::path docs = test::testdata_dir().parent_path() / "docs";
  for (const auto& [name, text] : generated(docs)) {
    INFO(name << " is stale: MSDUMP_WRITE_DOCS=1 test_apps 'the documents of the output*'");
    if (std::getenv("MSDUMP_WRITE_DOCS") != nullptr) {
      fs::create_directories((docs / name).parent_path());
      std::ofstream(docs / name) << text;
    }
    CHECK(text_of(docs / name) == text);
  }
}

TEST_CASE("every command with --json declares its documents, and every key says what it is") {
  const CommandTree tree;
  const std::set<std::string> known = {"null", "boolean", "integer", "number", "string", "object", "any"};
  for (const CommandTree::Entry& entry : tree.entries()) {
    const bool has_json = entry.options->find("json") != nullptr && entry.info().name != "merge";
    INFO(entry.info().name);
    CHECK(has_json == !entry.command->documents().empty());
    for (const DocumentType& document : entry.command->documents()) {
      for (const ObjectType* const type : {document.row, document.summary}) {
        for (const Key& key : type == nullptr ? std::vector<Key>() : type->keys) {
          INFO(type->name << "." << key.key);
          CHECK_FALSE(key.text.empty());
          for (std::string_view part : key.alternatives()) {
            if (part.ends_with("[]")) part.remove_suffix(2);
            CHECK(known.contains(std::string(part)));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace msdump::cli
