// Flight client of Apache Arrow Go: makes the calls of one path against a server of the suite, and gives back what came.
//
// Built by `python -m adapters flight-go`. Standard input has one JSON request per line, standard output one JSON answer
// per line. Each path is one way in which a program can read with the library; nothing is repaired. A panic that leaves
// the library is an error with `panicked`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	library  = "github.com/apache/arrow-go/v18"
	reuse    = "arrow-flight-reuse-connection://?"
	deadline = 10 * time.Second
)

type request struct {
	ID   any    `json:"id"`
	Op   string `json:"op"`
	Path string `json:"path"`
	GRPC string `json:"grpc"`
	Name string `json:"name"`
}

// table is an answer under construction, column by column.
type table struct {
	names, types []string
	columns      [][]any
	rows         int64
}

func (t *table) schema(schema *arrow.Schema) {
	if t.names != nil {
		return
	}
	t.names = []string{}
	for _, field := range schema.Fields() {
		t.name(field.Name, field.Type.String())
	}
}

func (t *table) name(name, kind string) {
	t.names, t.types, t.columns = append(t.names, name), append(t.types, kind), append(t.columns, []any{})
}

func (t *table) add(batch arrow.RecordBatch) {
	t.rows += batch.NumRows()
	for c, column := range batch.Columns() {
		spend(int64(column.Len()))
		for i := range column.Len() {
			t.columns[c] = append(t.columns[c], plain(column, i))
		}
	}
}

// one adds a row with one value.
func (t *table) one(value any) {
	t.rows++
	t.columns[0] = append(t.columns[0], value)
}

// call is one request on its way: the client, its context and what was asked.
type call struct {
	ctx    context.Context
	client flight.Client
	asked  request
	made   *table
}

var paths = map[string]func(call) error{
	"next": next, "read": read, "chunks": chunks, "metadata": metadata,
	"flight": wholeFlight, "poll": poll, "put": put, "exchange": exchange, "action": action,
	"list-flights": listFlights, "list-actions": listActions, "schema": schema, "handshake": handshake,
}

func names() []string {
	return []string{
		"next", "read", "chunks", "metadata", "flight", "poll", "put", "exchange", "action",
		"list-flights", "list-actions", "schema", "handshake",
	}
}

func hello() answer {
	return answer{
		"protocol": 1, "implementation": "flight-go", "title": library + "/arrow/flight", "language": "Go",
		"version": versionOf(library), "reads": []string{}, "writes": []string{}, "paths": names(),
	}
}

func connect(address string, auth flight.ClientAuthHandler) (flight.Client, error) {
	return flight.NewClientWithMiddleware(
		address, auth, nil, grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
}

func (c call) descriptor() *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{c.asked.Name}}
}

// get is the reader of the ticket of a request for data alone.
func (c call) get() (*flight.Reader, error) {
	return get(c.ctx, c.client, &flight.Ticket{Ticket: []byte(c.asked.Name)})
}

func get(ctx context.Context, client flight.Client, ticket *flight.Ticket) (*flight.Reader, error) {
	stream, err := client.DoGet(ctx, ticket)
	if err != nil {
		return nil, err
	}
	return flight.NewRecordReader(stream)
}

// drain adds every batch of a reader.
func drain(reader *flight.Reader, made *table) error {
	made.schema(reader.Schema())
	for reader.Next() {
		made.add(reader.RecordBatch())
	}
	return reader.Err()
}

func next(c call) error {
	reader, err := c.get()
	if err != nil {
		return err
	}
	defer reader.Release()
	return drain(reader, c.made)
}

func read(c call) error {
	reader, err := c.get()
	if err != nil {
		return err
	}
	defer reader.Release()
	c.made.schema(reader.Schema())
	for {
		batch, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.made.add(batch)
	}
}

func chunks(c call) error {
	reader, err := c.get()
	if err != nil {
		return err
	}
	c.made.schema(reader.Schema())
	stream := make(chan flight.StreamChunk)
	go flight.StreamChunksFromReader(c.ctx, reader, stream)
	for chunk := range stream {
		if chunk.Err != nil {
			return chunk.Err
		}
		c.made.add(chunk.Data)
		chunk.Data.Release()
	}
	return nil
}

func metadata(c call) error {
	c.made.name("app_metadata", "binary")
	reader, err := c.get()
	if err != nil {
		return err
	}
	defer reader.Release()
	for reader.Next() {
		if held := reader.LatestAppMetadata(); len(held) > 0 {
			c.made.one(binary(held))
		}
	}
	return reader.Err()
}

// redeem adds the data of an endpoint at the first location that can be used.
func redeem(c call, endpoint *flight.FlightEndpoint) error {
	if len(endpoint.Location) == 0 {
		endpoint.Location = []*flight.Location{{Uri: reuse}}
	}
	var last error
	for _, location := range endpoint.Location {
		client := c.client
		if location.Uri != "" && location.Uri != reuse {
			address, ok := strings.CutPrefix(location.Uri, "grpc+tcp://")
			if !ok {
				last = fmt.Errorf("no way to %s", location.Uri)
				continue
			}
			other, err := connect(address, nil)
			if err != nil {
				last = err
				continue
			}
			defer other.Close()
			client = other
		}
		reader, err := get(c.ctx, client, endpoint.Ticket)
		if err != nil {
			last = err
			continue
		}
		defer reader.Release()
		return drain(reader, c.made)
	}
	return last
}

