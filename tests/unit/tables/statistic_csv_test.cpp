#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "tables/statistic_csv.h"

namespace msdump {
namespace {

using enum StatisticColumn;

TEST_CASE("every column is found by each of its spellings in any case") {
  CHECK(all_statistic_columns().size() == 13);
  for (const auto& entry : all_statistic_columns()) {
    CHECK(info(entry.column).title == entry.title);
    CHECK(statistic_column_from_title(to_upper(entry.title)) == entry.column);
    CHECK(statistic_column_from_category(to_upper(entry.category)) == entry.column);
    CHECK(statistic_column_from_key(to_upper(entry.key)) == entry.column);
    for (const auto name : {entry.title, entry.category, entry.key}) {
      CHECK(statistic_column_from_name(name) == entry.column);
    }
  }
}

TEST_CASE("titles of other writers are known") {
  CHECK(statistic_column_from_title("Nan Count") == kNan);
  CHECK(statistic_column_from_title("MD5 Value") == kMd5);
  CHECK(statistic_column_from_title("l2norm") == kL2Norm);
}

TEST_CASE("hash means SHA1 unless it says md5") {
  CHECK(statistic_column_from_category("hash") == kSha1);
  CHECK(statistic_column_from_category("hash:sha1") == kSha1);
  CHECK(statistic_column_from_category("hash:md5") == kMd5);
  CHECK(statistic_column_from_category("md5") == kMd5);
  CHECK(statistic_column_from_name("Hash") == kSha1);
  CHECK(statistic_column_from_name("sha1") == kSha1);
}

TEST_CASE("a spelling is not taken for another kind of spelling") {
  CHECK_FALSE(statistic_column_from_title("negative_zero_count"));
  CHECK_FALSE(statistic_column_from_category("Max Value"));
  CHECK_FALSE(statistic_column_from_category("sha1"));  // MindSpore does not know it
  CHECK_FALSE(statistic_column_from_key("hash"));
  CHECK_FALSE(statistic_column_from_name(""));
  CHECK_FALSE(statistic_column_from_name("maximum"));
  CHECK_FALSE(statistic_column_from_name("max "));
}

using enum StatisticColumn;
using test::ScratchDir;
using Strings = std::vector<std::string>;

const std::string kFields = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";
const std::string kDefault = kFields + ",Max Value,Min Value,L2Norm Value\n";
const std::string kMsprobe =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,Shape,"
    "Max Value,NaN Count\n";
const std::string kRow = R"row(Add,Default_Add-op0,3,4,17,input,1,24,float32,"(2,3)",6,1,9.53939,)row";

// A row that outlives its line.
struct Row {
  std::string op_type, op_name, task_id, stream_id, timestamp, io, slot, data_size, dtype, format, shape_text;
  Shape shape;
  bool square_brackets, trailing_comma;
  Strings values;
  size_t line;
  uint64_t offset;
};

struct Table {
  std::optional<Error> refused;  // what opening it says
  std::vector<StatisticColumn> columns;
  bool msprobe = false;
  size_t headers = 0;
  std::vector<Row> rows;
  std::vector<Error> errors;
};

Row copy_of(const StatisticRow& row) {
  const auto text = [](std::string_view view) { return std::string(view); };
  return {text(row.op_type),
          text(row.op_name),
          text(row.task_id),
          text(row.stream_id),
          text(row.timestamp),
          text(row.io),
          text(row.slot),
          text(row.data_size),
          text(row.dtype),
          text(row.format),
          text(row.shape_text),
          row.shape,
          row.square_brackets,
          row.trailing_comma,
          {row.values.begin(), row.values.end()},
          row.line,
          row.offset};
}

Table read(const std::string& content) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("statistic.csv", content));
  REQUIRE(file);
  Table table;
  auto reader = StatisticReader::open(*file);
  if (!reader) {
    table.refused = reader.error();
    CHECK(table.refused->path == file->path());
    return table;
  }
  for (;;) {
    const auto row = reader->next();
    if (row && *row == nullptr) break;
    if (row) {
      table.rows.push_back(copy_of(**row));
    } else {
      CHECK(row.error().path == file->path());
      table.errors.push_back(row.error());
    }
  }
  table.columns = reader->header().columns;
  table.msprobe = reader->header().msprobe;
  table.headers = reader->headers_read();
  return table;
}

