// Package compare says which figures may be compared, and what each cell and
// each run gets: fingerprints, baselines and verdicts.
//
// The rule is spec/comparison.md. A figure is compared with a stored one only
// when the fingerprints of both are equal; everything else is incomparable and
// says what differs. Ticks of different counters never meet in a ratio.
package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/records"
)

// Key names a cell: one label of a candidate at one message size. Its text form
// is "hash-23/QILIN-512/hash_1024".
type Key struct {
	Candidate    string
	Label        string
	MessageBytes int
}

var (
	candidateForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	labelForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
)

const operationPrefix = "hash_"

// Operation is the guide's name of what is timed: hash_<message bytes>.
func (k Key) Operation() string { return operationPrefix + strconv.Itoa(k.MessageBytes) }

// String is the text form of k.
func (k Key) String() string { return k.Candidate + "/" + k.Label + "/" + k.Operation() }

// MarshalText is String, for JSON.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is ParseKey, for JSON.
func (k *Key) UnmarshalText(text []byte) error {
	parsed, err := ParseKey(string(text))
	if err == nil {
		*k = parsed
	}
	return err
}

// ParseKey reads the text form of a key and takes no other: names outside the
// allowed characters, a size of zero or with a leading zero are errors.
func ParseKey(s string) (Key, error) {
	bad := func(what string) (Key, error) {
		return Key{}, fmt.Errorf("key %.100q: %s; write it like hash-23/QILIN-512/hash_1024", s, what)
	}
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return bad("wants three parts")
	}
	if !candidateForm.MatchString(parts[0]) {
		return bad("the candidate is not an id")
	}
	if !labelForm.MatchString(parts[1]) {
		return bad("the label is not a name")
	}
	digits, ok := strings.CutPrefix(parts[2], operationPrefix)
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil || n <= 0 || strconv.FormatInt(n, 10) != digits {
		return bad("the operation is not hash_<message bytes>")
	}
	return Key{parts[0], parts[1], int(n)}, nil
}

// KeyOf is the key of a record's cell.
func KeyOf(r records.Record) Key { return Key{r.Candidate, r.Label, r.MessageBytes} }

// Compare orders keys as tables list them: candidates and labels naturally
// (512, 768, 1024), sizes as numbers.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		catalog.NaturalCompare(k.Candidate, other.Candidate),
		catalog.NaturalCompare(k.Label, other.Label),
		cmp.Compare(k.MessageBytes, other.MessageBytes),
	)
}
