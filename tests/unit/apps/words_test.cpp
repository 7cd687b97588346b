// docs/words.md is made of the table of words; this test says when it is stale. After a change of the table:
//
//   MSDUMP_WRITE_DOCS=1 build/release/tests/unit/test_apps "the glossary*"
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "frame/cli.h"
#include "help/words.h"
#include "support/catch.h"
#include "support/paths.h"

namespace msdump::cli {
namespace {

std::string document(std::string_view name) { return (test::testdata_dir().parent_path() / "docs" / name).string(); }

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("the glossary in docs/words.md is that of the program") {
  const std::string path = document("words.md");
  const char* const write = std::getenv("MSDUMP_WRITE_DOCS");
  if (write != nullptr && *write != '\0') std::ofstream(path, std::ios::binary) << words_document();
  CHECK(text_of(path) == words_document());
}

TEST_CASE("a word is explained once, at places that exist, and lines of the glossary fit") {
  std::set<std::string> names;
  const CommandTree tree;
  for (const Word& word : words()) {
    INFO(word.name);
    CHECK(names.insert(to_lower(word.name)).second);
    CHECK(tree.find(word.name) == nullptr);
    CHECK(word.meaning.ends_with('.'));
    CHECK(find_word(word.name) == &word);
    if (word.document.empty()) continue;
    const size_t hash = word.document.find('#');
    const std::string text = text_of(document(word.document.substr(0, hash)));
    CHECK_FALSE(text.empty());
    if (hash == std::string_view::npos) continue;
    const std::string anchor(word.document.substr(hash + 1));
    bool found = false;
    for (const std::string_view line : split(text, '\n')) {
      const size_t title = line.find_first_not_of('#');
      if (!line.starts_with("#") || title == std::string_view::npos) continue;
      std::string heading = to_lower(line.substr(title + 1));
      for (char& c : heading) c = c == ' ' ? '-' : c;
      found = found || heading == anchor;
    }
    CHECK(found);
  }
  for (const std::string_view line : split(words_text(80), '\n')) CHECK(line.size() <= 80);
}

TEST_CASE("a word is found by its forms, and a misspelt one has a neighbour") {
  REQUIRE(find_word("Rounding") != nullptr);
  CHECK(find_word("Rounding")->name == "noise");
  CHECK(find_word("shard")->name == "shard");
  CHECK(find_word("nothing") == nullptr);
  CHECK(nearest_word("noize") == "noise");
  CHECK_FALSE(nearest_word("frobnicate"));
}

}  // namespace
}  // namespace msdump::cli