// The one row of a table without errors.
Row only_row(const std::string& content) {
  const Table table = read(content);
  REQUIRE_FALSE(table.refused);
  for (const auto& error : table.errors) FAIL(error.message);
  REQUIRE(table.rows.size() == 1);
  return table.rows.front();
}

// The message about the one row of a table, which is bad.
std::string reason(const std::string& row, const std::string& header = kDefault) {
  const Table table = read(header + row + "\n");
  REQUIRE_FALSE(table.refused);
  CHECK(table.rows.empty());
  REQUIRE(table.errors.size() == 1);
  CHECK(table.errors[0].code == ErrorCode::kBadCsv);
  CHECK(table.errors[0].offset == header.size());
  return table.errors[0].message;
}

TEST_CASE("a row is taken apart") {
  const Row row = only_row(kDefault + kRow + "\n");
  CHECK(row.op_type == "Add");
  CHECK(row.op_name == "Default_Add-op0");
  CHECK(row.task_id == "3");
  CHECK(row.stream_id == "4");
  CHECK(row.timestamp == "17");
  CHECK(row.io == "input");
  CHECK(row.slot == "1");
  CHECK(row.data_size == "24");
  CHECK(row.dtype == "float32");
  CHECK(row.format.empty());
  CHECK(row.shape_text == "(2,3)");
  CHECK(row.shape == Shape{2, 3});
  CHECK_FALSE(row.square_brackets);
  CHECK(row.trailing_comma);
  CHECK(row.values == Strings{"6", "1", "9.53939"});
  CHECK(row.line == 2);
  CHECK(row.offset == kDefault.size());
}

TEST_CASE("the header gives the columns in the order of the file") {
  CHECK(read(kDefault).columns == std::vector{kMax, kMin, kL2Norm});
  CHECK(read(kFields + "\n").columns.empty());
  CHECK(read(kFields).columns.empty());
  CHECK(read(kFields + ",L2Norm Value,Max Value,L2Norm Value\n").columns == std::vector{kL2Norm, kMax, kL2Norm});
  CHECK(read(kFields + ",Nan Count,SHA1,MD5\r\n").columns == std::vector{kNan, kSha1, kMd5});
  CHECK(read("\xEF\xBB\xBF" + kDefault).columns.size() == 3);
}

TEST_CASE("a table without a good header is refused") {
  const auto refusal = [](const std::string& content) {
    const Table table = read(content);
    REQUIRE(table.refused);
    CHECK(table.refused->code == ErrorCode::kBadCsv);
    return table.refused->message;
  };
  CHECK(refusal("") == "no header line: the file is empty");
  CHECK(refusal("\n\n") == "no header line: the file is empty");
  CHECK(refusal(kRow + "\n" + kDefault).find("line 1: expected the header 'Op Type,") == 0);
  CHECK(refusal(kFields + ",Std Value\n") == "line 1: the column 'Std Value' is not known");
  CHECK(refusal(kFields + ",Max Value,\n") == "line 1: the column '' is not known");
  CHECK(refusal(kFields + " \n").find("line 1: expected the header") == 0);
  CHECK(refusal(kFields.substr(0, 40)).find("line 1: expected the header") == 0);
  std::string many = kFields;
  for (int i = 0; i < 1001; ++i) many += ",Count";
  CHECK(refusal(many + "\n") == "line 1: more than 1000 columns");
}

