package kat

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// place is how every error of a parser begins, for the name "name".
var place = regexp.MustCompile(`^name(:\d+)?: `)

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(sumA + " strict A/a.txt\r\n# c\n\n" + sumA + " nolen:3 B/b.txt"))
	f.Add([]byte(sumA + " strict ../a\n"))
	f.Add([]byte(sumA + " strict A/a\n" + sumA + " strict A/a\n"))
	if data, err := os.ReadFile(repoManifests + "/hash-23.sha256"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest("name", data)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		for _, e := range m.Entries {
			dir, file, _ := bytes.Cut([]byte(e.Path), []byte{'/'})
			if got, ok := m.Lookup(string(dir), string(file)); !ok || got != e {
				t.Errorf("entry %+v is not found: %+v", e, got)
			}
		}
	})
}

func FuzzParseVectors(f *testing.F) {
	f.Add([]byte(vectorsHead + "c,i,16,0,perf,00ff\r\nc,i,16,24,\"ascii:a,b\",0102\n"))
	f.Add([]byte(vectorsHead + "c,i,16,7,perf-dirty,00f\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vectors, err := ParseVectors("name", data)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		for _, v := range vectors {
			if v.Line < 2 || len(v.Digest) != (v.DigestBits+7)/8 || v.Message.Bits > maxVectorBits {
				t.Errorf("vector %+v", v)
			}
		}
	})
}

func FuzzParseCAVP(f *testing.F) {
	f.Add([]byte("# c\r\n[L = 2]\r\nLen = 0\r\nMsg = 00\r\nMD = 0102\r\n"))
	f.Add([]byte("[L = 1]\nSeed = 00\nCOUNT = 0\nMD = 01\nCOUNT = 1\nMD = 02\nLen = 3\nMsg=e0\nMD=03\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseCAVP("name", data)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		for _, m := range file.Messages {
			if uint64(len(m.Message)) != byteLen(m.Bits) || len(m.Digest) != m.L {
				t.Errorf("message %+v", m)
			}
		}
		for _, c := range file.Chains {
			if len(c.Seed) != c.L || len(c.Digests) == 0 || len(c.Digests) != len(c.Lines) {
				t.Errorf("chain %+v", c)
			}
		}
	})
}

func FuzzParseKATText(f *testing.F) {
	f.Add([]byte("Msg_Len = 1\r\nMsg = 80\r\nDst_Len = 8\r\nDst = AB\r\n\r\n"))
	f.Add([]byte("Msg_Len = 80\nMsg_Seed = 00\nMsg_Exp = 0000000000000000 .... FFFFFFFFFFFFFFFF\nDst_Len = 8\nDst = 07\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ParseKATText("name", data)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		for _, r := range all {
			if !r.Abridged && uint64(len(r.Message)) != byteLen(r.Bits) || len(r.Digest) != (r.DigestBits+7)/8 {
				t.Errorf("record %+v", r)
			}
		}
		c := NewCanonical(Mode{Records: 1})
		_, _ = c.Write(data)
		if c.Sum(); c.Records() != len(all) {
			t.Errorf("%d records, the canonical form counts %d", len(all), c.Records())
		}
	})
}
