// Reads the stream of the server in FLIGHT as users of github.com/apache/arrow-go do; with `exchange`, by DoExchange.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	client, err := flight.NewClientWithMiddleware(os.Getenv("FLIGHT"), nil, nil, plain)
	if err != nil {
		panic(err)
	}
	stream, err := client.DoGet(ctx, &flight.Ticket{Ticket: []byte("ticket")})
	if err != nil {
		panic(err)
	}
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	for reader.Next() {
		fmt.Println(reader.RecordBatch().Column(0))
	}
	fmt.Println("error:", reader.Err())
}
