// Client of cloud.google.com/go/bigquery: reads tables of a server on the loopback interface for the suite.
//
// Built by `python -m adapters bigquery-go`. Standard input has one JSON request per line, standard output one JSON
// answer per line. Paths: `table-read` gives rows as Table.Read of the client does; `arrow-iterator` takes the bytes
// from the client and decodes them with arrow-go; `messages` and `joined` use the generated client of the Storage API,
// and decode each response by itself, or all of them as one stream.
//
// Values of `table-read` are the client's own Go values: *big.Rat, civil.Date, time.Time. They are converted back to
// the stored integers; a value that cannot be converted exactly is an error of the client, and the answer says so.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cloud.google.com/go/bigquery"
	storage "cloud.google.com/go/bigquery/storage/apiv1"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const library = "cloud.google.com/go/bigquery"

type request struct {
	ID          any      `json:"id"`
	Op          string   `json:"op"`
	Path        string   `json:"path"`
	GRPC        string   `json:"grpc"`
	REST        string   `json:"rest"`
	Table       string   `json:"table"`
	Columns     []string `json:"columns"`
	Restriction string   `json:"restriction"`
}

// paths are the ways to read; each fills the table.
var paths = map[string]func(context.Context, request, *table) error{
	"table-read": tableRead, "arrow-iterator": arrowIterator, "messages": messages, "joined": joined,
}

func hello() answer {
	return answer{
		"protocol": 1, "implementation": "bigquery-go", "title": library, "language": "Go", "version": versionOf(library),
		"reads": []string{}, "writes": []string{},
		"paths": []string{"table-read", "arrow-iterator", "messages", "joined"},
	}
}

// table is an answer under construction, column by column.
type table struct {
	names, types []string
	columns      [][]any
	rows         int64
}

func (t *table) name(name, kind string) {
	t.names, t.types, t.columns = append(t.names, name), append(t.types, kind), append(t.columns, []any{})
}

func (t *table) schema(schema *arrow.Schema) {
	if t.names == nil {
		for _, field := range schema.Fields() {
			t.name(field.Name, field.Type.String())
		}
	}
}

// drain adds every batch of an Arrow stream.
func (t *table) drain(reader *ipc.Reader) error {
	t.schema(reader.Schema())
	for reader.Next() {
		batch := reader.RecordBatch()
		t.rows += batch.NumRows()
		for c, column := range batch.Columns() {
			spend(int64(column.Len()))
			for i := range column.Len() {
				t.columns[c] = append(t.columns[c], plain(column, i))
			}
		}
	}
	return reader.Err()
}

func grpcOptions(address string) []option.ClientOption {
	return []option.ClientOption{
		option.WithEndpoint(address), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

// iterate starts Table.Read with the storage read client enabled.
func iterate(ctx context.Context, asked request) (*bigquery.Client, *bigquery.RowIterator, error) {
	if len(asked.Columns) > 0 || asked.Restriction != "" {
		return nil, nil, unsupported("Table.Read reads whole tables")
	}
	parts := strings.Split(asked.Table, "/")
	if len(parts) != 6 {
		return nil, nil, fmt.Errorf("expected projects/P/datasets/D/tables/T but got %s", asked.Table)
	}
	client, err := bigquery.NewClient(
		ctx, parts[1], option.WithEndpoint(asked.REST+"/bigquery/v2/"), option.WithoutAuthentication(),
	)
	if err != nil {
		return nil, nil, err
	}
	if err := client.EnableStorageReadClient(ctx, grpcOptions(asked.GRPC)...); err != nil {
		client.Close()
		return nil, nil, err
	}
	rows := client.DatasetInProject(parts[1], parts[3]).Table(parts[5]).Read(ctx)
	return client, rows, nil
}

func tableRead(ctx context.Context, asked request, made *table) error {
	client, rows, err := iterate(ctx, asked)
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		var row []bigquery.Value
		err := rows.Next(&row)
		if !rows.IsAccelerated() && (err == nil || errors.Is(err, iterator.Done)) {
			return errors.New("the client did not read through the Storage API")
		}
		if made.names == nil && rows.Schema != nil {
			for _, field := range rows.Schema {
				made.name(field.Name, string(field.Type))
			}
		}
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return err
		}
		made.rows++
		for c, field := range rows.Schema {
			value, err := goValue(row[c], field)
			if err != nil {
				return err
			}
			made.columns[c] = append(made.columns[c], value)
		}
	}
}

