package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// place turns a byte offset into line:column, both from 1; columns count bytes.
func place(data []byte, offset int64) string {
	offset = max(0, min(offset, int64(len(data))))
	before := data[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return fmt.Sprintf("%d:%d", line, column)
}

// errorOffset is where in data a decoding error lies.
func errorOffset(data []byte, dec *json.Decoder, err error) int64 {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return max(0, syntax.Offset-1)
	case errors.As(err, &typed):
		return max(0, typed.Offset-1)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return int64(len(data))
	}
	// An unknown field or a bad key: the error quotes it.
	if _, quoted, ok := strings.Cut(err.Error(), `"`); ok {
		word, _, _ := strings.Cut(quoted, `"`)
		if i := bytes.Index(data, []byte(`"`+word+`"`)); i >= 0 {
			return int64(i)
		}
	}
	return dec.InputOffset()
}

// plainJSONError says in words of the file what the decoder says of Go types.
func plainJSONError(err error) error {
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed):
		return fmt.Errorf("%s cannot be %s", typed.Field, typed.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("ends too soon: the file is cut off or empty")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// cellOffset is where element index of the top-level array "cells" begins.
func cellOffset(data []byte, index int) int64 {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil { // {
		return 0
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0
		}
		if name != "cells" {
			var skipped json.RawMessage
			if dec.Decode(&skipped) != nil {
				return 0
			}
			continue
		}
		if _, err := dec.Token(); err != nil { // [
			return 0
		}
		var element json.RawMessage
		for i := 0; i <= index && dec.More(); i++ {
			if dec.Decode(&element) != nil {
				return 0
			}
		}
		return dec.InputOffset() - int64(len(element))
	}
	return 0
}

// firstDifference compares two JSON texts token for token, space between tokens
// aside, and gives the offset in a of the first difference.
func firstDifference(a, b []byte) (offset int64, differ bool) {
	i, j := 0, 0
	inString, escaped := false, false
	for {
		if !inString {
			i, j = skipSpace(a, i), skipSpace(b, j)
		}
		if i == len(a) || j == len(b) {
			return int64(i), i != len(a) || j != len(b)
		}
		if a[i] != b[j] {
			return int64(i), true
		}
		switch {
		case escaped:
			escaped = false
		case inString && a[i] == '\\':
			escaped = true
		case a[i] == '"':
			inString = !inString
		}
		i, j = i+1, j+1
	}
}

// skipSpace is the first position from i on that is not JSON white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(" \t\r\n", data[i]) >= 0 {
		i++
	}
	return i
}
