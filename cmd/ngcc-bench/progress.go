package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a stage is: a bar with the time left on a terminal,
// one line a finished piece elsewhere.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	stage string
	bar   *progressbar.ProgressBar
}

func newProgress(out io.Writer, stage string, n int) *progress {
	p := &progress{out: out, stage: stage}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(n,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(fmt.Sprintf("%-8s", stage)),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish())
	}
	return p
}

// done says that the piece called name is finished, with what result.
func (p *progress) done(name, result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		fmt.Fprintf(p.out, "%-8s %s: %s\n", p.stage, name, result)
		return
	}
	p.bar.Describe(fmt.Sprintf("%-8s %s", p.stage, name))
	_ = p.bar.Add(1)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
