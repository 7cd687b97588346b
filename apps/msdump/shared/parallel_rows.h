// Makes the rows of a report and their text on all workers, and writes them in order.
#pragma once

#include <cstddef>
#include <functional>

#include "io/worker_pool.h"
#include "report/row_sink.h"

namespace msdump::cli {

// row_of(i) for each i in [0, count), from several threads. Stops when a write fails; the stream keeps the error.
void write_rows(report::RowSink& sink, WorkerPool& pool, size_t count,
                const std::function<report::Row(size_t)>& row_of);

}  // namespace msdump::cli
