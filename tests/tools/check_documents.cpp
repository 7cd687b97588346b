// check_documents SCHEMA_DIR FILE...: validates what the tests of the command line printed with --json and --jsonl against
// docs/schema; see tests/cli/run.sh. A file is NAME.COMMAND.json (documents; their own `command` counts) or
// NAME.COMMAND.jsonl. A key that the schema does not have is an error, too: new keys are allowed to readers, not to us.
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

namespace {

using Json = rapidjson::Document;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A byte that is not UTF-8 stands as a lone surrogate, which RapidJSON does not read.
std::string without_lone_surrogates(std::string text) {
  const auto is_escape = [&](size_t at, const char* digits) {
    return text.compare(at, 3, "\\ud") == 0 && at + 3 < text.size() &&
           std::string(digits).find(text[at + 3]) != std::string::npos;
  };
  for (size_t at = 0; (at = text.find("\\ud", at)) != std::string::npos; at += 6) {
    if (at > 0 && text[at - 1] == '\\' && (at < 2 || text[at - 2] != '\\')) continue;
    if (is_escape(at, "89ab") && is_escape(at + 6, "cdef")) {
      at += 6;
    } else if (is_escape(at, "89abcdef")) {
      text.replace(at, 6, "\\u003f");
    }
  }
  return text;
}

void forbid_other_keys(rapidjson::Value& schema, Json::AllocatorType& allocator) {
  if (schema.IsArray()) {
    for (rapidjson::Value& one : schema.GetArray()) forbid_other_keys(one, allocator);
  } else if (schema.IsObject()) {
    const bool closes =
        schema.HasMember("properties") && schema["properties"].IsObject() && schema.HasMember("required");
    for (auto& member : schema.GetObject()) forbid_other_keys(member.value, allocator);
    if (closes) schema.AddMember("additionalProperties", false, allocator);
  }
}

class Schemas {
 public:
  explicit Schemas(std::string folder) : folder_(std::move(folder)) {}

  // Null if the command has none.
  const rapidjson::SchemaDocument* find(const std::string& name) {
    auto [found, is_new] = schemas_.try_emplace(name);
    if (is_new) {
      Json json;
      json.Parse(text_of(folder_ + "/" + name + ".json").c_str());
      if (!json.HasParseError()) {
        forbid_other_keys(json, json.GetAllocator());
        found->second = std::make_unique<rapidjson::SchemaDocument>(json);
      }
    }
    return found->second.get();
  }

 private:
  std::string folder_;
  std::map<std::string, std::unique_ptr<rapidjson::SchemaDocument>> schemas_;
};

std::string text_of(const rapidjson::Pointer& pointer) {
  rapidjson::StringBuffer buffer;
  pointer.Stringify(buffer);
  return buffer.GetString();
}

bool is_valid(const Json& json, const rapidjson::SchemaDocument* schema, const std::string& where) {
  if (schema == nullptr) {
    std::printf("%s: there is no schema\n", where.c_str());
    return false;
  }
  rapidjson::SchemaValidator validator(*schema);
  if (json.Accept(validator)) return true;
  std::printf("%s: does not match its schema at '%s' (%s)\n", where.c_str(),
              text_of(validator.GetInvalidDocumentPointer()).c_str(), validator.GetInvalidSchemaKeyword());
  return false;
}

// The documents of a file one after another, or one a line.
bool check_file(Schemas& schemas, const std::string& path) {
  const bool is_lines = path.ends_with(".jsonl");
  const size_t end = path.rfind('.'), begin = path.rfind('.', end - 1) + 1;
  const std::string command = path.substr(begin, end - begin);
  const std::string text = without_lone_surrogates(text_of(path));
  rapidjson::StringStream stream(text.c_str());
  for (size_t number = 1;; ++number) {
    while (stream.Peek() == '\n' || stream.Peek() == ' ') stream.Take();
    if (stream.Peek() == '\0') return true;
    Json json;
    json.ParseStream<rapidjson::kParseStopWhenDoneFlag>(stream);
    const std::string where = path + ", document " + std::to_string(number);
    if (json.HasParseError()) {
      std::printf("%s: %s\n", where.c_str(), rapidjson::GetParseError_En(json.GetParseError()));
      return false;
    }
    const bool has_command = json.IsObject() && json.HasMember("command") && json["command"].IsString();
    const bool has_rows = json.IsObject() && json.HasMember("rows") && json["rows"].IsArray() && !json["rows"].Empty();
    const std::string name = is_lines ? command + ".row" : has_command ? json["command"].GetString() : command;
    const bool is_unknown_command = !is_lines && !has_rows && schemas.find(name) == nullptr;
    if (!is_unknown_command && !is_valid(json, schemas.find(name), where)) {
      std::printf("  %.2000s\n", text.c_str());
      return false;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Schemas schemas(argv[1]);
  int failed = 0;
  for (int i = 2; i < argc; ++i) failed += check_file(schemas, argv[i]) ? 0 : 1;
  return failed == 0 ? 0 : 1;
}
