// Reads the table p.d.t of the server in GRPC with the generated client, and decodes with github.com/apache/arrow-go:
// each response behind the schema of the session or, with the argument `joined`, schema and responses as one stream.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	storage "cloud.google.com/go/bigquery/storage/apiv1"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func decode(stream []byte) error {
	reader, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		return err
	}
	for reader.Next() {
		fmt.Println(reader.RecordBatch().Column(0))
	}
	return reader.Err()
}

func read(client *storage.BigQueryReadClient, ctx context.Context) error {
	asked := &storagepb.ReadSession{Table: "projects/p/datasets/d/tables/t", DataFormat: storagepb.DataFormat_ARROW}
	session, err := client.CreateReadSession(ctx, &storagepb.CreateReadSessionRequest{Parent: "projects/p", ReadSession: asked})
	if err != nil {
		return err
	}
	schema := session.GetArrowSchema().GetSerializedSchema()
	rows, err := client.ReadRows(ctx, &storagepb.ReadRowsRequest{ReadStream: session.Streams[0].Name})
	for all := schema; err == nil; {
		var response *storagepb.ReadRowsResponse
		if response, err = rows.Recv(); err == io.EOF && len(os.Args) > 1 {
			return decode(all)
		} else if err == nil && len(os.Args) > 1 {
			all = append(all, response.GetArrowRecordBatch().GetSerializedRecordBatch()...)
		} else if err == nil {
			err = decode(append(schema[:len(schema):len(schema)], response.GetArrowRecordBatch().GetSerializedRecordBatch()...))
		}
	}
	return err
}

func main() {
	open, plain := option.WithoutAuthentication(), grpc.WithTransportCredentials(insecure.NewCredentials())
	client, _ := storage.NewBigQueryReadClient(context.Background(), option.WithEndpoint(os.Getenv("GRPC")), open, option.WithGRPCDialOption(plain))
	fmt.Println("error:", read(client, context.Background()))
}
