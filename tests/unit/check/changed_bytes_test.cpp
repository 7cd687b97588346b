#include "check/watch/changed_bytes.h"

#include "support/dump_builder.h"
#include "support/must.h"

#include "small_dump.h"

namespace msdump::check {
namespace {

constexpr uint64_t kSlabBytes = uint64_t{1} << 20;

// A file with `offset` bytes before the tensor.
struct Memory {
  explicit Memory(const std::string& bytes, uint64_t at = 3) : offset(at), size(bytes.size()) {
    scratch.write("m", std::string(at, 'x') + bytes + "tail");
    file.emplace(test::must(File::open((scratch.path() / "m").string())));
  }
  [[nodiscard]] StoredBytes view() const { return {*file, offset, size}; }

  test::ScratchDir scratch;
  uint64_t offset, size;
  std::optional<File> file;
};

ChangedBytes changes_of(const std::string& before, const std::string& after, const ChangeUnits& units) {
  const CancelToken cancel;
  const Memory a(before), b(after, 5);
  return test::must(changed_bytes(a.view(), b.view(), units, cancel));
}

std::string with(std::string bytes, const std::vector<size_t>& places) {
  for (const size_t place : places) bytes[place] = static_cast<char>(bytes[place] ^ 1);
  return bytes;
}

std::optional<std::string> repeated(const std::string& bytes, const ByteRange& range) {
  const Memory memory(bytes);
  return test::must(repeated_bytes(memory.view(), range, CancelToken()));
}

std::optional<uint64_t> found(const std::string& bytes, const ByteRange& range, const std::string& in) {
  const Memory memory(bytes), other(in, 1);
  return test::must(find_bytes(memory.view(), range, other.view(), CancelToken()));
}

using Ranges = std::vector<ByteRange>;

}  // namespace

TEST_CASE("equal memory has no changes, and neither has none") {
  const ChangedBytes same = changes_of(std::string(9000, 'a'), std::string(9000, 'a'), {4, 100});
  CHECK(same.elements + same.ranges + same.rows == 0);
  CHECK(changes_of("", "", {4, 0}).elements == 0);
}

TEST_CASE("elements count once however many of their bytes differ, and a rest is one") {
  const std::string zeros(10, '\0');
  CHECK(changes_of(zeros, with(zeros, {0, 3, 4}), {4, 0}).elements == 2);
  CHECK(changes_of(zeros, with(zeros, {0, 3, 4}), {1, 0}).elements == 3);
  const ChangedBytes rest = changes_of(zeros, with(zeros, {9}), {4, 0});
  CHECK(rest.first == Ranges{{8, 10}});
}

TEST_CASE("a range ends where as many equal bytes follow as the gap says") {
  const std::string zeros(400, '\0');
  CHECK(changes_of(zeros, with(zeros, {0, kJoinedGap}), {1, 0}).first == Ranges{{0, kJoinedGap + 1}});
  CHECK(changes_of(zeros, with(zeros, {0, kJoinedGap + 1}), {1, 0}).first ==
        Ranges{{0, 1}, {kJoinedGap + 1, kJoinedGap + 2}});
}

TEST_CASE("the largest range is the longest, by one byte too, and the first of equal ones") {
  const std::string zeros(1000, '\0');
  CHECK(changes_of(zeros, with(zeros, {0, 1, 300, 301, 302}), {1, 0}).largest == ByteRange{300, 303});
  CHECK(changes_of(zeros, with(zeros, {7, 300}), {1, 0}).largest == ByteRange{7, 8});
}

TEST_CASE("the first ranges and the largest are kept, all are counted") {
  const std::string zeros(1000, '\0');
  const ChangedBytes changed = changes_of(zeros, with(zeros, {0, 100, 200, 300, 301, 400, 401, 500}), {1, 0});
  CHECK(changed.ranges == 6);
  CHECK(changed.first == Ranges{{0, 1}, {100, 101}, {200, 201}});
  CHECK(changed.largest == ByteRange{300, 302});
}

TEST_CASE("rows with a change are counted once, those beside each other are one run") {
  const std::string zeros(200, '\0');
  const ChangedBytes changed = changes_of(zeros, with(zeros, {0, 9, 10, 35, 50, 60, 79, 100, 110, 199}), {1, 10});
  CHECK(changed.rows == 9);
  CHECK(changed.in_rows == Ranges{{0, 2}, {3, 4}, {5, 8}});
  CHECK(changes_of(zeros, with(zeros, {5, 25, 45, 65, 75, 95}), {1, 10}).in_rows == Ranges{{0, 1}, {2, 3}, {4, 5}});
  CHECK(changes_of(zeros, with(zeros, {0}), {1, 0}).rows == 0);
}

TEST_CASE("changes on both sides of blocks and slabs are found") {
  const std::string zeros(kSlabBytes + 5000, '\0');
  const ChangedBytes changed =
      changes_of(zeros, with(zeros, {4095, 4096, kSlabBytes - 1, kSlabBytes, kSlabBytes + 4999}), {1, 4096});
  CHECK(changed.elements == 5);
  CHECK(changed.first ==
        Ranges{{4095, 4097}, {kSlabBytes - 1, kSlabBytes + 1}, {kSlabBytes + 4999, kSlabBytes + 5000}});
  CHECK(changed.rows == 5);
}

TEST_CASE("a file that is shorter than its tensor is an error") {
  const Memory a(std::string(10, 'a')), b(std::string(10, 'a'));
  const StoredBytes beyond{*b.file, b.offset, 10};
  const StoredBytes past{*a.file, a.offset + 10, 10};
  CHECK(!changed_bytes(beyond, past, {}, CancelToken()));
  CancelToken cancelled;
  cancelled.cancel();
  CHECK(changed_bytes(a.view(), b.view(), {}, cancelled).error().code == ErrorCode::kCancelled);
}

TEST_CASE("a repetition is told by its shortest period, from the first byte of the range on") {
  CHECK(repeated(std::string(16, 'a'), {0, 16}) == "a");
  CHECK(repeated("xabababababababab", {1, 17}) == "ab");
  CHECK(repeated("bababababababab", {1, 13}) == "ab");
  CHECK(repeated("abcdabcdabcdabcd", {0, 16}) == "abcd");
  CHECK(repeated("abcdefghabcdefghabcdefghabcdefghab", {0, 34}) == "abcdefgh");
  CHECK(!repeated("abcdefghabcdefghabcdefgh", {0, 24}));  // three times: may be chance
  CHECK(!repeated("aaaaaaaaaaaaaaab", {0, 16}));
  CHECK(!repeated("abcabcabcabcabcabcabcabc", {0, 24}));
  CHECK(!repeated("aaaaaaa", {0, 7}));
}

TEST_CASE("a repetition may be longer than a slab") {
  std::string bytes(kSlabBytes + 11, 'a');
  CHECK(repeated(bytes, {0, bytes.size()}) == "a");
  CHECK(repeated(bytes, {3, bytes.size()}) == "a");
  for (const size_t place : {size_t{9}, size_t{kSlabBytes - 1}, size_t{kSlabBytes}, bytes.size() - 1}) {
    std::string other = bytes;
    other[place] = 'b';
    CHECK(!repeated(other, {0, bytes.size()}));
  }
}

TEST_CASE("bytes are found in another tensor at any place, the first one") {
  const std::string bytes = test::pattern_bytes(100, 1), other = test::pattern_bytes(1000, 2);
  CHECK(found(bytes, {10, 50}, other.substr(0, 77) + bytes.substr(10, 40) + other + bytes) == 77U);
  CHECK(found(bytes, {0, 100}, bytes) == 0U);
  CHECK(found(bytes, {0, 100}, other + bytes) == other.size());
  CHECK(!found(bytes, {0, 100}, other));
  CHECK(!found(bytes, {0, 100}, bytes.substr(0, 99)));
  CHECK(found(bytes, {0, kLeastSearched}, bytes) == 0U);
  CHECK(!found(bytes, {0, kLeastSearched - 1}, bytes));
}

TEST_CASE("bytes are found across slabs, and all of them are compared") {
  const std::string bytes = test::pattern_bytes(10000, 1), far = test::pattern_bytes(2 * kSlabBytes, 2);
  for (const uint64_t place : {kSlabBytes - 1, kSlabBytes - 4096, kSlabBytes - 5000, kSlabBytes}) {
    CHECK(found(bytes, {0, 10000}, far.substr(0, place) + bytes + far.substr(0, 100)) == place);
  }
  std::string nearly = bytes;
  nearly[9999] = static_cast<char>(nearly[9999] ^ 1);
  CHECK(!found(bytes, {0, 10000}, far.substr(0, 50) + nearly));
  CHECK(found(bytes, {0, 10000}, nearly + bytes) == nearly.size());
}

TEST_CASE("a search among places that all begin alike ends") {
  const std::string begin = test::pattern_bytes(4096, 1);
  std::string other;
  for (size_t i = 0; i < kMostPlaces; ++i) other += begin;
  CHECK(found(begin + "xy", {0, 4098}, other + begin + "xyz") == std::nullopt);
  CHECK(found(begin + "xy", {0, 4098}, other.substr(4096) + begin + "xyz") == other.size() - 4096);
}

}  // namespace msdump::check
