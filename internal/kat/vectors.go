package kat

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ngcc/bench-action/internal/driver"
)

// vectorColumns is the header of vectors.csv.
var vectorColumns = []string{"candidate", "instance", "digest_bits", "message_bits", "message_rule", "digest_hex"}

// maxVectorBits bounds the message of a row, 2^26 bits (8 MiB): the vectors are
// small by intention.
const maxVectorBits = 1 << 26

// Vector is one row of vectors.csv: a message and its digest.
type Vector struct {
	Line       int
	Candidate  string
	Instance   string
	DigestBits int
	Rule       string // perf, perf-dirty or ascii:TEXT
	Message    driver.Message
	Digest     []byte // ceil(DigestBits/8) bytes
}

// ParseVectors reads vectors.csv. Rules of messages: perf (byte i of an n-byte
// message is (131·i + n) mod 256, unused low bits of a partial last byte
// cleared), perf-dirty (the same with those bits set), ascii:TEXT. Line ends may
// be CRLF; anything else that is not as the header says is an error that starts
// with name:line, as is a row given twice.
func ParseVectors(name string, data []byte) ([]Vector, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = len(vectorColumns)
	header, err := r.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	if !slices.Equal(header, vectorColumns) {
		return nil, fmt.Errorf("%s:1: the header must be %q", name, strings.Join(vectorColumns, ","))
	}
	var out []Vector
	first := map[string]int{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, csvError(name, err)
		}
		line, _ := r.FieldPos(0)
		v, err := parseVector(row)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		v.Line = line
		key := strings.Join(append(row[:2:2], row[3:5]...), ",")
		if before, ok := first[key]; ok {
			return nil, fmt.Errorf("%s:%d: this message of %s stands on line %d already: remove one", name, line, v.Instance, before)
		}
		first[key] = line
		out = append(out, v)
	}
}

// csvError puts name:line in front of what encoding/csv reports.
func csvError(name string, err error) error {
	var pe *csv.ParseError
	switch {
	case errors.As(err, &pe):
		return fmt.Errorf("%s:%d: %w", name, pe.Line, pe.Err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s:1: the file is empty: its first line must be %q", name, strings.Join(vectorColumns, ","))
	}
	return fmt.Errorf("%s: %w", name, err)
}

func parseVector(row []string) (v Vector, err error) {
	v = Vector{Candidate: row[0], Instance: row[1], Rule: row[4]}
	if v.Candidate == "" || v.Instance == "" {
		return v, errors.New("candidate and instance must not be empty")
	}
	digestBits, err := parseCount([]byte(row[2]), 16)
	if err != nil || digestBits == 0 {
		return v, fmt.Errorf("digest_bits %q must be a decimal from 1 to 65535", row[2])
	}
	v.DigestBits = int(digestBits)
	bits, err := parseCount([]byte(row[3]), 64)
	if err != nil || bits > maxVectorBits {
		return v, fmt.Errorf("message_bits %q must be a decimal from 0 to %d", row[3], maxVectorBits)
	}
	if v.Message, err = vectorMessage(bits, v.Rule); err != nil {
		return v, err
	}
	if row[5] != strings.ToLower(row[5]) {
		return v, errors.New("digest_hex must be lower case")
	}
	if v.Digest, err = parseHex([]byte(row[5]), byteLen(digestBits)); err != nil {
		return v, fmt.Errorf("digest_hex: %w", err)
	}
	return v, nil
}

// vectorMessage is the message of a rule at a length in bits.
func vectorMessage(bits uint64, rule string) (driver.Message, error) {
	m := driver.Message{Bits: bits}
	switch text, ascii := strings.CutPrefix(rule, "ascii:"); {
	case ascii:
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return m, fmt.Errorf("message_rule %q: only printable ASCII after the colon", rule)
		}
		if bits != 8*uint64(len(text)) {
			return m, fmt.Errorf("message_bits is %d, but %q has %d bits", bits, text, 8*len(text))
		}
		m.Rule, m.Data = driver.RuleData, []byte(text)
	case rule == "perf":
		m.Rule = driver.RulePerf
	case rule == "perf-dirty":
		m.Rule = driver.RulePerfDirty
	default:
		return m, fmt.Errorf("unknown message_rule %q: use perf, perf-dirty or ascii:TEXT", rule)
	}
	return m, nil
}

// vectorsOf selects the rows of one instance, in the file's order.
func vectorsOf(all []Vector, candidate, instance string) []Vector {
	var out []Vector
	for _, v := range all {
		if v.Candidate == candidate && v.Instance == instance {
			out = append(out, v)
		}
	}
	return out
}
