package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/proof/tools/variants"
)

type verdict int

const (
	alive verdict = iota
	killed
	timedOut // killed by the time limit
)

func (v verdict) String() string { return [...]string{"alive", "killed", "late"}[v] }

// A mutant is one edit of a file.
type mutant struct {
	file *file
	fn   *ast.FuncDecl // nil for one of a package variable or constant
	edit variants.Edit
	kind string // the operator
	// before and after are the changed lines, joined to one line each.
	before, after string
	// same numbers mutants of the file with the same text, from 0.
	same int
	// listed is set if the list of equivalents has the mutant.
	listed bool
	// instead is another mutant of the same code. If instead compiles, the mutant that has this
	// field is not used.
	instead *mutant

	id      int // from 1
	verdict verdict
	killer  string        // the test that noticed it
	took    time.Duration // processor time
}

// String returns the mutant's line of output.
func (m *mutant) String() string {
	at := m.file.position(m.edit.From)
	return fmt.Sprintf("%s:%d:%d  %s", m.file.short, at.Line, at.Column, m.change())
}

// key names the mutant in the list of equivalents, without its line.
func (m *mutant) key() string { return m.file.short + "  " + m.change() }

// family returns the key for the list of equivalents that covers every mutant of the same function.
func (m *mutant) family() string {
	if m.fn == nil {
		return ""
	}
	return m.file.short + "  func " + m.fn.Name.Name
}

func (m *mutant) change() string {
	s := m.before + " -> " + m.after
	if m.same > 0 {
		s += fmt.Sprintf(" #%d", m.same+1)
	}
	return s
}

// number numbers the mutants that have the same text.
func number(all []*mutant) {
	seen := map[string]int{}
	for _, m := range all {
		key := m.key()
		m.same = seen[key]
		seen[key]++
	}
}

// sample chooses random mutants of a package. It takes the operators in turn, and keeps the order
// of the mutants.
func sample(all []*mutant, o options) []*mutant {
	var out []*mutant
	for _, m := range all {
		if o.match.MatchString(m.String()) {
			out = append(out, m)
		}
	}
	if o.size == 0 || o.size >= len(out) {
		return out
	}

	// A kind gets its next mutant when every other kind has had its turn.
	draws := rand.New(rand.NewPCG(o.seed, 0))
	draws.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	turns, turn := map[string]int{}, map[*mutant]int{}
	for _, m := range out {
		turn[m] = turns[m.kind]
		turns[m.kind]++
	}
	slices.SortStableFunc(out, func(a, b *mutant) int { return turn[a] - turn[b] })

	out = out[:o.size]
	slices.SortFunc(out, func(a, b *mutant) int { return a.id - b.id })
	return out
}

// newMutant describes an edit by the lines that it changes.
func newMutant(f *file, fn *ast.FuncDecl, kind string, e variants.Edit) *mutant {
	from := strings.LastIndexByte(f.text[:e.From], '\n') + 1
	to := len(f.text)
	if i := strings.IndexByte(f.text[e.To:], '\n'); i >= 0 {
		to = e.To + i
	}
	after := oneLine(f.text[from:e.From] + e.Text + f.text[e.To:to])
	if after == "" {
		after = "nothing"
	}
	return &mutant{file: f, fn: fn, kind: kind, edit: e, before: oneLine(f.text[from:to]), after: after}
}

// oneLine folds white space, and shortens a long text in the middle.
func oneLine(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 160 {
		return string(r[:110]) + " ... " + string(r[len(r)-40:])
	}
	return string(r)
}

// with returns the text of the file after an edit.
func (f *file) with(e variants.Edit) string { return variants.Apply(f.text, []variants.Edit{e}) }

// offset returns the offset of a position in the text.
func (f *file) offset(p token.Pos) int { return f.tokens.Offset(p) }

func (f *file) position(offset int) token.Position {
	return f.tokens.Position(f.tokens.Pos(offset))
}

func (f *file) source(n ast.Node) string { return f.text[f.offset(n.Pos()):f.offset(n.End())] }
