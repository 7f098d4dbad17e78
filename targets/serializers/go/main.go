// Arrow Go as a serializer: the payload functions of its ipc package, which Go servers of the Storage Read API can use.
//
// It answers the suite's line protocol, which conformance/targets/protocol.schema.json describes.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const library = "github.com/apache/arrow-go/v18"

type request struct {
	ID    int      `json:"id"`
	Op    string   `json:"op"`
	Needs []string `json:"needs"`
	Arrow string   `json:"arrow"`
}

type object = map[string]any

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20) // a Scanner would refuse long lines: a table may have 100 MiB
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // the end of the input asks the program to end
		}
		var asked request
		answer := object{}
		if err := json.Unmarshal(line, &asked); err == nil {
			answer = answered(asked)
		} else {
			answer = object{"status": "error", "message": err.Error()}
		}
		answer["id"] = asked.ID
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
}

// answered turns a panic of the library into the answer to its request.
func answered(asked request) (answer object) {
	defer func() {
		if thrown := recover(); thrown != nil {
			answer = object{"status": "error", "message": fmt.Sprintf("panic: %v", thrown)}
		}
	}()
	if asked.Op == "hello" {
		return object{
			"status": "ok", "protocol": 1, "name": "Arrow Go", "version": version(),
			"capabilities": []string{"arrow"}, "input": "arrow",
		}
	}
	for _, need := range asked.Needs {
		if need != "arrow" {
			return object{"status": "unsupported"}
		}
	}
	schema, batches, err := serialized(asked.Arrow)
	if err != nil {
		return object{"status": "error", "message": err.Error()}
	}
	return object{"status": "ok", "schema": schema, "batches": batches}
}

// serialized is the schema message and a message for each batch of the table, which is an IPC stream in base64.
func serialized(table string) (string, []string, error) {
	reader, err := ipc.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(table)))
	if err != nil {
		return "", nil, err
	}
	defer reader.Release()
	schema := ipc.GetSchemaPayload(reader.Schema(), memory.DefaultAllocator)
	defer schema.Release()
	first, err := text(schema)
	if err != nil {
		return "", nil, err
	}
	batches := []string{}
	for reader.Next() {
		batch, err := message(reader.RecordBatch())
		if err != nil {
			return "", nil, err
		}
		batches = append(batches, batch)
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	return first, batches, nil
}

func message(batch arrow.RecordBatch) (string, error) {
	payload, err := ipc.GetRecordBatchPayload(batch)
	if err != nil {
		return "", err
	}
	defer payload.Release()
	return text(payload)
}

func text(payload ipc.Payload) (string, error) {
	var written bytes.Buffer
	if _, err := payload.WritePayload(&written); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(written.Bytes()), nil
}

// version is that of the library, from the modules that the program was built with.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == library {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}