TEST_CASE("each dialect of MindSpore is read") {
  SECTION("before 2.3.0: no comma at the end") {
    const Row row = only_row(kFields + ",Max Value,MD5\nAdd,a,0,0,1,output,0,4,float32,\"()\",null,\n");
    CHECK(row.values == Strings{"null", ""});
    CHECK_FALSE(row.trailing_comma);
    CHECK(row.shape.empty());
  }
  SECTION("2.7.1: square brackets") {
    const Row row = only_row(kDefault + R"row(Add,a,0,0,1,output,0,20,float32,"[5]",-inf,nan,-nan,)row" + "\n");
    CHECK(row.shape == Shape{5});
    CHECK(row.shape_text == "[5]");
    CHECK(row.square_brackets);
    CHECK(row.values == Strings{"-inf", "nan", "-nan"});
  }
  SECTION("an empty list of categories") {
    const Row row = only_row(kFields + "\nAdd,a,0,0,1,output,0,24,float32,\"(2,3)\",\n");
    CHECK(row.values.empty());
    CHECK(row.trailing_comma);
    CHECK_FALSE(only_row(kFields + "\nAdd,a,0,0,1,output,0,24,float32,\"(2,3)\"\n").trailing_comma);
  }
  SECTION("line ends of other systems, and none at the end of the file") {
    CHECK(only_row(kFields + ",Max Value\r\nAdd,a,0,0,1,input,0,24,float32,\"(2,3)\",6\r\n").values == Strings{"6"});
    CHECK(only_row(kDefault + kRow).trailing_comma);
    CHECK(only_row(kDefault + "\n\r\n" + kRow + "\n\n").line == 4);
  }
}

TEST_CASE("commas, quotes and brackets in an op name do not mislead") {
  for (const std::string name : {"a,b", "a\"b", "\"(1,2)\"", "a,\"(1,2)\",b",
                                 "x,0,0,1,input,0,24,float32,\"(7)\",1,2,3", "(1,2)", "a,[3],b", "-7", "\"", ","}) {
    const Row row = only_row(kDefault + "Add," + name + R"row(,0,0,1,input,0,24,float32,"(2,3)",6,1,9,)row" + "\n");
    CHECK(row.op_type == "Add");
    CHECK(row.op_name == name);
    CHECK(row.shape == Shape{2, 3});
    const Row bare = only_row(kDefault + "Add," + name + ",0,0,1,input,0,24,float32,(2,3),6,1,9\n");
    CHECK(bare.op_name == name);
    CHECK(bare.shape == Shape{2, 3});
  }
  CHECK(only_row(kDefault + R"row(A,b,0,0,1,input,0,0,unsupported(46),"()",0,0,0,)row" + "\n").dtype ==
        "unsupported(46)");
  CHECK(only_row(kDefault + "A,b,0,0,1,input,0,0,unsupported(46),(7),0,0,0\n").shape == Shape{7});
}

TEST_CASE("a shape that a spreadsheet made a negative number is taken back only if the data size agrees") {
  const std::string header = kFields + ",Max Value,Min Value,Avg Value,L2Norm Value\n";
  const std::string front = "RefData,Default_Switch-op1_kernel_graph1_Data_86,185,41,1724813943439680,output,0,";
  const Row row = only_row(header + front + "16384,float32,-4096,1.00008,0.999916,1,63.9995");
  CHECK(row.shape == Shape{4096});
  CHECK(row.values == Strings{"1.00008", "0.999916", "1", "63.9995"});
  CHECK(only_row(header + front + "16384,float32,-4096,1,2,3,4,\n").trailing_comma);
  CHECK(reason(front + "2400,float32,-2300,1,2,3,4", header) == "line 2: '-2300' is not a shape");
  CHECK(reason(front + "16384,float32,4096,1,2,3,4", header) == "line 2: '4096' is not a shape");
  CHECK(reason(front + "16384,string,-4096,1,2,3,4", header) == "line 2: '-4096' is not a shape");
}

