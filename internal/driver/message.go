package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Rule says what a message's bytes are. The numbers stand in csrc/message.h.
type Rule uint8

// The rules. Where the length is not a multiple of 8 bits, the unused low bits
// of the last byte are 0 but for RulePerfDirty, and RuleData keeps its own.
const (
	RuleData      Rule = iota // the message's Data, or what its Reader gives
	RuleZero                  // all bits 0
	RuleOnes                  // all bits 1
	RulePerf                  // byte i of n: (131 i + n) mod 256
	RulePerfDirty             // the same with the unused bits set to 1
	RuleNumbered              // perf, the first 8 bytes the Number, little-endian
)

// maxBytes is the longest message that the driver takes.
const maxBytes = 1 << 31

// Message is what a core is asked to hash.
type Message struct {
	Bits   uint64    // length in bits, at most 2^34
	Rule   Rule      // the fields below matter for RuleData and RuleNumbered
	Data   []byte    // RuleData: (Bits + 7) / 8 bytes, unless Reader is set
	Reader io.Reader // RuleData: gives as many bytes
	Number uint64    // RuleNumbered
}

// size is the number of bytes of a message.
func (m Message) size() uint64 {
	return m.Bits/8 + (m.Bits%8+7)/8
}

// check says what is wrong with a message, as far as the driver would refuse it.
func (m Message) check(c Core) error {
	n := m.size()
	switch {
	case n > maxBytes:
		return fmt.Errorf("driver: a message of %d bits is longer than %d bytes", m.Bits, maxBytes)
	case m.Rule > RuleNumbered:
		return fmt.Errorf("driver: there is no message rule %d", m.Rule)
	case m.Rule == RuleData && m.Reader == nil && uint64(len(m.Data)) != n:
		return fmt.Errorf("driver: a message of %d bits has %d bytes, not %d", m.Bits, n, len(m.Data))
	case m.Rule == RuleNumbered && n < 8:
		return errors.New("driver: a numbered message has at least 8 bytes")
	case m.Bits%8 != 0 && c.API == APICryptoHash:
		return fmt.Errorf("driver: a core with the api %s takes whole bytes, not %d bits", c.API, m.Bits)
	}
	return nil
}

// Bytes makes the bytes that a core is given; it reads Reader to its end.
func (m Message) Bytes() ([]byte, error) {
	n := m.size()
	if n > maxBytes {
		return nil, fmt.Errorf("driver: a message of %d bits is longer than %d bytes", m.Bits, maxBytes)
	}
	if m.Rule == RuleData {
		if m.Reader == nil {
			return m.Data, nil
		}
		data := make([]byte, n)
		_, err := io.ReadFull(m.Reader, data)
		return data, err
	}
	data := make([]byte, n)
	for i := range data {
		switch m.Rule {
		case RuleOnes:
			data[i] = 0xff
		case RulePerf, RulePerfDirty, RuleNumbered:
			data[i] = byte(131*uint64(i) + n)
		}
	}
	if m.Rule == RuleNumbered {
		if n < 8 {
			return nil, errors.New("driver: a numbered message has at least 8 bytes")
		}
		binary.LittleEndian.PutUint64(data, m.Number)
	}
	if unused := byte(0xff >> (m.Bits % 8)); m.Bits%8 != 0 {
		if m.Rule == RulePerfDirty {
			data[n-1] |= unused
		} else {
			data[n-1] &^= unused
		}
	}
	return data, nil
}

// Perf makes a numbered message of at least 8 bytes: byte i of n is
// (131 i + n) mod 256, but the first 8 bytes are number, little-endian. These are
// the messages that a timing hashes.
func Perf(bytes int, number uint64) []byte {
	data, err := Message{Bits: 8 * uint64(bytes), Rule: RuleNumbered, Number: number}.Bytes()
	if err != nil {
		panic(err) // bytes < 8, which no level is
	}
	return data
}
