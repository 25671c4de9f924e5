package indexset

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// model is a set too simple to be wrong.
type model map[int32]bool

func (m model) sorted() []int32 {
	var out []int32
	for i := range m {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

func members(s *Set) []int32 {
	var out []int32
	s.Ranges(func(first, last int32) bool {
		for i := int64(first); i <= int64(last); i++ {
			out = append(out, int32(i))
		}
		return true
	})
	return out
}

// index draws indexes, most of them near the borders of pages and of the type.
func index(t *rapid.T, label string) int32 {
	base := rapid.SampledFrom([]int32{0, 60, pageBits - 3, 3*pageBits - 3, 1<<31 - 1 - 200}).Draw(t, label+" base")
	return base + rapid.Int32Range(0, 150).Draw(t, label)
}

func TestSetEqualsModel(t *testing.T) {
	var reused Set
	rapid.Check(t, func(t *rapid.T) {
		reused.Reset()
		m := model{}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			first := index(t, "first")
			if rapid.Bool().Draw(t, "range") {
				last := min(first, 1<<31-1-20) + rapid.Int32Range(0, 20).Draw(t, "length")
				reused.AddRange(first, last)
				for i := first; i <= last; i++ {
					m[i] = true
				}
				continue
			}
			if isNew := reused.Add(first); isNew == m[first] {
				t.Fatalf("Add(%d) = %v, model has it: %v", first, isNew, m[first])
			}
			m[first] = true
		}

		if got := members(&reused); !slices.Equal(got, m.sorted()) {
			t.Fatalf("members %v, want %v", got, m.sorted())
		}
		if reused.Len() != len(m) {
			t.Fatalf("Len %d, want %d", reused.Len(), len(m))
		}
		probe := index(t, "probe")
		if reused.Has(probe) != m[probe] {
			t.Fatalf("Has(%d) = %v, want %v", probe, reused.Has(probe), m[probe])
		}

		wantFree := probe
		for wantFree < 1<<31-1 && m[wantFree] {
			wantFree++
		}
		if got := NextFree(probe, 1<<31-1, &reused); got != wantFree {
			t.Fatalf("NextFree(%d) = %d, want %d", probe, got, wantFree)
		}
	})
}

// Sets of four pages, some of them full, are compared with slices of bools: first each set alone,
// then both together.
func TestFullPagesEqualModel(t *testing.T) {
	const size = 4 * pageBits
	var sets [2]Set
	rapid.Check(t, func(t *rapid.T) {
		var models [2][size]bool
		border := rapid.SampledFrom([]int32{0, 1, 63, 64, pageBits - 1, pageBits, pageBits + 1,
			2*pageBits - 1, 2 * pageBits, 3 * pageBits, size - 1})
		for k := range sets {
			sets[k].Reset()
			for range rapid.IntRange(0, 5).Draw(t, "steps") {
				first, last := border.Draw(t, "first"), border.Draw(t, "last")
				if rapid.Bool().Draw(t, "single") {
					last = first
					if isNew := sets[k].Add(first); isNew == models[k][first] {
						t.Fatalf("Add(%d) = %v", first, isNew)
					}
				} else {
					sets[k].AddRange(first, last)
				}
				for i := first; i <= last; i++ {
					models[k][i] = true
				}
			}
			checkAgainst(t, &sets[k], models[k][:])
		}

		both := 0
		for i := range size {
			if models[0][i] && models[1][i] {
				both++
			}
		}
		if a, b := Common(&sets[0], &sets[1]), Common(&sets[1], &sets[0]); a != both || b != both {
			t.Fatalf("Common %d and %d, want %d", a, b, both)
		}

		from, limit := border.Draw(t, "from"), border.Draw(t, "limit")
		want := from
		for want < limit && (models[0][want] || models[1][want]) {
			want++
		}
		if want > limit {
			want = limit
		}
		if got := NextFree(from, limit, &sets[0], &sets[1]); got != want {
			t.Fatalf("NextFree(%d, %d) = %d, want %d", from, limit, got, want)
		}

		sets[0].Remove(&sets[1])
		for i := range size {
			models[0][i] = models[0][i] && !models[1][i]
		}
		checkAgainst(t, &sets[0], models[0][:])
		checkAgainst(t, &sets[1], models[1][:])
	})
}

func checkAgainst(t *rapid.T, s *Set, model []bool) {
	var got, want []int32
	for i, is := range model {
		if s.Has(int32(i)) != is {
			t.Fatalf("Has(%d) = %v", i, !is)
		}
		if is {
			want = append(want, int32(i))
		}
	}
	if got = members(s); !slices.Equal(got, want) || s.Len() != len(want) {
		t.Fatalf("%d members, Len %d, want %d", len(got), s.Len(), len(want))
	}
	if s.Has(-1) || s.Has(int32(len(model))) || s.Has(1<<31-1) {
		t.Fatal("contains an index that was never added")
	}
}

// A caller of Ranges may stop at any run.
func TestRangesStop(t *testing.T) {
	var s Set
	for _, i := range []int32{1, 3, 4, 7} {
		s.Add(i)
	}
	for stop, want := range [][]int32{{1, 1}, {1, 1, 3, 4}, {1, 1, 3, 4, 7, 7}} {
		var got []int32
		s.Ranges(func(first, last int32) bool {
			got = append(got, first, last)
			return len(got) < 2*(stop+1)
		})
		if !slices.Equal(got, want) {
			t.Errorf("stopped after %d runs: %v, want %v", stop+1, got, want)
		}
	}
}

// TestJ14_TextRoundTrips checks that parsing undoes formatting, and that a set has
// only one text.
func TestJ14_TextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, back Set
		for _, i := range rapid.SliceOfN(rapid.Int32Range(0, 40), 0, 30).Draw(t, "indexes") {
			s.Add(i)
		}
		text := string(s.AppendText(nil))
		if read := back.AddText(text, 1<<31-1); read.Corrupt != nil || !read.Canonical {
			t.Fatalf("%q is read as %+v", text, read)
		}
		if again := string(back.AppendText(nil)); again != text {
			t.Fatalf("%q became %q", text, again)
		}
	})
}

