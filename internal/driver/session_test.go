package driver

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// serve loads a core of testdata/cores.
func (p *platform) serve(t testing.TB, name string) *Session {
	t.Helper()
	s, err := p.use(t).Serve(t.Context(), p.core(t, name), ServeOptions{CPU: -1, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func onEach(t *testing.T, test func(t *testing.T, p *platform)) {
	for _, p := range []*platform{native, emulated} {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}

// The right digests are the toy hash's in Go, of the bytes that Message.Bytes
// makes by the rules of spec/kat.md.
func TestRules(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		s := p.serve(t, "good")
		var messages []Message
		for _, bits := range []uint64{0, 1, 7, 8, 9, 63, 64, 65, 255, 1000, 1023, 8192, 8 * 4096, 8*4096 + 3, 8 * 65536} {
			for rule := RuleZero; rule <= RuleNumbered; rule++ {
				if rule != RuleNumbered || bits > 56 {
					messages = append(messages, Message{Bits: bits, Rule: rule, Number: 1<<63 + bits})
				}
			}
			data := bytes.Repeat([]byte{0x9d}, int(bits+7)/8)
			messages = append(messages, Message{Bits: bits, Data: data},
				Message{Bits: bits, Reader: bytes.NewReader(data), Data: data})
		}
		err := s.HashAll(t.Context(), len(messages), func(i int) Message { return messages[i] }, func(i int, got []byte) error {
			m := messages[i]
			m.Reader = nil
			data, err := m.Bytes()
			if err != nil {
				return err
			}
			if want := toyHash(data, m.Bits); !bytes.Equal(got, want) {
				t.Errorf("rule %d, %d bits: got %x, want %x", m.Rule, m.Bits, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Values by hand from the rules of spec/kat.md.
func TestMessageBytes(t *testing.T) {
	for _, test := range []struct {
		m    Message
		want string
	}{
		{Message{Bits: 0, Rule: RuleOnes}, ""},
		{Message{Bits: 12, Rule: RuleOnes}, "fff0"},
		{Message{Bits: 17, Rule: RuleZero}, "000000"},
		{Message{Bits: 24, Rule: RulePerf}, "038609"}, // n = 3: 3, 134, 265
		{Message{Bits: 20, Rule: RulePerf}, "038600"}, // low 4 bits cleared
		{Message{Bits: 20, Rule: RulePerfDirty}, "03860f"},
		{Message{Bits: 72, Rule: RuleNumbered, Number: 0x0102}, "020100000000000021"}, // 131·8 + 9
		{Message{Bits: 4, Data: []byte{0xab}}, "ab"},
	} {
		got, err := test.m.Bytes()
		if err != nil || hex.EncodeToString(got) != test.want {
			t.Errorf("%+v: got %x, %v; want %s", test.m, got, err, test.want)
		}
	}
	if got := hex.EncodeToString(Perf(9, 0x0102)); got != "020100000000000021" {
		t.Errorf("Perf: %s", got)
	}
}

func TestBytesAPI(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		s := p.serve(t, "good_bytes")
		for _, n := range []uint64{0, 1, 100, 4096} {
			got, err := s.Hash(t.Context(), Message{Bits: 8 * n, Rule: RuleZero})
			if err != nil || !bytes.Equal(got, toyHash(make([]byte, n), 8*n)) {
				t.Errorf("%d bytes: %x, %v", n, got, err)
			}
		}
		if _, err := s.Hash(t.Context(), Message{Bits: 9, Rule: RuleZero}); err == nil {
			t.Error("9 bits were hashed")
		}
		// A message that this side refuses does not end the session.
		if _, err := s.Hash(t.Context(), Message{Bits: 8, Rule: RuleZero}); err != nil {
			t.Error(err)
		}
	})
}

// The loop in Go, as spec/kat.md describes it.
func TestLoop(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		s := p.serve(t, "good")
		m := Perf(1024, 7)
		const times = 50
		h := toyHash(m, 8192)
		want := bytes.Clone(m)
		for range times {
			want = append(want[32:], want[:32]...)
			for i := range h {
				want[i] ^= h[i]
			}
			h = toyHash(want, 8192)
		}
		got, err := s.Loop(t.Context(), m, times, nil)
		if err != nil || !bytes.Equal(got, h) {
			t.Errorf("got %x, %v; want %x", got, err, h)
		}
		if got, err := s.Loop(t.Context(), m, 0, nil); err != nil || !bytes.Equal(got, toyHash(m, 8192)) {
			t.Errorf("no turn: %x, %v", got, err)
		}
	})
}

// A loop that takes longer than the timeout is fine while it moves on.
func TestLoopProgress(t *testing.T) {
	d := native.use(t)
	s, err := d.Serve(t.Context(), native.core(t, "good"), ServeOptions{CPU: -1, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	start, told, last := time.Now(), 0, 0
	_, err = s.Loop(ctx, Perf(1024, 0), 1<<40, func(done int) {
		if done <= last {
			t.Errorf("progress from %d to %d", last, done)
		}
		told, last = told+1, done
		if time.Since(start) > 6*time.Second {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || told < 2 {
		t.Errorf("told %d times: %v", told, err)
	}
}

// A message over 16 MiB, streamed.
func TestLongMessage(t *testing.T) {
	s := native.serve(t, "good")
	const n = 17<<20 + 5
	data := bytes.Repeat([]byte("0123456789abcdef!"), n/17+1)[:n]
	got, err := s.Hash(t.Context(), Message{Bits: 8 * n, Reader: bytes.NewReader(data)})
	if err != nil || !bytes.Equal(got, toyHash(data, 8*n)) {
		t.Errorf("got %x, %v", got, err)
	}
	got, err = s.Hash(t.Context(), Message{Bits: 8 * n, Rule: RuleOnes})
	if err != nil || !bytes.Equal(got, toyHash(bytes.Repeat([]byte{0xff}, n), 8*n)) {
		t.Errorf("ones: got %x, %v", got, err)
	}
}

// More messages than may be pending, each larger than a pipe.
func TestPipelining(t *testing.T) {
	s := native.serve(t, "good")
	data := bytes.Repeat([]byte{1, 2, 3, 4}, 1<<15)
	seen := 0
	err := s.HashAll(t.Context(), 3*maxPending, func(i int) Message {
		if i%64 == 0 {
			return Message{Bits: 8 * uint64(len(data)), Data: data}
		}
		return Message{Bits: uint64(i), Rule: RulePerf}
	}, func(i int, digest []byte) error {
		if i != seen {
			t.Errorf("digest %d came as number %d", i, seen)
		}
		seen++
		return nil
	})
	if err != nil || seen != 3*maxPending {
		t.Errorf("%d digests, %v", seen, err)
	}
}

func TestOwnFailures(t *testing.T) {
	s := native.serve(t, "good")
	enough := errors.New("enough")
	all := func(i int) Message { return Message{Bits: 800, Rule: RulePerf} }
	if err := s.HashAll(t.Context(), 10000, all, func(i int, _ []byte) error {
		if i == 10 {
			return enough
		}
		return nil
	}); err != enough {
		t.Errorf("error of got: %v", err)
	}
	if _, err := s.Hash(t.Context(), all(0)); err != enough {
		t.Errorf("after it: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	s = native.serve(t, "good")
	if _, err := s.Hash(t.Context(), Message{Bits: 800, Reader: strings.NewReader("short")}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short reader: %v", err)
	}

	s = native.serve(t, "loop")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Hash(ctx, all(0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended context: %v", err)
	}

	s = native.serve(t, "good")
	for _, m := range []Message{
		{Bits: 9, Data: []byte{1}}, {Bits: 8, Rule: 99}, {Bits: 1 << 40, Rule: RuleZero},
		{Bits: ^uint64(0), Rule: RuleZero}, {Bits: 8, Rule: RuleNumbered},
	} {
		if _, err := s.Hash(t.Context(), m); err == nil {
			t.Errorf("%+v was hashed", m)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Hash(t.Context(), all(0)); err == nil {
		t.Error("a closed session hashed")
	}
}

func TestServeRefuses(t *testing.T) {
	d := native.use(t)
	good := native.core(t, "good")
	for _, c := range []Core{
		{Library: good.Library, API: "hash", DigestBits: 256},
		{Library: good.Library, API: APICryptHash, DigestBits: 7},
	} {
		if _, err := d.Serve(t.Context(), c, ServeOptions{CPU: -1}); err == nil {
			t.Errorf("%+v was served", c)
		}
	}
	_, err := d.Serve(t.Context(), Core{Library: "/no/such.so", API: APICryptHash, DigestBits: 256}, ServeOptions{CPU: -1})
	if e := coreError(t, err); e.Kind != KindLoad || !strings.Contains(e.Detail, "/no/such.so") || e.HasMessage {
		t.Errorf("missing library: %v", err)
	}
	// The wrong digest length: the core itself says no.
	good.DigestBits = 512
	s, err := d.Serve(t.Context(), good, ServeOptions{CPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Hash(t.Context(), Message{}); coreError(t, err).Kind != KindReturned {
		t.Errorf("wrong digest length: %v", err)
	}
}

// misbehaving lists what each bad core of testdata/cores is called, and words of
// the detail: on the host, and under an emulator that does not tell reads from
// writes.
var misbehaving = []struct {
	core   string
	kind   ErrorKind
	detail string
}{
	{"nonzero", KindReturned, "it returned -7"},
	{"crash", KindCrashed, "SIGSEGV"},
	{"abort", KindCrashed, "SIGABRT"},
	{"exit", KindExited, "exit code 0"},
	{"loop", KindTimedOut, "no answer for 1s"},
	{"past_digest", KindOutside, "1 byte past the end of the digest"},
	{"before_digest", KindOutside, "wrote 3 bytes before the start of the digest"},
	{"far_digest", KindOutside, "wrote 69 bytes past the end of the digest"},
	{"write_message", KindOutside, "wrote to byte 99 of the message"},
	{"read_past", KindCrashed, "1 byte past the end of the message"},
	{"read_before", KindCrashed, "1 byte before the start of the message"},
	{"placement", KindPlacement, "1 byte of the digest, from byte 5"},
	{"unwritten", KindUnwritten, "8 bytes of it, from byte 24"},
	{"output", KindOutput, "debugging, message of 800 bits"},
	{"fork", KindSurvivors, "1 when its own ended"},
	{"constructor_loop", KindTimedOut, "no answer for 1s"},
	{"constructor_exit", KindExited, "exit code 3"},
	{"nameless", KindLoad, "CryptHash"},
}

func TestMisbehaving(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, test := range misbehaving {
			t.Run(test.core, func(t *testing.T) {
				c := p.core(t, test.core)
				timeout := patience
				if test.kind == KindTimedOut {
					timeout = time.Second
				}
				s, err := d.Serve(t.Context(), c, ServeOptions{CPU: -1, Timeout: timeout})
				hashed := err == nil
				if hashed {
					_, err = s.Hash(t.Context(), Message{Bits: 800, Rule: RulePerf})
					if closeErr := s.Close(); err == nil {
						err = closeErr
					}
				}
				e := coreError(t, err)
				if e.Kind != test.kind || !strings.Contains(e.Detail, test.detail) {
					t.Errorf("got %v; want %s: … %s", err, test.kind, test.detail)
				}
				if onMessage := hashed && test.kind != KindSurvivors; e.HasMessage != onMessage || onMessage && e.Bits != 800 {
					t.Errorf("message of %d bits (%v): %v", e.Bits, e.HasMessage, err)
				}
			})
		}
	})
}

// The processor tells a read from a write; an emulator need not.
func TestFaultDirection(t *testing.T) {
	s := native.serve(t, "read_past")
	_, err := s.Hash(t.Context(), Message{})
	if e := coreError(t, err); e.Detail != "SIGSEGV: it read 1 byte past the end of the message" || !e.HasMessage || e.Bits != 0 {
		t.Errorf("got %v", err)
	}
}

// The failure names the message that it belongs to, and earlier ones are right.
func TestFailureInPipeline(t *testing.T) {
	s := native.serve(t, "write_message") // which fails from 8 bits on
	seen := 0
	err := s.HashAll(t.Context(), 1000, func(i int) Message { return Message{Bits: uint64(i), Rule: RulePerf} },
		func(int, []byte) error { seen++; return nil })
	if e := coreError(t, err); e.Bits != 8 || seen != 8 {
		t.Errorf("%d digests, then %v", seen, err)
	}
	if _, again := s.Hash(t.Context(), Message{}); again != err {
		t.Errorf("afterwards: %v", again)
	}
}

func TestForger(t *testing.T) {
	s := native.serve(t, "forger")
	if _, err := s.Hash(t.Context(), Message{Bits: 8, Rule: RuleZero}); !errors.Is(err, errMalformed) {
		t.Errorf("got %v", err)
	}
}

func TestTalkative(t *testing.T) {
	s := native.serve(t, "talkative")
	if _, err := s.Hash(t.Context(), Message{Bits: 8, Rule: RuleZero}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkGate is what the gate does with one core: 4097 messages.
func BenchmarkGate(b *testing.B) {
	s := native.serve(b, "good")
	data := make([]byte, 513)
	for b.Loop() {
		err := s.HashAll(b.Context(), 4097, func(i int) Message {
			return Message{Bits: uint64(i), Data: data[:(i+7)/8]}
		}, func(i int, digest []byte) error {
			if len(digest) != 32 {
				return fmt.Errorf("digest of %d bytes", len(digest))
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
