// The parts of Arrow C++ that pyarrow does not expose: StreamDecoder, PreBufferMetadata, CountRows, footer offsets, the
// statistics of each reader after it has read, the alignment and smallest savings of writers, and the messages of sparse
// tensors. Compiled against the headers and library of the pyarrow wheel.
//
// adapter.py calls three functions: one reads bytes, the others write a stream or a tensor again. Each returns null, or the
// text of the error, which begins with its code. What was read is a `Read`, whose schema and batches adapter.py wraps.
#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/api.h>
#include <arrow/sparse_tensor.h>
#include <arrow/tensor.h>
#include <arrow/util/compression.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using arrow::Result;
using arrow::Status;
namespace ipc = arrow::ipc;

namespace {

// The stage in which an error came, if it is not the library's own reading or writing; adapter.py knows these words.
constexpr char kSource[] = "source: ";
constexpr char kValues[] = "values: ";
constexpr char kAfter[] = "bytes of the container after the file";

struct Read {
  std::shared_ptr<arrow::Schema> schema;
  arrow::RecordBatchVector batches;
  ipc::ReadStats stats{};
};

// Pushes the bytes in pieces; a piece of 0 bytes stands for as many as the decoder says that it needs.
Result<Read> Push(const uint8_t* data, int64_t size, int64_t piece, const ipc::IpcReadOptions& options) {
  auto listener = std::make_shared<ipc::CollectListener>();
  ipc::StreamDecoder decoder(listener, options);
  int64_t at = 0;
  while (at < size) {
    int64_t wanted = piece > 0 ? piece : decoder.next_required_size();
    if (wanted <= 0) break;  // the stream has ended
    wanted = std::min(wanted, size - at);
    // The buffers of batches may point into the piece, so it is owned by a buffer.
    ARROW_ASSIGN_OR_RAISE(auto owned, arrow::AllocateBuffer(wanted));
    std::memcpy(owned->mutable_data(), data + at, wanted);
    ARROW_RETURN_NOT_OK(decoder.Consume(std::shared_ptr<arrow::Buffer>(std::move(owned))));
    at += wanted;
  }
  // Nobody tells a decoder that no more bytes come. It needs a word of 4 bytes where a message may begin.
  if (decoder.next_required_size() != 0 && decoder.next_required_size() != 4) {
    return Status::Invalid("the stream ends inside of a message: ", decoder.next_required_size(), " bytes are missing");
  }
  if (listener->schema() == nullptr) return Status::Invalid("the stream has no schema");
  return Read{decoder.schema(), listener->record_batches(), decoder.stats()};
}

Result<Read> OfFile(std::shared_ptr<arrow::Buffer> data, const std::string& way, const ipc::IpcReadOptions& options) {
  int64_t end = data->size();
  if (way == "embedded") {
    ARROW_ASSIGN_OR_RAISE(data, arrow::ConcatenateBuffers({data, arrow::Buffer::FromString(kAfter)}));
  }
  auto source = std::make_shared<arrow::io::BufferReader>(data);
  ARROW_ASSIGN_OR_RAISE(auto reader, ipc::RecordBatchFileReader::Open(source, end, options));
  if (way == "prebuffered") ARROW_RETURN_NOT_OK(reader->PreBufferMetadata({}));
  Read read{reader->schema(), {}, {}};
  int64_t rows = 0;
  for (int number = 0; number < reader->num_record_batches(); ++number) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(number));
    rows += batch->num_rows();
    read.batches.push_back(std::move(batch));
  }
  read.stats = reader->stats();
  ARROW_ASSIGN_OR_RAISE(auto counted, reader->CountRows());
  if (counted != rows) return Status::UnknownError("CountRows gives ", counted, ", and the batches have ", rows);
  return read;
}

Result<Read> Source(const uint8_t* data, int64_t size) {
  auto source = std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size)));
  ARROW_ASSIGN_OR_RAISE(auto reader, ipc::RecordBatchStreamReader::Open(source));
  ARROW_ASSIGN_OR_RAISE(auto batches, reader->ToRecordBatches());
  return Read{reader->schema(), std::move(batches), reader->stats()};
}

Result<std::shared_ptr<arrow::Buffer>> Written(const Read& source, bool file, const ipc::IpcWriteOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto sink, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(auto writer, file ? ipc::MakeFileWriter(sink, source.schema, options)
                                          : ipc::MakeStreamWriter(sink, source.schema, options));
  if (options.unify_dictionaries) {
    ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(source.schema, source.batches));
    ARROW_RETURN_NOT_OK(writer->WriteTable(*table));
  } else {
    for (const auto& batch : source.batches) ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return sink->Finish();
}

// A tensor, dense or sparse, written again.
Result<std::shared_ptr<arrow::Buffer>> TensorWritten(const ipc::Message& message) {
  ARROW_ASSIGN_OR_RAISE(auto sink, arrow::io::BufferOutputStream::Create());
  int32_t metadata = 0;
  int64_t body = 0;
  if (message.type() == ipc::MessageType::SPARSE_TENSOR) {
    ARROW_ASSIGN_OR_RAISE(auto sparse, ipc::ReadSparseTensor(message));
    ARROW_RETURN_NOT_OK(ipc::WriteSparseTensor(*sparse, sink.get(), &metadata, &body));
  } else {
    ARROW_ASSIGN_OR_RAISE(auto dense, ipc::ReadTensor(message));
    ARROW_RETURN_NOT_OK(ipc::WriteTensor(*dense, sink.get(), &metadata, &body));
  }
  return sink->Finish();
}