func TestJ14_Text(t *testing.T) {
	for _, c := range []struct {
		name, in string
		limit    int32
		out      string
		corrupt  []string
	}{
		{"empty", "", 10, "", nil},
		{"runs of two keep the comma", "3,4", 10, "3,4", nil},
		{"a run of two written with a dash is rewritten", "3-4", 10, "3,4", nil},
		{"runs of three or more get a dash", "1,2,3,5", 10, "1-3,5", nil},
		{"a pair and a run that touch are one run", "1,2,3-5", 10, "1-5", nil},
		{"a run and a number that touch are one run", "1-3,4", 10, "1-4", nil},
		{"plus signs are dropped", "+1,3-+5", 10, "1,3-5", nil},
		{"a plus sign without a number", "+,++1,1-+", 10, "", []string{"+", "++1", "1-+"}},
		{"leading zeros are dropped", "01,2", 10, "1,2", nil},
		{"leading zeros at either end of an interval", "01-3,5-07", 10, "1-3,5-7", nil},
		{"leading zeros at its beginning", "01-3", 10, "1-3", nil},
		{"leading zeros at its end", "1-03", 10, "1-3", nil},
		{"out of order and overlapping", "5-7,1,6-8", 10, "1,5-8", nil},
		{"clipped at the limit", "1-9", 4, "1-3", nil},
		{"beyond the limit", "7,9-12", 7, "", nil},
		{"a corrupt piece is skipped, the rest stays", "1,x,5-2,,7-,-3,8", 10, "1,8", []string{"x", "5-2", "", "7-", "-3"}},
		{"a number over 2^31-1 is corrupt", "2147483648,2", 10, "2", []string{"2147483648"}},
		{"two billion indexes", "0-2000000000", 1<<31 - 1, "0-2000000000", nil},
		{"the last index", "2147483646", 1<<31 - 1, "2147483646", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Set
			read := s.AddText(c.in, c.limit)
			if got := string(s.AppendText(nil)); got != c.out {
				t.Errorf("text %q, want %q", got, c.out)
			}
			if !slices.Equal(read.Corrupt, c.corrupt) {
				t.Errorf("corrupt %q, want %q", read.Corrupt, c.corrupt)
			}
			if read.Canonical != (c.in == c.out) {
				t.Errorf("canonical: %v", read.Canonical)
			}
			for i := range min(c.limit, 15) {
				if Lists(c.in, i) != s.Has(i) {
					t.Errorf("index %d: %v", i, s.Has(i))
				}
			}
		})
	}
}

// TestAddText_OverlappingRanges: a list can repeat a range of two billion indexes many
// times. A walk over the pages of each one would take minutes.
func TestAddText_OverlappingRanges(t *testing.T) {
	for _, text := range []string{"0-2147483646", "0-2147483646,1-2147483645", "5,0-2147483646,3-3", "0-2147483647,0-2147483647"} {
		var s Set
		read := s.AddText(strings.Repeat(text+",", 300_000)+"7", 1<<31-1)
		if got := string(s.AppendText(nil)); got != "0-2147483646" || read.Canonical {
			t.Errorf("%s, repeated: %q, canonical %v", text, got, read.Canonical)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "1", "1,2", "1-3,5", "5-2", "2147483647", "00-01", "1,,2", "-", "9999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, back Set
		read := s.AddText(text, 1<<31-1)
		canonical := string(s.AppendText(nil))
		if again := back.AddText(canonical, 1<<31-1); !again.Canonical || back.Len() != s.Len() {
			t.Fatalf("%q -> %q: %+v, %d of %d indexes", text, canonical, again, back.Len(), s.Len())
		}
		if read.Canonical != (text == canonical) {
			t.Fatalf("%q -> %q: canonical %v", text, canonical, read.Canonical)
		}
	})
}

func TestReusedSetDoesNotAllocate(t *testing.T) {
	var s Set
	fill := func() {
		s.Reset()
		s.AddRange(0, 100_000)
		s.Add(1 << 30)
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestFullPagesShareMemory: a job may have two billion indexes, and nearly all of them
// may be done.
func TestFullPagesShareMemory(t *testing.T) {
	n := testing.AllocsPerRun(1, func() {
		var s Set
		s.AddRange(0, 100*pageBits-1)
	})
	if n > 20 {
		t.Errorf("%v allocations for 100 full pages", n)
	}
}
