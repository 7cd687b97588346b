#include "dump/index/tensor_list.h"

#include <algorithm>
#include <utility>

#include "base/text_pool.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/list_order.h"
#include "dump/layouts/family.h"

namespace msdump {

int64_t TensorView::count() const {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

int64_t TensorView::last() const {
  int64_t last = first;
  for (const Axis& axis : axes) last += (axis.extent - 1) * axis.stride;
  return last;
}

bool TensorView::is_run() const {
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].extent == 1) continue;
    if (axes[i].stride != stride) return false;
    stride *= axes[i].extent;
  }
  return true;
}

int64_t TensorView::element(int64_t index) const {
  int64_t element = first;
  for (size_t i = axes.size(); i-- > 0;) {
    element += index % axes[i].extent * axes[i].stride;
    index /= axes[i].extent;
  }
  return element;
}

TensorView view_of(const Shape& shape) {
  TensorView view;
  view.shape = shape;
  view.axes.resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.axes[i] = {shape[i], stride};
    stride *= shape[i];
  }
  return view;
}

namespace {

// The text of a slot, without a copy for single digits.
std::string_view slot_text(std::string_view slot, TextPool& texts) {
  static constexpr std::string_view kDigits = "0123456789";
  if (slot.size() == 1 && is_digits(slot)) return kDigits.substr(static_cast<size_t>(slot[0] - '0'), 1);
  return texts.share(slot);
}

}  // namespace

// Files that one worker reads before their tensors are collected.
constexpr size_t kFilesInPiece = 32;

// The tensors of some files. Any thread makes one; they are collected in the order of the index.
struct FileListing {
  std::vector<TensorRecord> tensors;
  SharedShapes shapes;
  std::vector<uint32_t> shape_of;            // by tensor: number in `shapes`
  std::vector<std::string_view> data_names;  // by tensor, for tables
  std::vector<Error> failures;
  TextPool texts;
  std::deque<OriginalOutput> originals;
  std::deque<std::string_view> distributions;
  std::vector<CallArgument> arguments;
  std::vector<CallOverflow> overflows;
  int64_t foreign = 0;

  void add(const TensorRecord& tensor, const std::optional<Shape>& shape) {
    tensors.push_back(tensor);
    shape_of.push_back(shape ? shapes.number_of(*shape) : SharedShapes::kNone);
  }

  // `copied`: the text does not live as long as the list. Tensors that follow each other share an equal text.
  const std::string_view* keep_distribution(std::string_view text, bool copied) {
    if (text.empty()) return nullptr;
    if (!distributions.empty() && distributions.back() == text) return &distributions.back();
    return &distributions.emplace_back(copied ? texts.keep(text) : text);
  }
};

class TensorListBuilder {
 public:
  TensorListBuilder(const DumpIndex& index, const Selection& selection, const ListOptions& options,
                    const RunContext& context)
      : index_(index), selection_(selection), options_(options), context_(context) {}

  Result<TensorList> run() {
    list_.failures_ = index_.problems();
    count_possible_passes();
    std::vector<FileId> chosen;
    uint64_t bytes = 0;
    for (FileId i{0}; i < index_.files().size(); ++i) {
      const IndexedFile& file = index_.files()[i];
      if (file.family == nullptr) continue;
      if (!may_be_selected(i)) continue;
      chosen.push_back(i);
      bytes += file.size;
    }
    if (context_.progress != nullptr) context_.progress->start(chosen.size(), bytes);
    list_.files_ = static_cast<int64_t>(chosen.size());
    const auto read_piece = [&](int64_t piece) {
      FileListing listing;
      const size_t begin = static_cast<size_t>(piece) * kFilesInPiece;
      for (size_t i = begin; i < std::min(begin + kFilesInPiece, chosen.size()); ++i) list_file(chosen[i], listing);
      return listing;
    };
    context_.pool.ordered_for(static_cast<int64_t>((chosen.size() + kFilesInPiece - 1) / kFilesInPiece), read_piece,
                              [&](int64_t, FileListing&& listing) { collect(std::move(listing)); });
    MSDUMP_CHECK_OK(context_.cancel.check());
    join_tables(index_, list_.tensors_, references_);
    find_passes(index_, list_.tensors_);
    if (!selection_.everything())
      std::erase_if(list_.tensors_, [&](const TensorRecord& tensor) { return !selected(tensor); });
    sort_tensors(index_, list_.tensors_);
    return std::move(list_);
  }

 private:
  // True if tensors are selected one by one: in tables, in files with many operators, and if the content decides the family.
  [[nodiscard]] bool selected_by_tensor(FileId file) const {
    const IndexedFile& indexed = index_.files()[file];
    return indexed.by_content || !indexed.family->has_elements() || indexed.family->names_tensors(indexed.facts);
  }