TEST_CASE("the rows of msprobe have a format and their own shapes") {
  const std::string front = "Add,a,1,2,3,";
  const Table table = read(kMsprobe + front + "Output,0,640000,DT_FLOAT,NHWC,4x50x50x16,1.99999,0\n" + front +
                           "input,1,4,FLOAT,ND,-,1,0\n" + front + "input,2,12,INT32,ND,3,1,0\n");
  REQUIRE_FALSE(table.refused);
  CHECK(table.msprobe);
  CHECK(table.errors.empty());
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0].io == "output");
  CHECK(table.rows[0].dtype == "DT_FLOAT");
  CHECK(table.rows[0].format == "NHWC");
  CHECK(table.rows[0].shape == Shape{4, 50, 50, 16});
  CHECK(table.rows[0].values == Strings{"1.99999", "0"});
  CHECK(table.rows[1].shape.empty());
  CHECK(table.rows[2].shape == Shape{3});
  CHECK(only_row(kMsprobe + front + "input,0,24,FLOAT,ND,2_3,1,").values == Strings{"1", ""});
  const Row with_comma = only_row(kMsprobe + front + "input,0,24,FLOAT,ND,2x3,1,0,");
  CHECK(with_comma.values == Strings{"1", "0"});
  CHECK(with_comma.trailing_comma);
  const std::string without_values = kMsprobe.substr(0, kMsprobe.find(",Max")) + "\n";
  CHECK(only_row(without_values + front + "input,0,24,FLOAT,ND,2x3").shape == Shape{2, 3});
  CHECK(reason("Add,a,1,2,3,Output,0,640000,FLOAT,NHWC,4x,1,0", kMsprobe) == "line 2: '4x' is not a shape");
}

const std::string kOneOperator =
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Nan Count,l2norm\n";

// CANN runtime src/aicpu_sched/aicpu_schedule/core/dfx/dump_task.cpp, ProcessDumpStats.
TEST_CASE("the rows that CANN writes for one operator have no operator") {
  const Table table = read(kOneOperator + "Input,0,268435456,DT_INT64,ND,100x20x40,200,100,10.1,0,3\n" +
                           "Output,1,4,-,NCHW,,,,,,\nOutput,2,4,DT_FLOAT,NCHW,-,1,1,1,0,1\n");
  REQUIRE_FALSE(table.refused);
  CHECK(table.errors.empty());
  CHECK(table.msprobe);
  CHECK(table.columns == std::vector{kMax, kMin, kAvg, kNan, kL2Norm});
  REQUIRE(table.rows.size() == 3);
  const Row& row = table.rows[0];
  CHECK(row.op_type.empty());
  CHECK(row.op_name.empty());
  CHECK(row.timestamp.empty());
  CHECK(row.io == "input");
  CHECK(row.slot == "0");
  CHECK(row.data_size == "268435456");
  CHECK(row.dtype == "DT_INT64");
  CHECK(row.format == "ND");
  CHECK(row.shape == Shape{100, 20, 40});
  CHECK(row.values == Strings{"200", "100", "10.1", "0", "3"});
  CHECK(row.offset == kOneOperator.size());
  CHECK(table.rows[1].shape.empty());
  CHECK(table.rows[1].values == Strings{"", "", "", "", ""});
  CHECK(table.rows[2].shape.empty());
}

TEST_CASE("a bad row of one operator says what is wrong with it") {
  const auto why = [](const char* row) { return reason(row, kOneOperator); };
  CHECK(why("Input,0,24,DT_FLOAT") == "line 2: a field is missing before the statistics");
  CHECK(why("Both,0,24,DT_FLOAT,ND,2x3,1,2,3,4,5") == "line 2: expected input or output, found 'Both'");
  CHECK(why("Input,x,24,DT_FLOAT,ND,2x3,1,2,3,4,5") == "line 2: index or data size is not a number");
  CHECK(why("Input,0,,DT_FLOAT,ND,2x3,1,2,3,4,5") == "line 2: index or data size is not a number");
  CHECK(why("Input,0,24,DT_FLOAT,ND,2x,1,2,3,4,5") == "line 2: '2x' is not a shape");
  CHECK(why("Input,0,24,DT_FLOAT,ND,2x3,1,2") == "line 2: 5 values expected, 2 found");
  CHECK(why("Input,0,24,DT_FLOAT,ND,2x3") == "line 2: 5 values expected, 0 found");
}

