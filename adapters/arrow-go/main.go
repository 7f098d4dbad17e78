// Adapter of Apache Arrow Go (github.com/apache/arrow-go/v18): reads and writes IPC streams and files for the suite.
//
// Built by `python -m adapters arrow-go`. Standard input has one JSON request per line, standard output one JSON answer
// per line. A panic of the library becomes an answer whose class begins with "panic:". An error that Go itself treats
// as fatal (a stack overflow, no memory) ends the program, and the process that started it has to notice.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

const library = "github.com/apache/arrow-go/v18"

type request struct {
	ID      any                        `json:"id"`
	Op      string                     `json:"op"`
	Kind    string                     `json:"kind"`
	Data    string                     `json:"data"`
	Options map[string]json.RawMessage `json:"options"`
}

func hello() answer {
	return answer{
		"protocol": 1, "implementation": "arrow-go", "title": "Apache Arrow Go", "language": "Go",
		"version": versionOf(library),
		"reads":   []string{"stream", "file"}, "writes": []string{"stream", "file"},
		"read_options": answer{
			"native_endian": []bool{true, false}, "after": []string{"", "concatenated", "sliced"},
		},
		"write_options": answer{
			"codec": []string{"", "lz4", "zstd"}, "deltas": []bool{false, true}, "min_space_savings": []float64{},
			"given": []string{"", "sliced"},
		},
	}
}

func readOptions(given map[string]json.RawMessage) ([]ipc.Option, error) {
	var options []ipc.Option
	for name, value := range given {
		switch name {
		case "native_endian":
			var native bool
			if err := json.Unmarshal(value, &native); err != nil {
				return nil, fmt.Errorf("option native_endian: %w", err)
			}
			options = append(options, ipc.WithEnsureNativeEndian(native))
		case "after": // is about the batches, not the reader
		default:
			return nil, unsupported("there is no option " + name)
		}
	}
	return options, nil
}

func writeOptions(given map[string]json.RawMessage) ([]ipc.Option, error) {
	var options []ipc.Option
	for name, value := range given {
		var err error
		switch name {
		case "codec":
			var codec string
			err = json.Unmarshal(value, &codec)
			switch {
			case err != nil || codec == "":
			case codec == "lz4":
				options = append(options, ipc.WithLZ4())
			case codec == "zstd":
				options = append(options, ipc.WithZstd())
			default:
				return nil, unsupported("there is no codec " + codec)
			}
		case "deltas":
			var deltas bool
			err = json.Unmarshal(value, &deltas)
			options = append(options, ipc.WithDictionaryDeltas(deltas))
		case "min_space_savings":
			var savings float64
			err = json.Unmarshal(value, &savings)
			options = append(options, ipc.WithMinSpaceSavings(savings))
		case "given": // changes the batches, not the writer
		default:
			return nil, unsupported("there is no option " + name)
		}
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
	}
	return options, nil
}

// each passes every record batch to use, in order, and returns the schema.
func each(kind string, data []byte, options []ipc.Option, use func(arrow.RecordBatch) error) (*arrow.Schema, error) {
	switch kind {
	case "stream":
		reader, err := ipc.NewReader(bytes.NewReader(data), options...)
		if err != nil {
			return nil, err
		}
		defer reader.Release()
		for reader.Next() {
			if err := use(reader.RecordBatch()); err != nil {
				return nil, err
			}
		}
		return reader.Schema(), reader.Err()
	case "file":
		reader, err := ipc.NewFileReader(bytes.NewReader(data), options...)
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		for i := range reader.NumRecords() {
			batch, err := reader.RecordBatchAt(i)
			if err != nil {
				return nil, err
			}
			err = use(batch)
			batch.Release()
			if err != nil {
				return nil, err
			}
		}
		return reader.Schema(), nil
	}
	return nil, unsupported("cannot read kind " + kind)
}