  [[nodiscard]] bool may_be_pass(FileId file) const {
    const IndexedFile& indexed = index_.files()[file];
    return info(indexed.kind).holds_parameters && indexed.family != nullptr &&
           !index_.folders()[indexed.folder].identity.step && selected_by_tensor(file);
  }

  void count_possible_passes() {
    possible_passes_.assign(index_.folders().size(), 0);
    for (FileId i{0}; i < index_.files().size(); ++i)
      possible_passes_[index_.files()[i].folder] += may_be_pass(i) ? 1U : 0U;
  }

  // Which files are passes is known when all are listed (find_passes), and so is their step.
  [[nodiscard]] bool may_be_selected(FileId file) const {
    const IndexedFile& indexed = index_.files()[file];
    const Identity identity = index_.identity_of(indexed);
    const bool of_passes = may_be_pass(file) && possible_passes_[indexed.folder] > 1;
    if (indexed.family->rows_have_steps() || of_passes) return selection_.matches_any_step(identity);
    return selected_by_tensor(file) ? selection_.matches_folder(identity) : selection_.matches_file(identity);
  }

  [[nodiscard]] bool selected(const TensorRecord& tensor) const {
    if (selected_by_tensor(tensor.file) && !selection_.matches_file(identity_of(index_, tensor))) return false;
    return tensor.name.slot.empty() || selection_.matches_tensor(tensor.name.io, tensor.name.slot);
  }

  [[nodiscard]] bool needs_header(const IndexedFile& file) const {
    if (file.by_content || file.family->names_tensors(file.facts)) return true;
    if (options_.headers == Headers::kWhereNeeded) return file.family->needs_header(file.shown_name(), file.facts);
    return options_.headers == Headers::kAll;
  }

  void list_file(FileId file_index, FileListing& listing) const {
    const IndexedFile& file = index_.files()[file_index];
    if (context_.cancel.cancelled()) return;
    if (!file.family->has_elements()) {
      list_table(file_index, listing);
    } else if (needs_header(file)) {
      list_headers(file_index, listing);
    } else {
      TensorRecord tensor;
      tensor.file = file_index;
      tensor.name = file.facts;
      listing.add(tensor, std::nullopt);
    }
    if (context_.progress != nullptr) context_.progress->unit_done(file.name);
  }

  void list_headers(FileId file_index, FileListing& listing) const {
    const IndexedFile& file = index_.files()[file_index];
    auto opened = index_.open_tensors(file);
    if (!opened) {
      if (file.by_content && opened.error().code == ErrorCode::kNotADump) {
        ++listing.foreign;
      } else {
        listing.failures.push_back(std::move(opened).error());
      }
      return;
    }
    if (opened->container == FileKind::kOpdebug) return;  // a record, not a tensor
    for (Error& problem : opened->problems) listing.failures.push_back(std::move(problem));
    const std::string_view op_name = listing.texts.keep(opened->op_name);
    for (uint32_t item = 0; item < opened->tensors.size(); ++item) {
      StoredTensor& stored = opened->tensors[item];
      if (stored.absent()) continue;
      if (stored.problem) {
        listing.failures.push_back(Error(*stored.problem).with_path(index_.path_of(file)).with_tensor(stored.label()));
      }
      TensorRecord tensor;
      tensor.file = file_index;
      tensor.item = item;
      tensor.name = file.facts;
      if (!op_name.empty()) tensor.name.op_name = op_name;
      if (!stored.op_name.empty()) {
        tensor.name.op_name = listing.texts.keep(stored.op_name);
        tensor.name.op_type = "Parameter";
      }
      tensor.name.io = stored.io;
      tensor.name.slot = slot_text(stored.slot, listing.texts);
      tensor.name.dtype = stored.original_dtype.value_or(stored.request.dtype.value_or(DType::kUndefined));
      tensor.bytes = stored.bytes;
      tensor.broken = stored.problem.has_value();
      if (!stored.original_op.empty()) {
        const std::string_view op = listing.texts.keep(stored.original_op);
        tensor.original = &listing.originals.emplace_back(OriginalOutput{op, stored.original_output});
      }
      if (stored.distribution != nullptr) tensor.distribution = listing.keep_distribution(*stored.distribution, true);
      if (const auto packed = unpack_format(stored.request.format_number, stored.request.sub_format)) {
        tensor.name.format = packed->format;
      }
      listing.add(tensor, stored.request.shape);
    }
  }

