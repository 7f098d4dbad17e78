// A program that seeds a server: it makes the tables that the conformance suite sends, over the server's REST API.
//
// It needs nothing but the standard library. To seed a fake inside a Go process, replace make, appendRows and drop by
// calls of the fake, and serve gRPC from this process.
// The messages are described in conformance/targets/protocol.schema.json.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

type column struct {
	Name      string      `json:"name"`
	Type      string      `json:"type"`
	Mode      string      `json:"mode,omitempty"`
	Fields    []column    `json:"fields,omitempty"`
	Precision json.Number `json:"precision,omitempty"`
	Scale     json.Number `json:"scale,omitempty"`
	MaxLength json.Number `json:"max_length,omitempty"`
	RangeOf   string      `json:"range_of,omitempty"`
}

type request struct {
	Op      string           `json:"op"`
	ID      int              `json:"id"`
	Project string           `json:"project"`
	Dataset string           `json:"dataset"`
	Table   string           `json:"table"`
	Columns []column         `json:"columns"`
	Rows    []map[string]any `json:"rows"`
}

type object = map[string]any

var base string // of the REST API: the target file gives it as the first argument

func main() {
	base = os.Args[1] + "/bigquery/v2/projects/"
	lines := bufio.NewReaderSize(os.Stdin, 1<<20) // a Scanner would refuse long lines: a table may have 100 MiB
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // the end of the input asks the program to end
		}
		var asked request
		answer := object{}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber() // an INT64 does not fit into a float64
		if err := decoder.Decode(&asked); err == nil {
			answer = answered(asked)
		} else {
			answer = object{"status": "error", "message": err.Error()}
		}
		answer["id"] = asked.ID
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
}

func answered(asked request) object {
	var err error
	switch asked.Op {
	case "hello":
		return object{"status": "ok", "protocol": 1, "name": "seeder in Go", "capabilities": []string{}, "input": "rows"}
	case "make":
		err = makeTable(asked)
	case "append":
		err = appendRows(asked)
	case "drop":
		err = call("DELETE", tables(asked)+"/"+asked.Table, nil)
	default:
		return object{"status": "unsupported"}
	}
	if err != nil {
		code := "INTERNAL"
		if strings.Contains(err.Error(), "409") {
			code = "ALREADY_EXISTS"
		}
		return object{"status": "error", "message": err.Error(), "code": code}
	}
	return object{"status": "ok"}
}

func makeTable(asked request) error {
	dataset := object{"datasetReference": object{"projectId": asked.Project, "datasetId": asked.Dataset}}
	if err := call("POST", asked.Project+"/datasets", dataset); err != nil && !strings.Contains(err.Error(), "409") {
		return err
	}
	place := object{"projectId": asked.Project, "datasetId": asked.Dataset, "tableId": asked.Table}
	table := object{"tableReference": place, "schema": object{"fields": fields(asked.Columns)}}
	if err := call("POST", tables(asked), table); err != nil {
		return err
	}
	return appendRows(asked)
}

func appendRows(asked request) error {
	rows := []object{}
	for _, row := range asked.Rows {
		rows = append(rows, object{"json": record(asked.Columns, row)})
	}
	if len(rows) == 0 {
		return nil
	}
	return call("POST", tables(asked)+"/"+asked.Table+"/insertAll", object{"rows": rows})
}

func tables(asked request) string {
	return asked.Project + "/datasets/" + asked.Dataset + "/tables"
}

func call(method, path string, body object) error {
	text, _ := json.Marshal(body)
	asked, err := http.NewRequest(method, base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(asked)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || bytes.Contains(said, []byte(`"insertErrors"`)) {
		return fmt.Errorf("%s %s: %s %.300s", method, path, answer.Status, said)
	}
	return err
}

// fields is the schema as the REST API has it.
func fields(columns []column) []object {
	made := []object{}
	for _, one := range columns {
		field := object{"name": one.Name, "type": one.Type}
		for key, value := range map[string]string{
			"mode": one.Mode, "precision": string(one.Precision), "scale": string(one.Scale), "maxLength": string(one.MaxLength),
		} {
			if value != "" {
				field[key] = value
			}
		}
		if one.RangeOf != "" {
			field["rangeElementType"] = object{"type": one.RangeOf}
		}
		if len(one.Fields) > 0 {
			field["fields"] = fields(one.Fields)
		}
		made = append(made, field)
	}
	return made
}

// record is a row, or a RECORD, as insertAll takes it.
func record(columns []column, row object) object {
	made := object{}
	for _, one := range columns {
		value := row[one.Name]
		if items, repeated := value.([]any); repeated && one.Mode == "REPEATED" {
			taken := []any{}
			for _, item := range items {
				taken = append(taken, cell(one, item))
			}
			value = taken
		} else if value != nil {
			value = cell(one, value)
		}
		made[one.Name] = value
	}
	return made
}

func cell(of column, value any) any {
	switch of.Type {
	case "RECORD":
		return record(of.Fields, value.(object))
	case "INT64":
		return fmt.Sprint(value)
	case "INTERVAL":
		return interval(value.(object))
	}
	return value // every other type has the same JSON here and there
}

// interval writes months, days and microseconds as Y-M D H:M:S.F, each part with its own sign.
func interval(value object) string {
	part := func(name string) (string, int64) {
		number, _ := value[name].(json.Number)
		whole, _ := number.Int64()
		if whole < 0 {
			return "-", -whole
		}
		return "", whole
	}
	sign, months := part("months")
	daySign, days := part("days")
	timeSign, micros := part("micros")
	seconds := micros / 1_000_000
	clock := fmt.Sprintf("%d:%d:%d.%06d", seconds/3600, seconds/60%60, seconds%60, micros%1_000_000)
	return fmt.Sprintf("%s%d-%d %s%d %s%s", sign, months/12, months%12, daySign, days, timeSign, clock)
}
