// Package data embeds the default data root: the candidates in the house,
// their vectors and the accepted baselines. Published evidence (records/) is
// never embedded.
package data

import "embed"

// Root is the embedded data root.
//
//go:embed hashes kat baseline
var Root embed.FS
