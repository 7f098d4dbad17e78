// Holds the Go client of BigQuery to read_retry.json: conformance replay-server -- go run .
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type trial struct{ ID, Test, Table, Grpc, Rest, Verdict, Outcome, Why string }

// ask sends JSON to the test server, or nothing, and decodes the answer.
func ask(method, url string, body, into any) {
	data, _ := json.Marshal(body)
	request, err := http.NewRequest(method, url, bytes.NewReader(data))
	check(err)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	check(json.NewDecoder(response.Body).Decode(into))
	if response.StatusCode != http.StatusOK {
		check(errors.New(response.Status))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// read returns the values of the one column of a table, as a user of the client gets them.
func read(one trial) ([]int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	open := option.WithoutAuthentication()
	client, err := bigquery.NewClient(ctx, "retry", option.WithEndpoint("http://"+one.Rest+"/bigquery/v2/"), open)
	check(err)
	defer client.Close()
	plain := option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(client.EnableStorageReadClient(ctx, option.WithEndpoint(one.Grpc), open, plain))
	rows := client.Dataset("retry").Table(one.ID).Read(ctx)
	values := []int64{}
	for {
		var row []bigquery.Value
		switch err := rows.Next(&row); {
		case errors.Is(err, iterator.Done):
			return values, nil
		case err != nil:
			return nil, err
		}
		values = append(values, row[0].(int64))
	}
}

func main() {
	bench := os.Getenv("CONFORMANCE_REST") + "/replay/retry"
	var table struct{ Tests []struct{ ID string } }
	ask("GET", bench+"/tests", nil, &table)
	failed := 0
	for _, test := range table.Tests {
		var one, judged trial
		ask("POST", bench, map[string]string{"test": test.ID}, &one)
		report := map[string]any{}
		if values, err := read(one); err != nil {
			report["error"] = err.Error()
		} else {
			report["rows"] = values
		}
		ask("POST", bench+"/"+one.ID, report, &judged)
		fmt.Printf("%-12s %-10s %s %s\n", judged.Verdict, judged.Outcome, test.ID, judged.Why)
		if judged.Verdict == "failed" {
			failed++
		}
	}
	fmt.Printf("%d tests, %d failed\n", len(table.Tests), failed)
	if failed > 0 {
		os.Exit(1)
	}
}
