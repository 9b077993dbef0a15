package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Selection is what a command was asked to work on. Empty lists mean: every
// candidate that is no yardstick, every instance, the reference variant, every
// level.
type Selection struct {
	Candidates []string // ids or names
	Instances  []string
	Variants   []string // names, a kind of the guide (performance), or all
	Sizes      []int    // bytes
}

// Labels lists the labels that sel names, in catalogue order. A name that is in
// no candidate is an error that lists what there is.
func (r *Root) Labels(sel Selection) ([]Label, error) {
	variants := sel.Variants
	if len(variants) == 0 {
		variants = []string{Reference}
	}
	used := map[string]bool{}
	var out []Label
	for _, c := range r.Candidates {
		if !sel.wants(c, used) {
			continue
		}
		for _, l := range c.Labels() {
			if len(sel.Instances) > 0 && !mark(used, "instance "+l.Instance.Name, slices.Contains(sel.Instances, l.Instance.Name)) {
				continue
			}
			for _, v := range variants {
				if mark(used, "variant "+v, v == "all" || v == l.Variant.Name || v == l.Variant.Kind()) {
					out = append(out, l)
					break
				}
			}
		}
	}
	if err := r.unknown(sel, variants, used); err != nil {
		return nil, err
	}
	return out, nil
}

func mark(used map[string]bool, key string, ok bool) bool {
	if ok {
		used[key] = true
	}
	return ok
}

func (sel Selection) wants(c *Candidate, used map[string]bool) bool {
	if len(sel.Candidates) == 0 {
		if !c.Yardstick {
			return true
		}
		// An instance that is asked for by name brings its yardstick in.
		return slices.ContainsFunc(c.Instances, func(in Instance) bool { return slices.Contains(sel.Instances, in.Name) })
	}
	for _, name := range sel.Candidates {
		if mark(used, "candidate "+name, name == c.ID || strings.EqualFold(name, c.Name) || name == "all") {
			return true
		}
	}
	return false
}

// unknown names whatever of the selection matched nothing.
func (r *Root) unknown(sel Selection, variants []string, used map[string]bool) error {
	var ids, instances, names []string
	for _, c := range r.Candidates {
		ids = append(ids, c.ID)
		for _, l := range c.Labels() {
			if sel.wants(c, map[string]bool{}) {
				instances = append(instances, l.Instance.Name)
				names = append(names, l.Variant.Name)
			}
		}
	}
	for _, n := range sel.Candidates {
		if !used["candidate "+n] {
			return fmt.Errorf("no candidate %q; there are: %s", n, strings.Join(ids, ", "))
		}
	}
	for _, n := range sel.Instances {
		if !used["instance "+n] {
			return fmt.Errorf("no instance %q among the candidates selected; there are: %s", n, list(instances))
		}
	}
	for _, n := range variants {
		if !used["variant "+n] {
			return fmt.Errorf("no variant %q among the labels selected; there are: %s", n, list(names))
		}
	}
	return nil
}

func list(names []string) string {
	slices.SortFunc(names, NaturalCompare)
	return strings.Join(slices.Compact(names), ", ")
}

// CheckSizes refuses message sizes that are not levels.
func CheckSizes(sizes []int) ([]int, error) {
	if len(sizes) == 0 {
		return Levels, nil
	}
	out := slices.Clone(sizes)
	slices.Sort(out)
	for _, n := range out {
		if !slices.Contains(Levels, n) {
			return nil, fmt.Errorf("size %d is none of the levels %v", n, Levels)
		}
	}
	return slices.Compact(out), nil
}
