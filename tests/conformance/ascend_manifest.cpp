#include "ascend_manifest.h"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <rapidjson/document.h>

#include "support/catch.h"
#include "support/convert_run.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

using Json = rapidjson::Value;

std::string text_at(const Json& object, const char* key) {
  REQUIRE(object.HasMember(key));
  const Json& value = object[key];
  REQUIRE(value.IsString());
  return {value.GetString(), value.GetStringLength()};
}

ExpectedTensor tensor_from(const Json& object) {
  ExpectedTensor tensor;
  tensor.file = text_at(object, "file");
  tensor.tensor = text_at(object, "tensor");
  tensor.policy = text_at(object, "policy");
  tensor.name = text_at(object, "expected_name");
  tensor.stored = text_at(object, "expected_stored");
  tensor.dtype = text_at(object, "expected_dtype");
  tensor.sha256 = text_at(object, "expected_sha256");
  REQUIRE(object.HasMember("expected_shape"));
  for (const Json& dim : object["expected_shape"].GetArray()) tensor.shape.push_back(dim.GetInt64());
  return tensor;
}

}  // namespace

bool ExpectedTensor::is_hashed() const { return name.size() >= 255; }

std::string ExpectedTensor::output() const {
  const std::string called = is_hashed() ? fs::path(stored).filename().string() : name;
  return (fs::path(file).parent_path() / called).string();
}

AscendManifest read_ascend_manifest(const fs::path& folder) {
  const std::string text = read_text(folder / "manifest.json");
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  REQUIRE_FALSE(document.HasParseError());
  AscendManifest manifest;
  for (const Json& object : document["tensors"].GetArray()) manifest.tensors.push_back(tensor_from(object));
  for (const Json& object : document["bad"].GetArray()) {
    manifest.bad.push_back({text_at(object, "file"), text_at(object, "good_message")});
  }
  return manifest;
}

std::string sha256_of(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  REQUIRE(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace msdump::test