func arrowIterator(ctx context.Context, asked request, made *table) error {
	client, rows, err := iterate(ctx, asked)
	if err != nil {
		return err
	}
	defer client.Close()
	batches, err := rows.ArrowIterator()
	if err != nil {
		return err
	}
	reader, err := ipc.NewReader(bigquery.NewArrowIteratorReader(batches))
	if err != nil {
		return err
	}
	defer reader.Release()
	return made.drain(reader)
}

// session opens a session with the generated client.
func session(ctx context.Context, asked request) (*storage.BigQueryReadClient, *storagepb.ReadSession, error) {
	client, err := storage.NewBigQueryReadClient(ctx, grpcOptions(asked.GRPC)...)
	if err != nil {
		return nil, nil, err
	}
	opened, err := client.CreateReadSession(ctx, &storagepb.CreateReadSessionRequest{
		Parent: strings.Join(strings.Split(asked.Table, "/")[:2], "/"),
		ReadSession: &storagepb.ReadSession{
			Table: asked.Table, DataFormat: storagepb.DataFormat_ARROW,
			ReadOptions: &storagepb.ReadSession_TableReadOptions{
				SelectedFields: asked.Columns, RowRestriction: asked.Restriction,
			},
		},
	})
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, opened, nil
}

// responses passes the Arrow bytes of every response to use, stream by stream.
func responses(
	ctx context.Context, client *storage.BigQueryReadClient, opened *storagepb.ReadSession, use func([]byte) error,
) error {
	for _, stream := range opened.Streams {
		rows, err := client.ReadRows(ctx, &storagepb.ReadRowsRequest{ReadStream: stream.Name})
		if err != nil {
			return err
		}
		for {
			response, err := rows.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if err := use(response.GetArrowRecordBatch().GetSerializedRecordBatch()); err != nil {
				return err
			}
		}
	}
	return nil
}

func messages(ctx context.Context, asked request, made *table) error {
	client, opened, err := session(ctx, asked)
	if err != nil {
		return err
	}
	defer client.Close()
	schema := opened.GetArrowSchema().GetSerializedSchema()
	decode := func(batch []byte) error {
		reader, err := ipc.NewReader(io.MultiReader(bytes.NewReader(schema), bytes.NewReader(batch)))
		if err != nil {
			return err
		}
		defer reader.Release()
		return made.drain(reader)
	}
	if err := decode(nil); err != nil {
		return err
	}
	return responses(ctx, client, opened, decode)
}

func joined(ctx context.Context, asked request, made *table) error {
	client, opened, err := session(ctx, asked)
	if err != nil {
		return err
	}
	defer client.Close()
	stream := bytes.NewBuffer(opened.GetArrowSchema().GetSerializedSchema())
	join := func(batch []byte) error { stream.Write(batch); return nil }
	if err := responses(ctx, client, opened, join); err != nil {
		return err
	}
	reader, err := ipc.NewReader(stream)
	if err != nil {
		return err
	}
	defer reader.Release()
	return made.drain(reader)
}

// class names an error: by its status code if it has one, else by its type.
func class(err error) string {
	var http *googleapi.Error
	if errors.As(err, &http) {
		return fmt.Sprintf("googleapi.Error %d", http.Code)
	}
	if code, ok := status.FromError(err); ok {
		return code.Code().String()
	}
	return fmt.Sprintf("%T", err)
}

func failure(err error) answer {
	var lacking unsupported
	if errors.As(err, &lacking) {
		return answer{"status": "unsupported", "message": err.Error()}
	}
	return answer{"status": "error", "class": class(err), "message": err.Error()}
}

func respond(asked request) (made answer) {
	defer func() {
		if thrown := recover(); thrown != nil {
			made = panicked(thrown)
		}
	}()
	switch asked.Op {
	case "hello":
		made = hello()
	case "fetch":
		path, known := paths[asked.Path]
		if !known {
			return failure(unsupported("there is no path " + asked.Path))
		}
		valuesLeft = maxValues
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		read := table{}
		if err := path(ctx, asked, &read); err != nil {
			return failure(err)
		}
		if read.names == nil {
			read.names, read.types, read.columns = []string{}, []string{}, [][]any{}
		}
		made = answer{"names": read.names, "types": read.types, "rows": read.rows, "columns": read.columns}
	default:
		return failure(unsupported("there is no operation " + asked.Op))
	}
	made["status"] = "ok"
	return made
}
