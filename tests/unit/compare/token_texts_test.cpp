#include "compare/tokens/token_texts.h"

#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

std::string text_of(std::string_view json, int64_t id) {
  const auto texts = TokenTexts::parse(json);
  REQUIRE(texts);
  return std::string(texts->of(id).value_or("none"));
}

std::string problem_of(std::string_view json) {
  const auto texts = TokenTexts::parse(json);
  REQUIRE_FALSE(texts);
  return texts.error().message;
}

TEST_CASE("a vocabulary of bytes is decoded, and added tokens stay as they are") {
  const std::string json =
      "{\"added_tokens\":[{\"id\":9,\"content\":\"<|\xC4\xA0|>\",\"special\":true}],"
      "\"model\":{\"merges\":[[\"a\",\"b\"],\"c "
      "d\"],\"vocab\":{\"\xC4\xA0\":0,\"\xC4\xA0the\":1,\"\xC4\x8A\":2,\"\xC3\xA4\":3,"
      "\"\\u00e4\\u00b8\\u0143\":4,\"\xE4\xB8\xAD\":5}}}";
  CHECK(text_of(json, 0) == " ");
  CHECK(text_of(json, 1) == " the");
  CHECK(text_of(json, 2) == "\n");
  CHECK(text_of(json, 3) == "\xE4");          // a part of a character
  CHECK(text_of(json, 4) == "\xE4\xB8\xAD");  // U+4E2D
  CHECK(text_of(json, 5) == "\xE4\xB8\xAD");  // not of the alphabet
  CHECK(text_of(json, 9) == "<|\xC4\xA0|>");
  CHECK(text_of(json, 7) == "none");
  CHECK(text_of(json, -1) == "none");
}

TEST_CASE("a vocabulary of sentencepiece has U+2581 for a blank, and letters stay") {
  const std::string json =
      "{\"model\":{\"vocab\":{\"\xE2\x96\x81the\xE2\x96\x81\":1,\"\xC4\xA0\":2,\"<0x0A>\":3}},\"added_tokens\":[]}";
  CHECK(text_of(json, 1) == " the ");
  CHECK(text_of(json, 2) == "\xC4\xA0");
  CHECK(text_of(json, 3) == "<0x0A>");
}

TEST_CASE("a file that is no tokenizer has a problem") {
  CHECK(problem_of("{}").find("no model.vocab") != std::string::npos);
  CHECK(problem_of("[]").find("a tokenizer is no object") != std::string::npos);
  CHECK(problem_of("").find("a tokenizer is no object") != std::string::npos);
  CHECK(problem_of(R"({"model":{"vocab":[["a",-1.5]]}})").find("model.vocab is no object") != std::string::npos);
  CHECK(problem_of(R"({"model":{"vocab":{"a":1.5}}})").find("no whole number") != std::string::npos);
  CHECK(problem_of(R"({"model":3})").find("model is no object") != std::string::npos);
  CHECK(problem_of(R"({"model":{"vocab":{}},"added_tokens":[{"id":1}]})").find("added_tokens") != std::string::npos);
  CHECK(problem_of(R"({"model":{"vocab":{}}} x)").find("more text") != std::string::npos);
  CHECK_FALSE(TokenTexts::parse(R"({"model":{"vocab":{"a":)"));
}

}  // namespace
}  // namespace msdump
