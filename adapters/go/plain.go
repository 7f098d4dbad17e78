package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// float is the plain value of a float of any width: the bits of its value as float64, with one form for NaN.
func float(value float64) any {
	if math.IsNaN(value) {
		return map[string]string{"f64": "nan"}
	}
	return map[string]string{"f64": fmt.Sprintf("%016x", math.Float64bits(value))}
}

func binary(value []byte) any { return map[string]string{"hex": hex.EncodeToString(value)} }

// text is the plain value of a string; bytes that are not UTF-8, which JSON cannot carry, become hexadecimal digits.
func text(value string) any {
	if !utf8.ValidString(value) {
		return binary([]byte(value))
	}
	return value
}

func decimal(unscaled any) any { return map[string]string{"decimal": fmt.Sprint(unscaled)} }

// maxValues limits one answer: a few bytes can declare any number of values, and a library may rely on them.
const maxValues = 1 << 22

// valuesLeft counts down during one answer.
var valuesLeft int64

// tooManyValues means that the library declares more values than an answer may have.
type tooManyValues struct{}

func (tooManyValues) Error() string {
	return fmt.Sprintf("the library announces more than %d values", maxValues)
}

// spend must be called before count values are made. A count below zero, as of offsets that go down, gives nothing back.
func spend(count int64) {
	if valuesLeft -= max(count, 0); valuesLeft < 0 {
		panic(tooManyValues{})
	}
}

func span(values arrow.Array, begin, end int64) []any {
	spend(end - begin)
	made := []any{}
	for i := begin; i < end; i++ {
		made = append(made, plain(values, int(i)))
	}
	return made
}

// plain is the JSON form of one slot: the stored value, read through the accessors of the library's own array.
//
// A dictionary-encoded or run-end encoded slot has the value that it refers to, an extension that of its storage, a
// union that of its active child.
func plain(column arrow.Array, i int) any {
	switch a := column.(type) {
	// These have no validity bitmap; the values that they refer to decide whether the slot is null.
	case *array.Null:
		return nil
	case *array.SparseUnion:
		return plain(a.Field(a.ChildID(i)), i)
	case *array.DenseUnion:
		return plain(a.Field(a.ChildID(i)), int(a.ValueOffset(i)))
	case *array.RunEndEncoded:
		return plain(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return plain(a.Storage(), i)
	}
	if column.IsNull(i) {
		return nil
	}
	switch a := column.(type) {
	case *array.Dictionary:
		return plain(a.Dictionary(), a.GetValueIndex(i))
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return a.Value(i)
	case *array.Int16:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return a.Value(i)
	case *array.Uint16:
		return a.Value(i)
	case *array.Uint32:
		return a.Value(i)
	case *array.Uint64:
		return a.Value(i)
	case *array.Date32:
		return int32(a.Value(i))
	case *array.Date64:
		return int64(a.Value(i))
	case *array.Time32:
		return int32(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Duration:
		return int64(a.Value(i))
	case *array.Float16:
		return float(float64(a.Value(i).Float32()))
	case *array.Float32:
		return float(float64(a.Value(i)))
	case *array.Float64:
		return float(a.Value(i))
	case *array.String:
		return text(a.Value(i))
	case *array.LargeString:
		return text(a.Value(i))
	case *array.StringView:
		return text(a.Value(i))
	case *array.Binary:
		return binary(a.Value(i))
	case *array.LargeBinary:
		return binary(a.Value(i))
	case *array.BinaryView:
		return binary(a.Value(i))
	case *array.FixedSizeBinary:
		return binary(a.Value(i))
	case *array.Decimal32:
		return decimal(int32(a.Value(i)))
	case *array.Decimal64:
		return decimal(int64(a.Value(i)))
	case *array.Decimal128:
		return decimal(a.Value(i).BigInt())
	case *array.Decimal256:
		return decimal(a.Value(i).BigInt())
	case *array.MonthInterval:
		return map[string]int32{"months": int32(a.Value(i))}
	case *array.DayTimeInterval:
		return map[string]int32{"days": a.Value(i).Days, "ms": a.Value(i).Milliseconds}
	case *array.MonthDayNanoInterval:
		value := a.Value(i)
		return map[string]int64{"months": int64(value.Months), "days": int64(value.Days), "ns": value.Nanoseconds}
	case *array.Map:
		begin, end := a.ValueOffsets(i)
		pairs := [][2]any{}
		spend(end - begin)
		for j := begin; j < end; j++ {
			pairs = append(pairs, [2]any{plain(a.Keys(), int(j)), plain(a.Items(), int(j))})
		}
		return map[string]any{"map": pairs}
	case array.ListLike:
		begin, end := a.ValueOffsets(i)
		return span(a.ListValues(), begin, end)
	case *array.Struct:
		fields := make([]any, a.NumField())
		for f := range fields {
			fields[f] = plain(a.Field(f), i)
		}
		return map[string]any{"struct": fields}
	}
	panic(unsupported(fmt.Sprintf("no accessor for type %s", column.DataType())))
}
