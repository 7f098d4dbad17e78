// A text column whose first offset is -1: does Table.Read return an error? Needs cloud.google.com/go/bigquery 1.86.1.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"

	"cloud.google.com/go/bigquery"
	pb "cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const table = `{"schema": {"fields": [{"name": "s", "type": "STRING"}]}}`

type server struct {
	pb.UnimplementedBigQueryReadServer
	schema, batch []byte
}

func (s server) CreateReadSession(context.Context, *pb.CreateReadSessionRequest) (*pb.ReadSession, error) {
	schema := &pb.ReadSession_ArrowSchema{ArrowSchema: &pb.ArrowSchema{SerializedSchema: s.schema}}
	return &pb.ReadSession{Name: "s", Schema: schema, Streams: []*pb.ReadStream{{Name: "s/0"}}}, nil
}

func (s server) ReadRows(_ *pb.ReadRowsRequest, to pb.BigQueryRead_ReadRowsServer) error {
	batch := &pb.ReadRowsResponse_ArrowRecordBatch{ArrowRecordBatch: &pb.ArrowRecordBatch{SerializedRecordBatch: s.batch}}
	return to.Send(&pb.ReadRowsResponse{RowCount: 2, Rows: batch})
}

func main() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	builder.Field(0).(*array.StringBuilder).AppendValues([]string{"abc", "defg"}, nil)
	var all bytes.Buffer
	ipc.NewWriter(&all, ipc.WithSchema(schema)).Write(builder.NewRecordBatch())
	rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, table) }))
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	at := bytes.Index(all.Bytes()[8:], []byte{255, 255, 255, 255}) + 8
	bad := bytes.Replace(all.Bytes()[at:], []byte{0, 0, 0, 0, 3, 0, 0, 0, 7}, []byte{255, 255, 255, 255, 3, 0, 0, 0, 7}, 1)
	storage := grpc.NewServer()
	pb.RegisterBigQueryReadServer(storage, server{schema: all.Bytes()[:at], batch: bad})
	go storage.Serve(listener)
	ctx, open := context.Background(), option.WithoutAuthentication()
	plain := option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))
	client, _ := bigquery.NewClient(ctx, "p", option.WithEndpoint(rest.URL+"/bigquery/v2/"), open)
	client.EnableStorageReadClient(ctx, option.WithEndpoint(listener.Addr().String()), open, plain)
	var row []bigquery.Value
	fmt.Println(client.Dataset("d").Table("t").Read(ctx).Next(&row), row)
}