void HandOver(const arrow::Buffer& written, uint8_t** out, int64_t* length) {
  *length = written.size();
  *out = static_cast<uint8_t*>(malloc(written.size()));
  std::memcpy(*out, written.data(), written.size());
}

char* Said(const Status& status, const std::string& where = "") {
  return status.ok() ? nullptr : strdup((where + status.ToString()).c_str());
}

}  // namespace

extern "C" {

// `piece` is the bytes of a push; -1 for the reader that pulls. `fields` are `count` numbers of fields; -1 for all.
// `counted` gets the five numbers of ReadStats, in their order there; `out` gets what was read, for `ipc_release`.
char* ipc_read(int file, const uint8_t* data, int64_t size, const char* way, int64_t piece, int native, int threads,
               const int* fields, int count, int64_t* counted, Read** out) {
  std::string said;
  auto work = [&]() -> Status {
    auto options = ipc::IpcReadOptions::Defaults();
    options.ensure_native_endian = native;
    options.use_threads = threads;
    if (count >= 0) options.included_fields.assign(fields, fields + count);
    Read read;
    auto owned = arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size));
    if (file) {
      ARROW_ASSIGN_OR_RAISE(read, OfFile(owned, way, options));
    } else if (piece >= 0) {
      ARROW_ASSIGN_OR_RAISE(read, Push(data, size, piece, options));
    } else {
      auto source = std::make_shared<arrow::io::BufferReader>(owned);
      ARROW_ASSIGN_OR_RAISE(auto reader, ipc::RecordBatchStreamReader::Open(source, options));
      ARROW_ASSIGN_OR_RAISE(read.batches, reader->ToRecordBatches());
      read.schema = reader->schema();
      read.stats = reader->stats();
    }
    counted[0] = read.stats.num_messages;
    counted[1] = read.stats.num_record_batches;
    counted[2] = read.stats.num_dictionary_batches;
    counted[3] = read.stats.num_dictionary_deltas;
    counted[4] = read.stats.num_replaced_dictionaries;
    // Who takes these batches derives the sizes of buffers from offsets, so wrong offsets would end the process.
    for (const auto& batch : read.batches) {
      if (auto valid = batch->ValidateFull(); !valid.ok()) {
        said = kValues;
        return valid;
      }
    }
    *out = new Read(std::move(read));
    return Status::OK();
  };
  auto status = work();
  return Said(status, said);
}

const std::shared_ptr<arrow::Schema>* ipc_schema(const Read* read) { return &read->schema; }

int64_t ipc_batches(const Read* read) { return static_cast<int64_t>(read->batches.size()); }

const std::shared_ptr<arrow::RecordBatch>* ipc_batch(const Read* read, int64_t at) { return &read->batches[at]; }

void ipc_release(Read* read) { delete read; }

// Reads a stream and writes it again; `savings` below 0 means none is asked for. `out` gets memory of malloc.
char* ipc_write(int file, const uint8_t* data, int64_t size, const char* codec, int version4, int legacy, int alignment,
                double savings, int deltas, int unify, int depth, uint8_t** out, int64_t* length) {
  auto source = Source(data, size);
  if (!source.ok()) return Said(source.status(), kSource);
  auto work = [&]() -> Status {
    auto options = ipc::IpcWriteOptions::Defaults();
    if (*codec != '\0') {
      ARROW_ASSIGN_OR_RAISE(auto type, arrow::util::Codec::GetCompressionType(codec));
      ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(type));
    }
    options.metadata_version = version4 ? ipc::MetadataVersion::V4 : ipc::MetadataVersion::V5;
    options.write_legacy_ipc_format = legacy;
    options.alignment = alignment;
    if (savings >= 0) options.min_space_savings = savings;
    options.emit_dictionary_deltas = deltas;
    options.unify_dictionaries = unify;
    options.max_recursion_depth = depth;
    ARROW_ASSIGN_OR_RAISE(auto written, Written(*source, file, options));
    HandOver(*written, out, length);
    return Status::OK();
  };
  return Said(work());
}

// Reads the message of a tensor and writes it again. `out` gets memory of malloc.
char* ipc_write_tensor(const uint8_t* data, int64_t size, uint8_t** out, int64_t* length) {
  auto work = [&]() -> Status {
    arrow::io::BufferReader source(
        arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size)));
    ARROW_ASSIGN_OR_RAISE(auto message, ipc::ReadMessage(&source));
    if (message == nullptr) return Status::Invalid("there is no message");
    ARROW_ASSIGN_OR_RAISE(auto written, TensorWritten(*message));
    HandOver(*written, out, length);
    return Status::OK();
  };
  return Said(work());
}

void ipc_free(void* memory) { free(memory); }

}  // extern "C"
