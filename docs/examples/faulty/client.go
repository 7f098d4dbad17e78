// Reads the table p.d.t of the servers in GRPC and REST as users of cloud.google.com/go/bigquery do.
package main

import (
	"context"
	"fmt"
	"os"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	ctx, open := context.Background(), option.WithoutAuthentication()
	plain := option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))
	client, _ := bigquery.NewClient(ctx, "p", option.WithEndpoint(os.Getenv("REST")+"/bigquery/v2/"), open)
	client.EnableStorageReadClient(ctx, option.WithEndpoint(os.Getenv("GRPC")), open, plain)
	rows := client.Dataset("d").Table("t").Read(ctx)
	for {
		var row []bigquery.Value
		if err := rows.Next(&row); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row)
	}
}
