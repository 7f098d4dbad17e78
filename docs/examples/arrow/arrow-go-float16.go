// github.com/apache/arrow-go/v18 18.8.0: a subnormal float16 becomes a float32 that is 2^112 times too small.
package main

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func main() {
	field := arrow.Field{Name: "h", Type: arrow.FixedWidthTypes.Float16}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{field}, nil))
	smallest := float16.FromBits(1) // 2^-24
	builder.Field(0).(*array.Float16Builder).Append(smallest)
	var stream bytes.Buffer
	ipc.NewWriter(&stream, ipc.WithSchema(builder.Schema())).Write(builder.NewRecordBatch())

	reader, _ := ipc.NewReader(&stream)
	reader.Next()
	value := reader.RecordBatch().Column(0).(*array.Float16).Value(0)
	fmt.Printf("bits %#04x, read as %g, expected %g\n", value.Uint16(), value.Float32(), 1.0/(1<<24))
}
