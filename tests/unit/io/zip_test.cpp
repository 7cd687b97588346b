#include "io/zip.h"

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/zip_builder.h"

using namespace msdump;
using namespace msdump::test;

namespace {

struct Opened {
  ScratchDir scratch;
  std::unique_ptr<File> file;
  Result<ZipFile> zip = tl::unexpected(Error{});
};

std::unique_ptr<Opened> open_zip(const std::string& bytes) {
  auto opened = std::make_unique<Opened>();
  auto file = File::open(opened->scratch.write("a.zip", bytes));
  REQUIRE(file);
  opened->file = std::make_unique<File>(std::move(*file));
  opened->zip = ZipFile::open(*opened->file);
  return opened;
}

std::string data_at(const File& file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  REQUIRE(file.read_at(offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size()))));
  return bytes;
}

ErrorCode refusal(const std::string& bytes) {
  const auto opened = open_zip(bytes);
  REQUIRE_FALSE(opened->zip);
  INFO(opened->zip.error().message);
  CHECK(opened->zip.error().path == opened->file->path());
  CHECK_FALSE(opened->zip.error().message.empty());
  return opened->zip.error().code;
}

ZipSpec two_entries() {
  return {.entries = {{.name = "t/one", .data = "first"}, {.name = "t/two", .data = "number 2"}}};
}

}  // namespace

TEST_CASE("The entries of a zip archive are listed and found, in every form of directory") {
  for (const ZipForm form : {ZipForm::kPlain, ZipForm::kTorch, ZipForm::kZip64}) {
    ZipSpec spec = two_entries();
    spec.form = form;
    const auto opened = open_zip(build_zip(spec));
    REQUIRE(opened->zip);
    const ZipFile& zip = *opened->zip;
    REQUIRE(zip.entries().size() == 2);
    CHECK(zip.entries()[0].name == "t/one");
    CHECK(zip.entries()[0].crc == crc32_of("first"));
    CHECK(zip.entries()[1].name == "t/two");
    CHECK(zip.entries()[1].method == ZipEntry::kStored);
    CHECK(zip.entries()[1].size == 8);
    CHECK(zip.entries()[1].compressed_size == 8);
    CHECK_FALSE(zip.entries()[1].encrypted);
    CHECK(zip.find("t/two") == 1);
    CHECK_FALSE(zip.find("two"));
    CHECK_FALSE(zip.find("t/three"));
  }
}

TEST_CASE("A stored entry is where data_offset says, and is read whole") {
  for (const ZipForm form : {ZipForm::kPlain, ZipForm::kTorch, ZipForm::kZip64}) {
    for (const uint16_t flags : {uint16_t{0x0808}, uint16_t{0}}) {
      ZipSpec spec = two_entries();
      spec.form = form;
      for (ZipEntrySpec& entry : spec.entries) entry.flags = flags;
      const auto opened = open_zip(build_zip(spec));
      REQUIRE(opened->zip);
      const auto offset = opened->zip->data_offset(1);
      REQUIRE(offset);
      CHECK(*offset % 64 == 0);
      CHECK(data_at(*opened->file, *offset, 8) == "number 2");
      CHECK(opened->zip->read(0, 100).value() == "first");
      CHECK(opened->zip->read(1, 8).value() == "number 2");
    }
  }
}