// msprobe ccsrc/atb_probe/atb_probe.cpp, GenLineStrforStatsCsv.
TEST_CASE("the rows of ATB operators have a run, a number and a path") {
  const std::string header =
      "Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,"
      "Tensor Path\n";
  const Table table =
      read(header + "0_39943,2,Prefill_layer/Attention,Attention,5_0,input,1,bf16,nd,36x128,2,-1,0.5,3,/d/x\n" +
           "0_39943,2,Word,Word,0,output,0,float,nd,,N/A,N/A,N/A,N/A,N/A\n");
  REQUIRE_FALSE(table.refused);
  CHECK(table.errors.empty());
  CHECK(table.columns == std::vector{kMax, kMin, kAvg, kL2Norm});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].op_name == "Prefill_layer/Attention");
  CHECK(table.rows[0].op_type == "Attention");
  CHECK(table.rows[0].io == "input");
  CHECK(table.rows[0].slot == "1");
  CHECK(table.rows[0].data_size.empty());
  CHECK(table.rows[0].shape == Shape{36, 128});
  CHECK(table.rows[0].values == Strings{"2", "-1", "0.5", "3"});
  CHECK(table.rows[1].shape.empty());
  CHECK(reason("0_1,2,Word,Word,0,output,0,float,nd,2,1,1,1", header).starts_with("line 2: "));
  CHECK(reason("0_1,2,Word,Word,0,output", header) == "line 2: a field is missing before the statistics");
  CHECK(read(header.substr(0, header.size() - 1) + ",More\n").refused);
}

TEST_CASE("an appended run of one operator begins with its own header") {
  const Table table =
      read(kOneOperator + "Input,0,4,DT_FLOAT,ND,1,1,1,1,0,1\n" +
           "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value\nOutput,0,4,DT_FLOAT,ND,1,7\n");
  CHECK(table.errors.empty());
  CHECK(table.headers == 2);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1].values == Strings{"7"});
}

TEST_CASE("a bad row says what is wrong with it") {
  const std::string values = ",6,1,9.5,";
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(2,3)\",6,1") == "line 2: 3 values expected, 2 found");
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(2,3)\",6,1,9,1,") == "line 2: 3 values expected, more found");
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(2,3)\",6,1,9,,5") == "line 2: 3 values expected, more found");
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(2;3)\"" + values) == "line 2: '(2;3)' is not a shape");
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(2,3]\"" + values) == "line 2: '(2,3]' is not a shape");
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(2,)\"" + values) == "line 2: '(2,)' is not a shape");
  CHECK(reason("Add,a,0,0,1,input,0,24,float32,\"(9223372036854775808)\"" + values) ==
        "line 2: '(9223372036854775808)' is not a shape");
  CHECK(reason("Add,a,0,0,1,both,0,24,float32,\"(2,3)\"" + values) == "line 2: expected input or output, found 'both'");
  CHECK(reason("Add,a,x,0,1,input,0,24,float32,\"(2,3)\"" + values) ==
        "line 2: task id, stream id or time stamp is not a number");
  CHECK(reason("Add,a,0,0,1,input,,24,float32,\"(2,3)\"" + values) == "line 2: slot or data size is not a number");
  CHECK(reason("Add,a,0,0,1,input,0,-4,float32,\"(2,3)\"" + values) == "line 2: slot or data size is not a number");
  CHECK(reason("Add,0,0,1,input,0,24,float32,\"(2,3)\"" + values) == "line 2: a field is missing before the shape");
  CHECK(reason(",a,0,0,1,input,0,24,float32,\"(2,3)\"" + values) == "line 2: op type or op name is empty");
  CHECK(reason("Add,a,0,0,1,input,0,24,,\"(2,3)\"" + values) == "line 2: the data type is empty");
  CHECK(reason("Add,,0,0,1,input,0,24,float32,\"(2,3)\"" + values) == "line 2: op type or op name is empty");
  CHECK(reason("Add,a,0,x,1,input,0,24,float32,\"(2,3)\"" + values) ==
        "line 2: task id, stream id or time stamp is not a number");
  CHECK(reason("Add,a,0,0,,input,0,24,float32,\"(2,3)\"" + values) ==
        "line 2: task id, stream id or time stamp is not a number");
  CHECK(reason(",6,1,9") == "line 2: no shape found");
  CHECK(reason("hello") == "line 2: no shape found");
  CHECK(reason(std::string(5, '\0')) == "line 2: no shape found");
}