  class RowCollector : public TableSink {
   public:
    RowCollector(FileId file, const NameFacts& of_file, FileListing& listing)
        : file_(file), of_file_(of_file), listing_(listing) {}
    void row(const TableRow& row) override {
      TensorRecord tensor;
      tensor.file = tensor.table = file_;
      tensor.item = rows_++;
      tensor.row_offset = row.offset;
      tensor.order = row.order;
      tensor.name = row.facts;
      if (row.facts.op_name.empty()) {
        tensor.name.op_name = of_file_.op_name;
        tensor.name.op_type = of_file_.op_type;
        tensor.name.task_id = of_file_.task_id;
        tensor.name.stream_id = of_file_.stream_id;
        tensor.name.timestamp = of_file_.timestamp;
      }
      tensor.bytes = row.bytes;
      tensor.distribution = listing_.keep_distribution(row.distribution, false);
      tensor.step = row.step.value_or(kStepOfFolder);
      tensor.has_elements = false;
      listing_.data_names.resize(listing_.tensors.size());
      listing_.data_names.push_back(row.data_name);
      listing_.add(tensor, row.shape);
    }
    void argument(std::string_view op_name, std::string_view slot, const CallValue& value) override {
      listing_.arguments.push_back({op_name, slot, value, file_});
    }
    void overflow(std::string_view op_name, std::optional<uint64_t> status, int64_t order) override {
      listing_.overflows.push_back({op_name, status, order, file_});
    }
    void problems(const ProblemList& rows) override {
      for (Error& error : errors_of(rows)) listing_.failures.push_back(std::move(error));
    }

   private:
    FileId file_;
    uint32_t rows_ = 0;
    const NameFacts& of_file_;
    FileListing& listing_;
  };

  void list_table(FileId file_index, FileListing& listing) const {
    const IndexedFile& indexed = index_.files()[file_index];
    const auto file = File::open(index_.path_of(indexed));
    if (!file) return listing.failures.push_back(file.error());
    RowCollector rows(file_index, indexed.facts, listing);
    Status listed = indexed.family->list_rows(*file, listing.texts, rows);
    if (!listed) listing.failures.push_back(std::move(listed).error());
  }

  // Called in the order of the index, one at a time.
  void collect(FileListing&& listing) {
    list_.foreign_ += listing.foreign;
    std::vector<const Shape*> shapes;  // by number in listing.shapes
    for (uint32_t i = 0; i < listing.shapes.size(); ++i)
      shapes.push_back(list_.shapes_.shape(list_.shapes_.number_of(*listing.shapes.shape(i))));
    const size_t before = list_.tensors_.size();
    for (size_t i = 0; i < listing.tensors.size(); ++i) {
      TensorRecord& tensor = listing.tensors[i];
      if (listing.shape_of[i] != SharedShapes::kNone) tensor.shape = shapes[listing.shape_of[i]];
      if (!tensor.has_elements) references_.push_back({before + i, listing.data_names[i]});
    }
    append(std::move(listing.tensors), list_.tensors_);
    append(std::move(listing.arguments), list_.arguments_);
    append(std::move(listing.overflows), list_.overflows_);
    for (Error& failure : listing.failures) list_.failures_.push_back(std::move(failure));
    list_.texts_.push_back(std::move(listing.texts).take());
    if (!listing.originals.empty()) list_.originals_.push_back(std::move(listing.originals));
    if (!listing.distributions.empty()) list_.distributions_.push_back(std::move(listing.distributions));
  }

  // A dump of one large table is not copied.
  template <class T>
  static void append(std::vector<T>&& more, std::vector<T>& all) {
    if (all.empty()) {
      all = std::move(more);
    } else {
      all.insert(all.end(), more.begin(), more.end());
    }
  }

  const DumpIndex& index_;
  const Selection& selection_;
  const ListOptions& options_;
  const RunContext& context_;
  TensorList list_;
  std::vector<TableReference> references_;
  std::vector<uint32_t> possible_passes_;  // by folder: the files that may be a pass
};

Result<TensorList> TensorList::read(const DumpIndex& index, const Selection& selection, const ListOptions& options,
                                    const RunContext& context) {
  return TensorListBuilder(index, selection, options, context).run();
}

FolderIdentity place_of(const DumpIndex& index, const TensorRecord& tensor) {
  FolderIdentity place = index.folders()[index.files()[tensor.file].folder].identity;
  if (tensor.step != kStepOfFolder) place.step = tensor.step;
  if (tensor.pieces() != nullptr && !tensor.pieces()->of_one_rank) place.rank.reset();
  return place;
}

Identity identity_of(const DumpIndex& index, const TensorRecord& tensor) {
  const FolderIdentity place = place_of(index, tensor);
  return {place.rank, place.graph, place.step, tensor.name, tensor.occurrence, index.name_of_dump(place.dump)};
}

}  // namespace msdump
