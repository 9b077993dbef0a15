package witness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of a profile that is read.
const (
	maxProfileLine = 64 << 10
	maxProfileCost = math.MaxUint64 / 4 // of one event
)

// profile is a callgrind.out file: the format's manual is "Callgrind Format
// Specification" of the Valgrind documentation, version 1.
type profile struct {
	creator string // "callgrind-3.19.0"
	events  []string
	totals  []uint64 // one an event
	funcs   map[string]*profileFunc
}

// profileFunc is one function by its folded name.
type profileFunc struct {
	file, object string
	self         []uint64
	calls        map[string][]uint64 // inclusive cost of what it called, by name
}

// profileParser reads a profile line by line.
type profileParser struct {
	profile
	positions  int // columns before the costs of a line
	names      [3]map[string]string
	fn         *profileFunc
	file, obj  string
	callee     string // set by cfn=
	calleeFile string
	calleeObj  string
	inCall     bool // the next cost line is the inclusive cost of a call
	sawTotals  bool
}

// The spaces of compressed names.
const (
	spaceObject = iota
	spaceFile
	spaceFunc
)

// parseProfile reads a whole file. Parts (several dumps) are refused: the driver
// ends with one.
func parseProfile(r io.Reader) (*profile, error) {
	p := profileParser{positions: 1}
	p.funcs = map[string]*profileFunc{}
	for i := range p.names {
		p.names[i] = map[string]string{}
	}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 4096), maxProfileLine)
	n := 0
	for s.Scan() {
		n++
		if err := p.line(s.Text()); err != nil {
			return nil, fmt.Errorf("callgrind profile, line %d: %w", n, err)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("callgrind profile, line %d: %w", n+1, err)
	}
	switch {
	case p.events == nil:
		return nil, errors.New("callgrind profile: no events: is it a profile?")
	case !p.sawTotals:
		return nil, errors.New("callgrind profile: no totals: it was cut off")
	}
	return &p.profile, nil
}

// line reads one line: a header "key: value", a specification "key=value", or
// costs.
func (p *profileParser) line(line string) error {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	if c := line[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || c == '*' {
		return p.costs(line)
	}
	i := strings.IndexAny(line, ":=")
	if i < 0 {
		return fmt.Errorf("neither key nor costs: %.80q", line)
	}
	key, value := line[:i], strings.TrimSpace(line[i+1:])
	if line[i] == ':' {
		return p.header(key, value)
	}
	return p.spec(key, value)
}

func (p *profileParser) header(key, value string) error {
	switch key {
	case "creator":
		p.creator = value
	case "positions":
		p.positions = len(strings.Fields(value))
	case "events":
		if p.events != nil {
			return errors.New("a second list of events: more than one dump")
		}
		if p.events = strings.Fields(value); len(p.events) == 0 || len(p.events) > 64 {
			return fmt.Errorf("%d events", len(p.events))
		}
	case "totals":
		if p.sawTotals {
			return errors.New("second totals: more than one dump")
		}
		p.sawTotals = true
		p.totals = make([]uint64, len(p.events))
		return p.add(p.totals, strings.Fields(value))
	}
	return nil // desc, cmd, summary and what later versions add
}

func (p *profileParser) spec(key, value string) error {
	var err error
	switch key {
	case "ob":
		p.obj, err = p.name(spaceObject, value)
	case "fl":
		p.file, err = p.name(spaceFile, value)
	case "fi", "fe": // code inlined from another file counts for its function
		_, err = p.name(spaceFile, value)
	case "fn":
		var name string
		if name, err = p.name(spaceFunc, value); err == nil {
			p.fn = p.function(name, p.file, p.obj)
			p.calleeFile, p.calleeObj = p.file, p.obj
		}
	case "cob":
		p.calleeObj, err = p.name(spaceObject, value)
	case "cfi", "cfl":
		p.calleeFile, err = p.name(spaceFile, value)
	case "cfn":
		if p.callee, err = p.name(spaceFunc, value); err == nil {
			p.function(p.callee, p.calleeFile, p.calleeObj)
		}
	case "calls":
		if p.fn == nil || p.callee == "" {
			return errors.New("calls= without fn= and cfn=")
		}
		p.inCall = true
	case "jump", "jcnd":
	default:
		return fmt.Errorf("unknown key %.80q", key)
	}
	return err
}

// name resolves "(7) memcpy", which gives the name 7, and "(7)".
func (p *profileParser) name(space int, value string) (string, error) {
	if !strings.HasPrefix(value, "(") {
		return value, nil
	}
	end := strings.IndexByte(value, ')')
	if end < 0 {
		return value, nil
	}
	id := value[1:end]
	if _, err := strconv.ParseUint(id, 10, 32); err != nil {
		return value, nil // "(below main)", spelled out
	}
	if rest := strings.TrimSpace(value[end+1:]); rest != "" {
		p.names[space][id] = rest
		return rest, nil
	}
	name, found := p.names[space][id]
	if !found {
		return "", fmt.Errorf("the name (%s) was not given before", id)
	}
	return name, nil
}

// function finds a function by its folded name, or makes it.
func (p *profileParser) function(name, file, object string) *profileFunc {
	name = FoldName(name)
	f := p.funcs[name]
	if f == nil {
		if file == "???" {
			file = ""
		}
		f = &profileFunc{
			file: file, object: path.Base(object),
			self: make([]uint64, len(p.events)), calls: map[string][]uint64{},
		}
		p.funcs[name] = f
	}
	return f
}

// costs reads a line of positions and costs.
func (p *profileParser) costs(line string) error {
	fields := strings.Fields(line)
	if len(fields) < p.positions {
		return fmt.Errorf("%d fields, fewer than positions", len(fields))
	}
	if p.fn == nil {
		return errors.New("costs before the first function")
	}
	sum := p.fn.self
	if p.inCall {
		p.inCall = false
		callee := FoldName(p.callee)
		if sum = p.fn.calls[callee]; sum == nil {
			sum = make([]uint64, len(p.events))
			p.fn.calls[callee] = sum
		}
	}
	return p.add(sum, fields[p.positions:])
}

// add adds costs to a sum; those left out at the end are 0.
func (p *profileParser) add(sum []uint64, costs []string) error {
	if len(costs) > len(sum) {
		return fmt.Errorf("%d costs for %d events", len(costs), len(sum))
	}
	for i, text := range costs {
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil || v > maxProfileCost || sum[i]+v > maxProfileCost {
			return fmt.Errorf("the cost %.40q cannot be", text)
		}
		sum[i] += v
	}
	return nil
}

// clones are the suffixes of what a compiler makes of one function, and
// callgrind's own mark of a recursion level.
var clones = regexp.MustCompile(`(\.(part|constprop|isra|cold|lto_priv|localalias|clone|llvm)(\.\d+)*|'\d+)+$`)

// unnamed stands for all code that has no symbol: its addresses tell nothing.
const unnamed = "(code without a symbol)"

// FoldName is the name of the source function that a symbol belongs to:
// mix.constprop.0 and mix.part.1.isra.0 are mix.
func FoldName(symbol string) string {
	if strings.HasPrefix(symbol, "0x") {
		return unnamed
	}
	name := clones.ReplaceAllString(symbol, "")
	if name == "" {
		return symbol
	}
	return name
}