// read answers a request to read. *stage names the current step while it is not the library's own reader.
func read(asked request, data []byte, stage *string) (answer, error) {
	options, err := readOptions(asked.Options)
	if err != nil {
		return nil, err
	}
	ways, err := newWays(asked.Options)
	if err != nil {
		return nil, err
	}
	valuesLeft = maxValues
	var columns [][]any
	var rows int64
	schema, err := each(asked.Kind, data, options, func(batch arrow.RecordBatch) error {
		rows += batch.NumRows()
		if columns == nil {
			columns = make([][]any, batch.NumCols())
		}
		*stage = "values"
		for c, column := range batch.Columns() {
			spend(int64(column.Len()))
			first := len(columns[c])
			for i := range column.Len() {
				columns[c] = append(columns[c], plain(column, i))
			}
			ways.look(c, batch.ColumnName(c), column, columns[c][first:])
		}
		*stage = ""
		return nil
	})
	if err != nil {
		return nil, err
	}
	names, types, values := []string{}, []string{}, [][]any{}
	for c, field := range schema.Fields() {
		names = append(names, field.Name)
		types = append(types, field.Type.String())
		column := []any{}
		if c < len(columns) && columns[c] != nil {
			column = columns[c]
		}
		values = append(values, column)
	}
	made := answer{"names": names, "types": types, "rows": rows, "columns": values}
	if ways.compared {
		made["ways"] = ways.differences
	}
	return made, nil
}

// batchWriter is the common interface of the library's writers of streams and of files.
type batchWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// pieces returns the slices of a batch that are written: its halves, and one without rows behind its last row.
func pieces(batch arrow.RecordBatch, sliced bool) []arrow.RecordBatch {
	if !sliced {
		return []arrow.RecordBatch{batch}
	}
	rows := batch.NumRows()
	middle := rows / 2
	return []arrow.RecordBatch{batch.NewSlice(0, middle), batch.NewSlice(middle, rows), batch.NewSlice(rows, rows)}
}

// write answers a request to write. *stage names the current step while it is not the library's own writer.
func write(asked request, data []byte, stage *string) (answer, error) {
	options, err := writeOptions(asked.Options)
	if err != nil {
		return nil, err
	}
	*stage = "source"
	source, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer source.Release()
	options = append(options, ipc.WithSchema(source.Schema()))
	*stage = ""
	var written bytes.Buffer
	var writer batchWriter
	switch asked.Kind {
	case "stream":
		writer = ipc.NewWriter(&written, options...)
	case "file":
		if writer, err = ipc.NewFileWriter(&written, options...); err != nil {
			return nil, err
		}
	default:
		return nil, unsupported("cannot write kind " + asked.Kind)
	}
	for source.Next() {
		for _, piece := range pieces(source.RecordBatch(), string(asked.Options["given"]) == `"sliced"`) {
			if err := writer.Write(piece); err != nil {
				return nil, err
			}
		}
	}
	if err := source.Err(); err != nil {
		*stage = "source"
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return answer{"data": base64.StdEncoding.EncodeToString(written.Bytes())}, nil
}

// class names an error: by the library's sentinel value if it is one, else by its type.
func class(err error) string {
	for name, sentinel := range map[string]error{
		"arrow.ErrInvalid": arrow.ErrInvalid, "arrow.ErrNotImplemented": arrow.ErrNotImplemented,
		"arrow.ErrType": arrow.ErrType, "arrow.ErrKey": arrow.ErrKey, "arrow.ErrIndex": arrow.ErrIndex,
		"io.ErrUnexpectedEOF": io.ErrUnexpectedEOF, "io.EOF": io.EOF,
	} {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	return fmt.Sprintf("%T", err)
}

func failure(err error) answer {
	var lacking unsupported
	if errors.As(err, &lacking) || errors.Is(err, arrow.ErrNotImplemented) {
		return answer{"status": "unsupported", "message": err.Error()}
	}
	return answer{"status": "error", "class": class(err), "message": err.Error()}
}

func respond(asked request) (made answer) {
	// The current step, while it is not the library's own reader or writer.
	stage := ""
	defer func() {
		if stage != "" && made["status"] == "error" {
			made["stage"] = stage
		}
	}()
	defer func() {
		if thrown := recover(); thrown != nil {
			switch ours := thrown.(type) {
			case unsupported:
				made = failure(ours)
				return
			case tooManyValues:
				made = failure(ours)
				return
			}
			made = panicked(thrown)
		}
	}()
	data, err := base64.StdEncoding.DecodeString(asked.Data)
	if err == nil {
		switch asked.Op {
		case "hello":
			made = hello()
		case "read":
			made, err = read(asked, data, &stage)
		case "write":
			made, err = write(asked, data, &stage)
		default:
			err = unsupported("there is no operation " + asked.Op)
		}
	}
	if err != nil {
		return failure(err)
	}
	made["status"] = "ok"
	return made
}
