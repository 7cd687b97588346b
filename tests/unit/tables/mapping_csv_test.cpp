#include "tables/mapping_csv.h"

#include <string>

#include <openssl/evp.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

Result<NameMapping> read_mapping(const std::string& content) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("mapping.csv", content));
  REQUIRE(file);
  return read_mapping_csv(*file);
}

TEST_CASE("a name is hashed as uuid3 in the DNS name space") {
  // RFC 4122 appendix B as corrected, and the example of Python's manual.
  CHECK(hash_name("python.org") == "6fa459eaee8a3ca4894edb77e160355e");
  CHECK(hash_name("www.widgets.com") == "3d813cbb47fb32ba91df831e1593ac29");
  CHECK(hash_name("").size() == 32);
  CHECK(hash_name(std::string(300, 'n')) != hash_name(std::string(301, 'n')));
}

TEST_CASE("names are hashed alike on a FIPS host, where OpenSSL has no MD5") {
  REQUIRE(EVP_set_default_properties(nullptr, "fips=yes") == 1);
  const std::string one = hash_name("python.org"), other = hash_name("www.widgets.com");
  REQUIRE(EVP_set_default_properties(nullptr, "") == 1);
  CHECK(one == "6fa459eaee8a3ca4894edb77e160355e");
  CHECK(other == "3d813cbb47fb32ba91df831e1593ac29");
}

TEST_CASE("lines map the name on disk to the real one") {
  const auto mapping =
      read_mapping("123.npy,Add.a.0.0.17.output.0.ND.npy\n456,Mul.b.1.2.18\r\n\nlast,without line feed");
  REQUIRE(mapping);
  CHECK(mapping->size() == 3);
  CHECK(resolve_name(*mapping, "123.npy") == "Add.a.0.0.17.output.0.ND.npy");
  CHECK(resolve_name(*mapping, "456") == "Mul.b.1.2.18");
  CHECK(resolve_name(*mapping, "last") == "without line feed");
}

TEST_CASE("a name is found with its suffix and without it") {
  const auto mapping = read_mapping("456,Mul.b.1.2.18\n");
  REQUIRE(mapping);
  CHECK(resolve_name(*mapping, "456.npy") == "Mul.b.1.2.18");
  CHECK(resolve_name(*mapping, "456.bin") == "Mul.b.1.2.18");
  CHECK_FALSE(resolve_name(*mapping, "4567"));
  CHECK_FALSE(resolve_name(*mapping, ""));
  CHECK_FALSE(resolve_name(*mapping, ".npy"));
}

TEST_CASE("everything after the first comma is the real name") {
  const auto mapping = read_mapping("1,a,b\n");
  REQUIRE(mapping);
  CHECK(resolve_name(*mapping, "1") == "a,b");
}

TEST_CASE("of two lines for a name the later one counts") {
  const auto mapping = read_mapping("1,old\n1,new\n");
  REQUIRE(mapping);
  CHECK(resolve_name(*mapping, "1") == "new");
}

TEST_CASE("an empty table is a table") {
  CHECK(read_mapping("").value().empty());
  CHECK(read_mapping("\n\r\n\n").value().empty());
}

TEST_CASE("a damaged line is named by its number") {
  for (const char* line : {"no comma", ",right only", "left only,", ","}) {
    CAPTURE(line);
    const auto mapping = read_mapping(std::string("1,a\n\n") + line + "\n2,b\n");
    REQUIRE_FALSE(mapping);
    CHECK(mapping.error().code == ErrorCode::kBadCsv);
    CHECK(mapping.error().message == "line 3: expected 'mapped,original'");
    CHECK(mapping.error().path.ends_with("/mapping.csv"));
  }
}

TEST_CASE("a table larger than any is refused before it is read") {
  const ScratchDir scratch;
  const std::string path = scratch.write("mapping.csv", "");
  std::filesystem::resize_file(path, uint64_t{1} << 40);  // sparse
  const auto file = File::open(path);
  REQUIRE(file);
  const auto mapping = read_mapping_csv(*file);
  REQUIRE_FALSE(mapping);
  CHECK(mapping.error().code == ErrorCode::kTooLarge);
  CHECK(mapping.error().message == "a mapping.csv of 1099511627776 bytes; at most 67108864 are read");
}

TEST_CASE("a table of very many short names is refused instead of taking thirty times its size") {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i) + ",a\n";
  CHECK(read_mapping(text).value().size() == 500'000);
  const auto mapping = read_mapping(text + "b,a\n");
  REQUIRE_FALSE(mapping);
  CHECK(mapping.error().code == ErrorCode::kTooLarge);
  CHECK(mapping.error().message == "a mapping.csv of more than 500000 names");
}

TEST_CASE("a table is written sorted and read back") {
  const NameMapping mapping = {{"b", "second"}, {"a", "first,with comma"}};
  CHECK(format_mapping_csv(mapping) == "a,first,with comma\nb,second\n");
  CHECK(read_mapping(format_mapping_csv(mapping)).value() == mapping);
  CHECK(format_mapping_csv({}).empty());
}

TEST_CASE("names that only a table can explain") {
  CHECK(looks_hashed("71502983415062987341509827364518"));
  CHECK(looks_hashed("6fa459eaee8a3ca4894edb77e160355e"));
  CHECK(looks_hashed("6FA459EAEE8A3CA4894EDB77E160355E.npy"));
  CHECK(looks_hashed("1804289383.npy"));
  CHECK(looks_hashed("7"));
  CHECK_FALSE(looks_hashed("6fa459eaee8a3ca4894edb77e160355"));
  CHECK_FALSE(looks_hashed("6fa459eaee8a3ca4894edb77e160355g"));
  CHECK_FALSE(looks_hashed("Default_network-Add-op1234567890"));
  CHECK_FALSE(looks_hashed("1804289383.bin"));
  CHECK_FALSE(looks_hashed("Add.a.1.2.3"));
  CHECK_FALSE(looks_hashed(".npy"));
  CHECK_FALSE(looks_hashed(""));
}

}  // namespace
}  // namespace msdump