TEST_CASE("shapes have at most 64 dimensions") {
  std::string dims = "1";
  for (int i = 1; i < 64; ++i) dims += ",1";
  const std::string front = "Add,a,0,0,1,input,0,4,float32,\"(";
  CHECK(only_row(kDefault + front + dims + ")\",1,1,1,\n").shape.size() == 64);
  CHECK(reason(front + dims + ",1)\",1,1,1,").find("is not a shape") != std::string::npos);
}

TEST_CASE("a bad row costs only itself") {
  const std::string too_long = "Add," + std::string(LineReader::kMaxLine, 'x') + "\n";
  const Table table = read(kDefault + kRow + "\nbad\n" + too_long + kRow + "\n");
  CHECK(table.rows.size() == 2);
  REQUIRE(table.errors.size() == 2);
  CHECK(table.errors[0].message == "line 3: no shape found");
  CHECK(table.errors[0].offset == kDefault.size() + kRow.size() + 1);
  CHECK(table.errors[1].message == "line 4 is longer than 1048576 bytes");
  CHECK(table.rows[1].line == 5);
  CHECK(table.rows[1].offset == kDefault.size() + kRow.size() + 5 + too_long.size());
}

TEST_CASE("a cut last line is distinguished from a missing line end") {
  const std::string before = kDefault + kRow + "\n";
  for (size_t length = 1; length < kRow.size(); ++length) {
    const Table table = read(before + kRow.substr(0, length));
    CHECK(table.rows.size() == 1);
    REQUIRE(table.errors.size() == 1);
    CHECK(table.errors[0].message == "line 3: the last line is cut");
    CHECK(table.errors[0].offset == before.size());
  }
  CHECK(read(before + kRow).errors.empty());
  CHECK(read(before + kRow + "\r").errors.empty());
}

TEST_CASE("the header of an appended run applies to the rows after it") {
  const std::string other = kFields + ",MD5\n";
  const Table table = read(kDefault + kRow + "\n" + other + "Mul,b,0,0,1,output,0,4,float32,\"[]\",0123,\n" + kDefault);
  CHECK(table.errors.empty());
  CHECK(table.headers == 3);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].values.size() == 3);
  CHECK(table.rows[1].values == Strings{"0123"});
  CHECK(table.columns.size() == 3);
}

TEST_CASE("a bad header in the middle ends the table") {
  const Table table = read(kDefault + kRow + "\n" + kFields + ",Std Value\n" + kRow + "\n" + kRow + "\n");
  CHECK(table.rows.size() == 1);
  REQUIRE(table.errors.size() == 1);
  CHECK(table.errors[0].message == "line 3: the column 'Std Value' is not known");
  const Table cut = read(kDefault + kRow + "\n" + kDefault.substr(0, 100));
  REQUIRE(cut.errors.size() == 1);
  CHECK(cut.errors[0].message == "line 3: the last line is cut");
}

}  // namespace

}  // namespace msdump
