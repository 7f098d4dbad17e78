package main

import (
	"fmt"
	"math/big"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"
)

// goValue is the plain value of a Go value that the client made for a column.
func goValue(value bigquery.Value, field *bigquery.FieldSchema) (any, error) {
	if items, ok := value.([]bigquery.Value); ok && field.Repeated {
		made := []any{}
		single := *field
		single.Repeated = false
		for _, item := range items {
			one, err := goValue(item, &single)
			if err != nil {
				return nil, err
			}
			made = append(made, one)
		}
		return made, nil
	}
	switch v := value.(type) {
	case nil, bool, int64:
		return v, nil
	case string:
		return text(v), nil
	case float64:
		return float(v), nil
	case []byte:
		return binary(v), nil
	case *big.Rat:
		return unscaled(v, field)
	case civil.Date:
		return days(v), nil
	case civil.Time:
		return micros(v), nil
	case civil.DateTime:
		return days(v.Date)*86_400_000_000 + micros(v.Time), nil
	case time.Time:
		return v.UnixMicro(), nil
	case *bigquery.RangeValue:
		bound := &bigquery.FieldSchema{Type: field.RangeElementType.Type}
		start, err := goValue(v.Start, bound)
		if err != nil {
			return nil, err
		}
		end, err := goValue(v.End, bound)
		return map[string]any{"struct": []any{start, end}}, err
	case []bigquery.Value:
		fields := []any{}
		for f, inner := range field.Schema {
			one, err := goValue(v[f], inner)
			if err != nil {
				return nil, err
			}
			fields = append(fields, one)
		}
		return map[string]any{"struct": fields}, nil
	}
	return nil, fmt.Errorf("no plain value for %T of column %s", value, field.Name)
}

func days(date civil.Date) int64 { return date.In(time.UTC).Unix() / 86_400 }

func micros(clock civil.Time) int64 {
	seconds := int64(clock.Hour)*3600 + int64(clock.Minute)*60 + int64(clock.Second)
	return seconds*1_000_000 + int64(clock.Nanosecond)/1000
}

// unscaled is the integer of a decimal at the scale of its type: 9 for NUMERIC and 38 for BIGNUMERIC unless declared.
func unscaled(value *big.Rat, field *bigquery.FieldSchema) (any, error) {
	scale := int64(9)
	if field.Type == bigquery.BigNumericFieldType {
		scale = 38
	}
	if field.Precision != 0 {
		scale = field.Scale
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil)
	scaled := new(big.Rat).Mul(value, new(big.Rat).SetInt(power))
	if !scaled.IsInt() {
		return nil, fmt.Errorf("%s of column %s has more than %d digits after the point", value, field.Name, scale)
	}
	return decimal(scaled.Num()), nil
}