TEST_CASE("Entries beyond the first 64 KiB of the file are found too") {
  ZipSpec spec = two_entries();
  spec.entries.insert(spec.entries.begin(), {.name = "t/large", .data = std::string(300'000, 'x')});
  for (int i = 0; i < 500; ++i) spec.entries.push_back({.name = "t/" + std::to_string(i), .data = std::to_string(i)});
  const auto opened = open_zip(build_zip(spec));
  REQUIRE(opened->zip);
  CHECK(opened->zip->entries().size() == 503);
  CHECK(data_at(*opened->file, opened->zip->data_offset(2).value(), 8) == "number 2");
  CHECK(opened->zip->read(0, 1 << 20).value() == std::string(300'000, 'x'));
  CHECK(opened->zip->read(opened->zip->find("t/437").value(), 10).value() == "437");
}

TEST_CASE("A deflated entry is read, but has no place in the file") {
  ZipSpec spec = two_entries();
  spec.entries[1].deflated = true;
  const auto opened = open_zip(build_zip(spec));
  REQUIRE(opened->zip);
  CHECK(opened->zip->entries()[1].method == ZipEntry::kDeflated);
  CHECK(opened->zip->read(1, 100).value() == "number 2");
  CHECK(opened->zip->data_offset(1).error().code == ErrorCode::kUnsupportedFormat);
  spec.entries[1].data = std::string(40'000, 'x') + "end";  // more than is read at once
  const auto larger = open_zip(build_zip(spec));
  REQUIRE(larger->zip);
  CHECK((larger->zip->read(1, 1 << 20).value() == spec.entries[1].data));
}

TEST_CASE("An encrypted entry is listed and not read") {
  ZipSpec spec = two_entries();
  spec.entries[1].flags |= 1;
  const auto opened = open_zip(build_zip(spec));
  REQUIRE(opened->zip);
  CHECK(opened->zip->entries()[1].encrypted);
  CHECK(opened->zip->read(1, 100).error().code == ErrorCode::kUnsupportedFormat);
  CHECK(opened->zip->data_offset(1).error().code == ErrorCode::kUnsupportedFormat);
}

TEST_CASE("An entry that is encrypted or compressed in another way says so") {
  ZipSpec spec = two_entries();
  spec.form = ZipForm::kPlain;
  spec.entries[1].deflated = true;
  const auto message = [&](size_t at, char value) {
    std::string bytes = build_zip(spec);
    bytes[bytes.rfind("PK\x01\x02") + at] = value;
    const auto opened = open_zip(bytes);
    REQUIRE(opened->zip);
    return opened->zip->read(1, 100).error().message;
  };
  CHECK(message(8, 9) == "zip entry 't/two' is encrypted");
  CHECK(message(10, 12) == "zip entry 't/two' is compressed in an unknown way");
  spec.entries[1].deflated = false;
  CHECK(message(20, 7) == "zip entry 't/two': a stored entry with two different sizes");
}

TEST_CASE("An entry above the limit is too large") {
  const auto opened = open_zip(build_zip(two_entries()));
  REQUIRE(opened->zip);
  CHECK(opened->zip->read(1, 7).error().code == ErrorCode::kTooLarge);
}

TEST_CASE("A wrong CRC-32 is found when the entry is read") {
  ZipSpec spec = two_entries();
  spec.entries[1].crc = 1;
  const auto opened = open_zip(build_zip(spec));
  REQUIRE(opened->zip);
  CHECK(opened->zip->read(1, 100).error().code == ErrorCode::kBadHeader);
  CHECK(opened->zip->read(0, 100).has_value());
}

TEST_CASE("Sizes that the file cannot hold are refused before anything is allocated") {
  ZipSpec spec = two_entries();
  spec.entries[1].size = uint64_t{1} << 40;
  const auto opened = open_zip(build_zip(spec));
  REQUIRE(opened->zip);
  CHECK(opened->zip->data_offset(1).error().code == ErrorCode::kTruncated);
  CHECK(opened->zip->read(1, uint64_t{1} << 50).error().code == ErrorCode::kTruncated);
  spec.entries[1].deflated = true;
  const auto bomb = open_zip(build_zip(spec));
  REQUIRE(bomb->zip);
  CHECK(bomb->zip->entries()[1].size == uint64_t{1} << 40);
  CHECK(bomb->zip->entries()[1].compressed_size == 13);
  CHECK(bomb->zip->read(1, uint64_t{1} << 50).error().code == ErrorCode::kBadHeader);
}

TEST_CASE("An entry may reach to the last byte of the file, and not beyond") {
  ZipSpec spec = two_entries();
  const std::string bytes = build_zip(spec);
  const uint64_t begin = bytes.find("number 2");
  spec.entries[1].size = bytes.size() - begin;
  const auto to_the_end = open_zip(build_zip(spec));
  REQUIRE(to_the_end->zip);
  CHECK(to_the_end->zip->data_offset(1) == begin);
  spec.entries[1].size = bytes.size() - begin + 1;
  const auto beyond = open_zip(build_zip(spec));
  REQUIRE(beyond->zip);
  CHECK(beyond->zip->data_offset(1).error().code == ErrorCode::kTruncated);
}

TEST_CASE("A directory that points beside the local header is damaged") {
  const uint64_t last_bytes = build_zip(two_entries()).size() - 10;
  for (const uint64_t offset : {uint64_t{1}, last_bytes, uint64_t{100'000}, uint64_t{1} << 40}) {
    ZipSpec spec = two_entries();
    spec.entries[1].local_offset = offset;
    const auto opened = open_zip(build_zip(spec));
    REQUIRE(opened->zip);
    CHECK(opened->zip->data_offset(1).error().code == ErrorCode::kBadHeader);
    CHECK(opened->zip->data_offset(1).error().offset == offset);
    CHECK(opened->zip->read(1, 100).error().code == ErrorCode::kBadHeader);
  }
}

TEST_CASE("Two entries of one name are refused") {
  ZipSpec spec = two_entries();
  spec.entries[1].name = "t/one";
  CHECK(refusal(build_zip(spec)) == ErrorCode::kBadHeader);
}

TEST_CASE("An archive that was cut off before its end record is truncated") {
  ZipSpec spec = two_entries();
  spec.form = ZipForm::kPlain;  // the other forms have two end records, and one is enough
  const std::string whole = build_zip(spec);
  for (size_t size = 4; size < whole.size() - 18; ++size) {
    const auto opened = open_zip(whole.substr(0, size));
    if (opened->zip || opened->zip.error().code != ErrorCode::kTruncated) {
      FAIL_CHECK("cut to " << size << " of " << whole.size() << " bytes");
    }
  }
}

TEST_CASE("An archive that was cut off inside its end record loses no entry unnoticed") {
  ZipSpec spec = two_entries();
  spec.form = ZipForm::kPlain;
  const std::string whole = build_zip(spec);
  for (size_t missing = 1; missing < 22; ++missing) {
    const auto opened = open_zip(whole.substr(0, whole.size() - missing));
    if (opened->zip) CHECK(opened->zip->entries().size() == 2);  // only zeros are missing
  }
}

TEST_CASE("A file that is not a zip archive is reported as such") {
  CHECK(refusal("") == ErrorCode::kBadHeader);
  CHECK(refusal("PK") == ErrorCode::kBadHeader);
  CHECK(refusal(std::string(5000, 'x')) == ErrorCode::kBadHeader);
}

TEST_CASE("A directory of more or fewer entries than announced") {
  ZipSpec spec = two_entries();
  spec.entry_count = 3;
  CHECK(refusal(build_zip(spec)) == ErrorCode::kBadHeader);
  spec.entry_count = uint64_t{1} << 40;
  CHECK(refusal(build_zip(spec)) == ErrorCode::kTooLarge);
}

TEST_CASE("Entries are counted up to what an archive may have") {
  ZipSpec spec = two_entries();
  spec.entry_count = 1 << 18;
  CHECK(refusal(build_zip(spec)) == ErrorCode::kBadHeader);
  spec.entry_count = (1 << 18) + 1;
  CHECK(refusal(build_zip(spec)) == ErrorCode::kTooLarge);
}

TEST_CASE("An archive in several parts is refused, whichever number says so") {
  struct Part {
    ZipForm form;
    std::string magic;
    size_t at;  // of a number of a part after the magic
  };
  for (const Part& part : {Part{ZipForm::kPlain, "PK\x05\x06", 4}, Part{ZipForm::kPlain, "PK\x05\x06", 6},
                           Part{ZipForm::kTorch, "PK\x06\x06", 16}, Part{ZipForm::kTorch, "PK\x06\x06", 20}}) {
    ZipSpec spec = two_entries();
    spec.form = part.form;
    std::string bytes = build_zip(spec);
    bytes[bytes.rfind(part.magic) + part.at] = 1;
    const auto opened = open_zip(bytes);
    REQUIRE_FALSE(opened->zip);
    CHECK(opened->zip.error().message == "a zip archive in several parts");
  }
}

TEST_CASE("An entry whose name, extra field or comment passes the end of the directory is damaged") {
  for (const size_t length_at : {28U, 30U, 32U}) {
    ZipSpec spec = two_entries();
    spec.form = ZipForm::kPlain;
    std::string bytes = build_zip(spec);
    const size_t second = bytes.rfind("PK\x01\x02");
    bytes[second + length_at + 1] = '\x7f';
    const auto opened = open_zip(bytes);
    REQUIRE_FALSE(opened->zip);
    CHECK(opened->zip.error().message == "entry 1 of the zip directory is damaged");
    CHECK(opened->zip.error().offset == second);
  }
}

TEST_CASE("The end of an archive is found before a comment of up to 65535 bytes") {
  ZipSpec spec = two_entries();
  spec.form = ZipForm::kPlain;
  std::string bytes = build_zip(spec);
  for (const size_t length : {1U, 1000U, 65535U}) {
    const auto opened = open_zip(bytes + std::string(length, 'c'));
    REQUIRE(opened->zip);
    CHECK(opened->zip->entries().size() == 2);
  }
  CHECK(refusal(bytes + std::string(65536, 'c')) == ErrorCode::kTruncated);
}

TEST_CASE("What deflate cannot make of so few bytes is refused before it is tried") {
  ZipSpec spec = two_entries();
  spec.entries[1].deflated = true;  // 13 bytes
  const auto message = [&](uint64_t size) {
    spec.entries[1].size = size;
    const auto opened = open_zip(build_zip(spec));
    REQUIRE(opened->zip);
    return opened->zip->read(1, 1 << 20).error().message;
  };
  CHECK(message(14 * 1032 - 1) == "zip entry 't/two': its data end too early");
  CHECK(message(14 * 1032) == "zip entry 't/two': its sizes cannot be right");
}

TEST_CASE("Bytes before the archive are refused: they would shift every place") {
  ZipSpec spec = two_entries();
  spec.form = ZipForm::kPlain;
  spec.prefix = "#!/bin/sh\n";
  CHECK(refusal(build_zip(spec)) == ErrorCode::kBadHeader);
}

TEST_CASE("The magic of an archive") {
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  CHECK(has_zip_magic(bytes("PK\x03\x04...")));
  CHECK_FALSE(has_zip_magic(bytes("PK\x05\x06...")));
  CHECK_FALSE(has_zip_magic(bytes("PK\x03")));
}
