package measure

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"strconv"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// writeBatches keeps every batch of a cell beside its record, as a CSV that
// any statistics program reads.
func (b *Bench) writeBatches(r *records.Record, results []*driver.TimeResult) error {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	w := csv.NewWriter(zip)
	row := []string{"trial", "calls", "ticks", "nanoseconds", "instructions"}
	if err := w.Write(row); err != nil {
		return err
	}
	for i, res := range results {
		for _, batch := range res.Batches {
			row[0] = strconv.Itoa(i + 1)
			row[1] = strconv.FormatUint(batch.Calls, 10)
			row[2] = strconv.FormatUint(batch.Ticks, 10)
			row[3] = strconv.FormatUint(batch.Nanoseconds, 10)
			row[4] = ""
			if res.HasInstructions {
				row[4] = strconv.FormatUint(batch.Instructions, 10)
			}
			if err := w.Write(row); err != nil {
				return err
			}
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	name := records.BatchFileName(r.Candidate, r.Label, r.MessageBytes)
	if err := b.Dir.Write(name, packed.Bytes()); err != nil {
		return err
	}
	sum := sha256.Sum256(packed.Bytes())
	r.Batches, r.BatchesDigest = name, hex.EncodeToString(sum[:])
	return nil
}