func endpoints(c call, info *flight.FlightInfo) error {
	for _, endpoint := range info.Endpoint {
		if err := redeem(c, endpoint); err != nil {
			return err
		}
	}
	return nil
}

func wholeFlight(c call) error {
	info, err := c.client.GetFlightInfo(c.ctx, c.descriptor())
	if err != nil {
		return err
	}
	return endpoints(c, info)
}

func poll(c call) error {
	asked := c.descriptor()
	for {
		polled, err := c.client.PollFlightInfo(c.ctx, asked)
		if err != nil {
			return err
		}
		if polled.FlightDescriptor == nil {
			if polled.Info == nil {
				return errors.New("the query has ended without an info")
			}
			return endpoints(c, polled.Info)
		}
		asked = polled.FlightDescriptor
	}
}

// upload writes one batch.
func upload(c call, stream flight.DataStreamWriter, closing func() error) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "number", Type: arrow.PrimitiveTypes.Int64}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	batch := builder.NewRecordBatch()
	defer batch.Release()
	writer := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	writer.SetFlightDescriptor(c.descriptor())
	if err := writer.Write(batch); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	return closing()
}

func put(c call) error {
	c.made.name("app_metadata", "binary")
	stream, err := c.client.DoPut(c.ctx)
	if err != nil {
		return err
	}
	if err := upload(c, stream, stream.CloseSend); err != nil {
		return err
	}
	return each(stream.Recv, func(one *flight.PutResult) any { return binary(one.AppMetadata) }, c.made)
}

func exchange(c call) error {
	stream, err := c.client.DoExchange(c.ctx)
	if err != nil {
		return err
	}
	if err := upload(c, stream, stream.CloseSend); err != nil {
		return err
	}
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		return err
	}
	defer reader.Release()
	return drain(reader, c.made)
}

// each adds a value of every message of a stream.
func each[T any](receive func() (T, error), value func(T) any, made *table) error {
	for {
		one, err := receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		made.one(value(one))
	}
}

func action(c call) error {
	c.made.name("body", "binary")
	stream, err := c.client.DoAction(c.ctx, &flight.Action{Type: c.asked.Name})
	if err != nil {
		return err
	}
	return each(stream.Recv, func(one *flight.Result) any { return binary(one.Body) }, c.made)
}

func listFlights(c call) error {
	c.made.name("path", "utf8")
	stream, err := c.client.ListFlights(c.ctx, &flight.Criteria{})
	if err != nil {
		return err
	}
	path := func(one *flight.FlightInfo) any { return strings.Join(one.GetFlightDescriptor().GetPath(), "/") }
	return each(stream.Recv, path, c.made)
}

func listActions(c call) error {
	c.made.name("type", "utf8")
	stream, err := c.client.ListActions(c.ctx, &flight.Empty{})
	if err != nil {
		return err
	}
	return each(stream.Recv, func(one *flight.ActionType) any { return one.Type }, c.made)
}

func schema(c call) error {
	c.made.name("name", "utf8")
	result, err := c.client.GetSchema(c.ctx, c.descriptor())
	if err != nil {
		return err
	}
	found, err := flight.DeserializeSchema(result.GetSchema(), memory.DefaultAllocator)
	if err != nil {
		return err
	}
	for _, field := range found.Fields() {
		c.made.one(field.Name)
	}
	return nil
}

// login sends a password and keeps what comes.
type login struct{ token []byte }

func (l *login) Authenticate(_ context.Context, conn flight.AuthConn) error {
	if err := conn.Send([]byte("password")); err != nil {
		return err
	}
	token, err := conn.Read()
	l.token = token
	return err
}

func (l *login) GetToken(context.Context) (string, error) { return string(l.token), nil }

func handshake(c call) error {
	c.made.name("token", "binary")
	handler := &login{}
	client, err := connect(c.asked.GRPC, handler)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Authenticate(c.ctx); err != nil {
		return err
	}
	c.made.one(binary(handler.token))
	return nil
}

// class names an error: by its status code if it has one, else by its type.
func class(err error) string {
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

func fetch(asked request) (answer, error) {
	path, known := paths[asked.Path]
	if !known {
		return nil, unsupported("there is no path " + asked.Path)
	}
	valuesLeft = maxValues
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	client, err := connect(asked.GRPC, nil)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	made := table{}
	if err := path(call{ctx, client, asked, &made}); err != nil {
		return nil, err
	}
	if made.names == nil {
		made.names, made.types, made.columns = []string{}, []string{}, [][]any{}
	}
	return answer{"names": made.names, "types": made.types, "rows": made.rows, "columns": made.columns}, nil
}

func respond(asked request) (made answer) {
	defer func() {
		if thrown := recover(); thrown != nil {
			made = panicked(thrown)
		}
	}()
	var err error
	switch asked.Op {
	case "hello":
		made = hello()
	case "flight":
		made, err = fetch(asked)
	default:
		err = unsupported("there is no operation " + asked.Op)
	}
	if err != nil {
		return failure(err)
	}
	made["status"] = "ok"
	return made
}
