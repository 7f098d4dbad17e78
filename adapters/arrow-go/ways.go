package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// mostDifferences limits what is noted of one answer, and shownOfValue the characters of a value in it.
const (
	mostDifferences = 5
	shownOfValue    = 80
)

// afterwards is what the library can do with the rows that it read: the values of the option after.
var afterwards = map[string]func(arrow.Array) ([]arrow.Array, error){"sliced": halves, "concatenated": joined}

// ways compares the values before and after the library did something with the rows; every difference is noted, and
// every error and panic. What the library says it lacks is not compared.
type ways struct {
	after       string
	differences []string
	compared    bool
}

func newWays(given map[string]json.RawMessage) (*ways, error) {
	made := &ways{differences: []string{}}
	if value, ok := given["after"]; ok {
		if err := json.Unmarshal(value, &made.after); err != nil {
			return nil, fmt.Errorf("option after: %w", err)
		}
	}
	if made.after != "" && afterwards[made.after] == nil {
		return nil, unsupported("nothing is done that is named " + made.after)
	}
	return made, nil
}

// halves returns the slices of an array: its halves, and one without rows behind its last row.
func halves(column arrow.Array) ([]arrow.Array, error) {
	rows := int64(column.Len())
	middle := rows / 2
	bounds := [][2]int64{{0, middle}, {middle, rows}, {rows, rows}}
	made := []arrow.Array{}
	for _, each := range bounds {
		made = append(made, array.NewSlice(column, each[0], each[1]))
	}
	return made, nil
}

// joined returns the array of all slices, one after the other.
func joined(column arrow.Array) ([]arrow.Array, error) {
	pieces, err := halves(column)
	if err != nil {
		return nil, err
	}
	whole, err := array.Concatenate(pieces, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	return []arrow.Array{whole}, nil
}

// look compares one column of a batch; expected are its values before.
func (w *ways) look(number int, name string, column arrow.Array, expected []any) {
	if w.after == "" {
		return
	}
	where := fmt.Sprintf("column %d '%s'", number, name)
	defer func() {
		switch thrown := recover().(type) {
		case nil, unsupported:
		case tooManyValues:
			panic(thrown)
		default:
			w.note(fmt.Sprintf("%s: a panic: %v", where, thrown))
		}
	}()
	pieces, err := afterwards[w.after](column)
	// Only the text of Concatenate says that it lacks a type.
	if err != nil && (errors.Is(err, arrow.ErrNotImplemented) || strings.Contains(err.Error(), "not implemented")) {
		return
	}
	if err != nil {
		w.note(fmt.Sprintf("%s: %v", where, err))
		return
	}
	row := 0
	for _, piece := range pieces {
		for i := range piece.Len() {
			if row < len(expected) {
				w.same(fmt.Sprintf("%s, row %d", where, row), expected[row], plain(piece, i))
			}
			row++
		}
	}
	if row != len(expected) {
		w.note(fmt.Sprintf("%s: expected %d rows, got %d", where, len(expected), row))
	}
	w.compared = true
}

func (w *ways) same(where string, expected, got any) {
	before, after := written(expected), written(got)
	if before != after {
		w.note(fmt.Sprintf("%s: expected %.*s, got %.*s", where, shownOfValue, before, shownOfValue, after))
	}
}

func written(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (w *ways) note(difference string) {
	w.compared = true
	if len(w.differences) < mostDifferences {
		w.differences = append(w.differences, w.after+": "+difference)
	}
}
