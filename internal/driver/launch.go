package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/ngcc/bench-action/internal/sandbox"
)

// The names of a core's function.
const (
	APICryptHash  = "crypthash"   // int CryptHash(digest bits, msg, msg BITS, digest)
	APICryptoHash = "crypto_hash" // int crypto_hash(digest, msg, msg BYTES)
)

// Core names a built core.
type Core struct {
	Library    string // path of the shared library
	API        string // APICryptHash or APICryptoHash
	DigestBits int    // a multiple of 8, at most 4096
}

// Limits of a driver process. The address space leaves room for a message of
// 1 GiB and for copies that a core makes of it.
const (
	maxOutput    = 64 << 10 // bytes that a core may print
	maxOpenFiles = 64
	maxAddress   = 8 << 30
	maxFileSize  = 1 // a core writes no files; 0 would be no limit
)

// defaultTimeout is how long one answer may take when nothing else is said.
const defaultTimeout = time.Minute

// check says what is wrong with a core's description.
func (c Core) check() error {
	if c.API != APICryptHash && c.API != APICryptoHash {
		return fmt.Errorf("driver: the api %q of %s is neither %s nor %s", c.API, c.Library, APICryptHash, APICryptoHash)
	}
	if c.DigestBits < 8 || c.DigestBits > 4096 || c.DigestBits%8 != 0 {
		return fmt.Errorf("driver: the digest length %d of %s is not a multiple of 8 from 8 to 4096 bits", c.DigestBits, c.Library)
	}
	return nil
}

// args are the driver's arguments that name a core.
func (c Core) args() []string {
	return []string{"--core", c.Library, "--api", c.API, "--digest-bits", strconv.Itoa(c.DigestBits)}
}

// process is a running driver: requests go to in, replies come from out.
type process struct {
	*sandbox.Process
	in, out *os.File
}

// start runs the driver with these arguments under the sandbox.
func (d *Driver) start(ctx context.Context, args []string, cpu int, timeout time.Duration) (*process, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("driver: %w", err), inR.Close(), inW.Close())
	}
	spec := sandbox.Spec{
		Path: d.Path, Args: args, CPU: cpu, Stdin: inR, ExtraFiles: []*os.File{outW},
		Timeout: timeout, MaxOutput: maxOutput,
		Limits: sandbox.Limits{AddressSpace: maxAddress, FileSize: maxFileSize, OpenFiles: maxOpenFiles},
	}
	if len(d.Emulator) > 0 {
		spec.Path = d.Emulator[0]
		spec.Args = append(append(append([]string{}, d.Emulator[1:]...), d.Path), args...)
		spec.Limits.AddressSpace = 0 // an emulator reserves more than it uses
	}
	p, err := sandbox.Start(ctx, spec)
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, fmt.Errorf("driver: %w", err)
	}
	return &process{Process: p, in: inW, out: outR}, nil
}

// close closes this side's ends of the pipes.
func (p *process) close() {
	p.in.Close()
	p.out.Close()
}
