package driver

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ngcc/bench-action/internal/host"
)

// Statuses of a reply; csrc/reply.h has the same numbers.
const (
	statusReady    = 0
	statusDigest   = 1
	statusProgress = 2
	statusDriver   = 16 // from here on: failures, with a text
)

// kinds are the failures of a core by status.
var kinds = map[int]ErrorKind{
	17: KindReturned,
	18: KindCrashed,
	19: KindOutside,
	20: KindPlacement,
	21: KindUnwritten,
	22: KindRemembers,
	23: KindWrongDigest,
	24: KindLoad,
	25: KindCounter,
	26: KindConvention,
	27: KindExited,
}

// Operations of a request; csrc/serve.c has the same numbers.
const (
	opHash = 1
	opLoop = 2
)

// maxPayload is the longest payload of a reply.
const maxPayload = 1024

// request is the head of a request; what data counts follows it. The layout
// stands in csrc/serve.c.
func request(op byte, rule Rule, bits, number, data uint64) []byte {
	head := make([]byte, 8, 32)
	head[0], head[1] = op, byte(rule)
	head = binary.LittleEndian.AppendUint64(head, bits)
	head = binary.LittleEndian.AppendUint64(head, number)
	return binary.LittleEndian.AppendUint64(head, data)
}

// reply is one answer of mode serve.
type reply struct {
	status  int
	value   uint64
	payload []byte
}

// readReply reads an answer; io.EOF means that there is none. The core could
// have written it: nothing in it is trusted.
func readReply(r io.Reader, digestBytes int) (reply, error) {
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return reply{}, err
	}
	a := reply{status: int(head[0]), value: binary.LittleEndian.Uint64(head[8:])}
	size := binary.LittleEndian.Uint32(head[4:])
	if head[1] != 0 || head[2] != 0 || head[3] != 0 || size > maxPayload {
		return reply{}, errMalformed
	}
	a.payload = make([]byte, size)
	if _, err := io.ReadFull(r, a.payload); err != nil {
		return reply{}, errMalformed
	}
	switch {
	case a.status == statusDigest && int(size) == digestBytes:
	case a.status == statusReady && size == 0, a.status == statusProgress && size == 0:
	case a.status == statusDriver:
	case kinds[a.status] != "":
	default:
		return reply{}, errMalformed
	}
	return a, nil
}

var errMalformed = errors.New("driver: an answer of the driver is malformed: did the core write to descriptor 3?")

// failure makes an error of a failed status, or nil of another one.
func failure(status int, text string) error {
	if status == statusDriver {
		return fmt.Errorf("driver: %s", printable(text))
	}
	if kind := kinds[status]; kind != "" {
		return &CoreError{Kind: kind, Detail: printable(text)}
	}
	return nil
}

// printable replaces what a log should not print raw.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(text, "?"))
}

// Bounds of what a timing may print.
const (
	maxLine    = 8192
	maxBatches = 1 << 22
)

// lines reads "key value" lines in a fixed order.
type lines struct {
	s   *bufio.Scanner
	err error // the first thing that was wrong
}

func newLines(r io.Reader) *lines {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 4096), maxLine)
	s.Split(splitLines)
	return &lines{s: s}
}

// splitLines is bufio.ScanLines, but wants the last line's end and keeps a
// carriage return.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	for i, c := range data {
		if c == '\n' {
			return i + 1, data[:i], nil
		}
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// next returns the next line. At the end of the input it fails with io.EOF.
func (l *lines) next() string {
	if l.err != nil {
		return ""
	}
	if !l.s.Scan() {
		l.err = l.s.Err()
		if l.err == nil {
			l.err = io.EOF
		}
		return ""
	}
	return l.s.Text()
}

// value returns the value of the next line, which must have that key.
func (l *lines) value(key string) string {
	line := l.next()
	if l.err != nil {
		return ""
	}
	k, v, found := strings.Cut(line, " ")
	if !found || k != key {
		l.err = fmt.Errorf("driver: it printed %.80q instead of its %s", line, key)
	}
	return v
}

// bad records a value that cannot be.
func (l *lines) bad(key, value string) {
	if l.err == nil {
		l.err = fmt.Errorf("driver: it printed %.80q as its %s", value, key)
	}
}

// integer returns the value of the next line as a number from least to most.
func (l *lines) integer(key string, least, most int64) int64 {
	text := l.value(key)
	v, err := parseUint(text)
	if err != nil || v > uint64(most) || int64(v) < least {
		l.bad(key, text)
		return 0
	}
	return int64(v)
}

// ticks returns the value of the next line as a number that is not negative.
func (l *lines) ticks(key string) float64 {
	text := l.value(key)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v < 1e18) {
		l.bad(key, text)
		return 0
	}
	return v
}

// counter returns the next two lines: which counter, and the note on it.
func (l *lines) counter() (host.Counter, string) {
	text := l.value("counter")
	switch c := host.Counter(text); c {
	case host.CoreCycles, host.TSC, host.CNTVCT, host.Clock:
	default:
		l.bad("counter", text)
	}
	return host.Counter(text), printable(l.value("note"))
}

// head reads the first line, which is the given one unless the driver failed.
func (l *lines) head(want string) {
	line := l.next()
	if l.err != nil || line == want {
		return
	}
	if rest, found := strings.CutPrefix(line, "error "); found {
		side := ""
		if strings.HasPrefix(rest, "A ") || strings.HasPrefix(rest, "B ") {
			side, rest = rest[:1], rest[2:]
		}
		number, text, _ := strings.Cut(rest, " ")
		if status, err := strconv.Atoi(number); err == nil {
			l.err = failure(status, text)
		}
		var core *CoreError
		if errors.As(l.err, &core) {
			core.Side = side
		}
	}
	if l.err == nil {
		l.err = fmt.Errorf("driver: it printed %.80q instead of a result", line)
	}
}

// finish reads the last line and wants nothing after it.
func (l *lines) finish() {
	if line := l.next(); l.err == nil && line != "end" {
		l.err = fmt.Errorf("driver: it printed %.80q instead of the end", line)
	}
	if l.err == nil && l.s.Scan() {
		l.err = errors.New("driver: it printed more after its end")
	}
}

// parseUint takes decimal digits only, without sign or leading zeros.
func parseUint(text string) (uint64, error) {
	if len(text) > 1 && text[0] == '0' {
		return 0, errors.New("leading zero")
	}
	return strconv.ParseUint(text, 10, 64)
}
