package measure

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// maxPairBlocks bounds the blocks of one cell's file.
const maxPairBlocks = 4 << 20

var blockColumns = []string{"process", "first", "a1", "a2", "b1", "b2", "a1_ns", "a2_ns", "b1_ns", "b2_ns", "before", "after"}

// formatBlocks is every block of a cell, as a CSV that any statistics program
// reads: ticks and nanoseconds of each side's two batches, and the probes around
// them. A process of one side only has blocks of one batch: the rest is 0, first
// is empty.
func (c *pairCell) formatBlocks() ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	w := csv.NewWriter(zip)
	if err := w.Write(blockColumns); err != nil {
		return nil, err
	}
	orders := make([]int, 0, len(c.blocks))
	for o := range c.blocks {
		orders = append(orders, o)
	}
	slices.Sort(orders)
	row := make([]string, len(blockColumns))
	for _, o := range orders {
		for _, b := range c.blocks[o] {
			row[0], row[1] = strconv.Itoa(o), ""
			if b.First != 0 {
				row[1] = string(rune(b.First))
			}
			for i, v := range blockNumbers(&b) {
				row[2+i] = strconv.FormatUint(*v, 10)
			}
			if err := w.Write(row); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	if err := errors.Join(w.Error(), zip.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// blockNumbers are a block's numbers in the order of the columns.
func blockNumbers(b *driver.Block) []*uint64 {
	return []*uint64{&b.A[0], &b.A[1], &b.B[0], &b.B[1], &b.ANs[0], &b.ANs[1], &b.BNs[0], &b.BNs[1], &b.Before, &b.After}
}

// parseBlocks reads formatBlocks' file into blocks by process.
func parseBlocks(packed io.Reader) (map[int][]driver.Block, error) {
	zip, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(zip)
	r.FieldsPerRecord, r.ReuseRecord = len(blockColumns), true
	head, err := r.Read()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(head, blockColumns) {
		return nil, fmt.Errorf("columns %q", head)
	}
	blocks := map[int][]driver.Block{}
	for n := 0; ; n++ {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return blocks, nil
		case err != nil:
			return nil, err
		case n >= maxPairBlocks:
			return nil, fmt.Errorf("more than %d blocks", maxPairBlocks)
		}
		order, b, err := parseBlock(row)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", n+1, err)
		}
		blocks[order] = append(blocks[order], b)
	}
}

func parseBlock(row []string) (order int, b driver.Block, err error) {
	if order, err = strconv.Atoi(row[0]); err != nil || order < 1 {
		return 0, b, fmt.Errorf("process %q", row[0])
	}
	switch {
	case len(row[1]) == 1:
		b.First = row[1][0]
	case row[1] != "":
		return 0, b, fmt.Errorf("first %q", row[1])
	}
	for i, v := range blockNumbers(&b) {
		if *v, err = strconv.ParseUint(row[2+i], 10, 64); err != nil {
			return 0, b, fmt.Errorf("%s: %w", blockColumns[2+i], err)
		}
	}
	return order, b, nil
}

// save writes what has changed: first the blocks, then the comparison that
// names their digest.
func (r *pairRun) save() error {
	for _, c := range r.cells {
		if !c.dirty {
			continue
		}
		if c.Verdict == "" && c.undecided() {
			c.evaluate(r.now(), 0) // so that the figures of the file belong together
		}
		data, err := c.formatBlocks()
		if err != nil {
			return fmt.Errorf("%s: %w", c.Key(), err)
		}
		name := records.PairBlocksFileName(c.Candidate, c.Label, c.MessageBytes)
		if err := r.bench.Dir.Write(name, data); err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		c.Blocks, c.BlocksDigest = name, hex.EncodeToString(sum[:])
		if err := r.bench.Dir.WriteJSON(records.PairFileName(c.Candidate, c.Label, c.MessageBytes), c.Comparison); err != nil {
			return err
		}
		c.dirty = false
	}
	r.saved = r.clock()
	return nil
}

// loadBlocks reads the blocks of a comparison of dir and checks that they are
// the ones that it names, and those of its processes.
func loadBlocks(dir records.Dir, c *records.Comparison) (map[int][]driver.Block, error) {
	name := records.PairBlocksFileName(c.Candidate, c.Label, c.MessageBytes)
	data, err := os.ReadFile(dir.Abs(name))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != c.BlocksDigest {
		return nil, fmt.Errorf("%s: blocks_digest: the file is another", name)
	}
	blocks, err := parseBlocks(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for o, list := range blocks {
		for i, b := range list {
			if b.A[0] == 0 || b.ANs[0] == 0 || b.Before == 0 || b.After == 0 || b.First != 0 && (b.A[1] == 0 || b.B[0] == 0 || b.B[1] == 0) {
				return nil, fmt.Errorf("%s: process %d, block %d: a figure of 0", name, o, i+1)
			}
		}
	}
	return blocks, nil
}
