// Reads the table p.d.t of the servers in GRPC and REST as users of cloud.google.com/go/bigquery do: row by row or,
// with the argument `arrow`, by batches, which github.com/apache/arrow-go decodes; with `bytes`, it counts their bytes.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	open := option.WithoutAuthentication()
	plain := option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))
	client, _ := bigquery.NewClient(ctx, "p", option.WithEndpoint(os.Getenv("REST")+"/bigquery/v2/"), open)
	client.EnableStorageReadClient(ctx, option.WithEndpoint(os.Getenv("GRPC")), open, plain)
	rows := client.Dataset("d").Table("t").Read(ctx)
	if len(os.Args) > 1 {
		iterator, _ := rows.ArrowIterator()
		stream := bigquery.NewArrowIteratorReader(iterator)
		if os.Args[1] == "bytes" {
			data, err := io.ReadAll(stream)
			fmt.Println(len(data), err)
			return
		}
		reader, err := ipc.NewReader(stream)
		for err == nil && reader.Next() {
			fmt.Println(reader.RecordBatch().Column(0))
		}
		if err == nil {
			err = reader.Err()
		}
		fmt.Println("error:", err)
		return
	}
	for {
		var row []bigquery.Value
		if err := rows.Next(&row); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row)
	}
}
