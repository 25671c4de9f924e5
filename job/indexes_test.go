package job_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

func TestJ14_ParseIndexes(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		length           int
		problem          string
	}{
		{"nothing", "", "", 0, ""},
		{"one index", "7", "7", 1, ""},
		{"a run of two keeps the comma", "3,4", "3,4", 2, ""},
		{"a run of two written with a dash", "3-4", "3,4", 2, ""},
		{"a run of three gets a dash", "1,2,3,5", "1-3,5", 4, ""},
		{"an interval of one", "5-5", "5", 1, ""},
		{"out of order and overlapping", "5-7,1,6-8", "1,5-8", 5, ""},
		{"one inside another", "1-9,3-4", "1-9", 9, ""},
		{"leading zeros", "007", "7", 1, ""},
		{"the greatest index", "2147483647", "2147483647", 1, ""},
		{"two billion indexes", "0-2000000000", "0-2000000000", 2_000_000_001, ""},
		{"no number", "1,x,3", "1,3", 2, `indexes: "x": is neither an index nor a range`},
		{"the first of several", "a,2,b", "2", 1, `indexes: "a": is neither an index nor a range`},
		{"the wrong way round", "5-2", "", 0, `indexes: "5-2": is neither an index nor a range`},
		{"an empty piece", "1,,2", "1,2", 2, `indexes: "": is neither an index nor a range`},
		{"a comma at the end", "1,", "1", 1, `indexes: "": is neither an index nor a range`},
		{"a negative index", "-3", "", 0, `indexes: "-3": is neither an index nor a range`},
		{"a plus sign", "+3,5-+7", "3,5-7", 4, ""},
		{"two plus signs", "++3", "", 0, `indexes: "++3": is neither an index nor a range`},
		{"no end", "7-", "", 0, `indexes: "7-": is neither an index nor a range`},
		{"three ends", "1-2-3", "", 0, `indexes: "1-2-3": is neither an index nor a range`},
		{"a space", "1, 2", "1", 1, `indexes: " 2": is neither an index nor a range`},
		{"too great", "2147483648,2", "2", 1, `indexes: "2147483648": is neither an index nor a range`},
		{"a long piece is cut", strings.Repeat("9", 99), "", 0, `indexes: "` + strings.Repeat("9", 40) + `...": is neither an index nor a range`},
	} {
		s, err := job.ParseIndexes(test.text)
		if got := s.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if s.Len() != test.length {
			t.Errorf("%s: Len %d, want %d", test.name, s.Len(), test.length)
		}

		problem := ""
		if bad := (*job.InputError)(nil); errors.As(err, &bad) {
			problem = bad.Error()
		} else if err != nil {
			t.Errorf("%s: %T is not an InputError", test.name, err)
		}
		if problem != test.problem {
			t.Errorf("%s: error %q, want %q", test.name, problem, test.problem)
		}
	}
}

func TestIndexes_Operations(t *testing.T) {
	parse := func(text string) job.Indexes {
		s, err := job.ParseIndexes(text)
		must.OK(t, err)
		return s
	}

	for _, test := range []struct {
		name string
		got  job.Indexes
		want string
	}{
		{"With joins its neighbours", parse("0-2,5-7").With(3, 4), "0-7"},
		{"With nothing", parse("1").With(3, 2), "1"},
		{"With negative indexes", job.Indexes{}.With(-5, 1), "0,1"},
		{"With negative indexes only", job.Indexes{}.With(-5, -1), ""},
		{"With the greatest index", job.Indexes{}.With(math.MaxInt32, math.MaxInt32).With(0, math.MaxInt32-1), "0-2147483647"},
		{"Union of neighbours", parse("1,3,5").Union(parse("0,2,4")), "0-5"},
		{"Intersect", parse("0-4,7-9").Intersect(parse("3-7,9")), "3,4,7,9"},
		{"Minus", parse("0-9").Minus(parse("0,4,9")), "1-3,5-8"},
		{"Minus all", parse("0-9").Minus(parse("0-2147483647")), ""},
		{"Minus nothing", parse("2147483647").Minus(job.Indexes{}), "2147483647"},
		{"Clip within a run", parse("0-9").Clip(3), "0-2"},
		{"Clip all", parse("5-9").Clip(5), ""},
		{"Clip to nothing", parse("0").Clip(0), ""},
		{"Clip below zero", parse("0").Clip(-1), ""},
	} {
		if got := test.got.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestIndexes_Stop stops each iterator after one step.
func TestIndexes_Stop(t *testing.T) {
	s := job.Indexes{}.With(1, 3).With(5, 9)
	var got []int32
	for i := range s.All() {
		got = append(got, i)
		break
	}
	for i := range s.Missing(9) {
		got = append(got, i)
		break
	}
	for first, last := range s.Ranges() {
		got = append(got, first, last)
		break
	}
	if want := []int32{1, 0, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("All, Missing and Ranges begin with %v, want %v", got, want)
	}
	for i := range s.Missing(-1) {
		t.Errorf("Missing(-1) has %d", i)
	}
}

func TestIndexes_JSON(t *testing.T) {
	type holder struct {
		Done job.Indexes `json:"done"`
		None job.Indexes `json:"none,omitzero"`
	}
	data, err := json.Marshal(holder{Done: job.Indexes{}.With(0, 4).With(7, 7)})
	if err != nil || string(data) != `{"done":"0-4,7"}` {
		t.Errorf("got %s, %v", data, err)
	}
	if text, err := (job.Indexes{}).MarshalText(); text == nil || err != nil {
		t.Errorf("no indexes are no text: %v", err)
	}
	var back holder
	if err := json.Unmarshal([]byte(`{"done":"3,4,5"}`), &back); err != nil || back.Done.String() != "3-5" {
		t.Errorf("got %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"done":"8,x"}`), &back); err == nil || back.Done.String() != "3-5" {
		t.Errorf("a corrupt list: got %v, %v", back, err)
	}
}

// indexModel is a set of indexes that is too simple to be wrong.
type indexModel map[int32]bool

func (m indexModel) indexes() job.Indexes {
	var s job.Indexes
	for _, i := range slices.Sorted(maps.Keys(m)) {
		s = s.With(i, i)
	}
	return s
}

// drawIndexes draws a set and its model. Many of the indexes are adjacent.
func drawIndexes(t *rapid.T, label string) (job.Indexes, indexModel) {
	var s job.Indexes
	m := indexModel{}
	for range rapid.IntRange(0, 8).Draw(t, label+" ranges") {
		first := rapid.SampledFrom([]int32{0, 0, 0, math.MaxInt32 - 40}).Draw(t, label+" base") +
			rapid.Int32Range(0, 30).Draw(t, label+" first")
		last := first + rapid.Int32Range(-1, 10).Draw(t, label+" length")
		s = s.With(first, last)
		for i := int64(first); i <= int64(last); i++ { // the greatest index is the greatest int32
			m[int32(i)] = true
		}
	}
	return s, m
}

func TestIndexes_EqualsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, in := drawIndexes(t, "a")
		b, with := drawIndexes(t, "b")
		union, both, rest := indexModel{}, indexModel{}, indexModel{}
		for i := range in {
			union[i] = true
			if with[i] {
				both[i] = true
			} else {
				rest[i] = true
			}
		}
		maps.Copy(union, with)

		limit := rapid.Int32Range(0, 60).Draw(t, "limit")
		clipped := maps.Clone(in)
		maps.DeleteFunc(clipped, func(i int32, _ bool) bool { return i >= limit })

		for _, c := range []struct {
			name string
			got  job.Indexes
			want indexModel
		}{
			{"a", a, in}, {"union", a.Union(b), union}, {"intersect", a.Intersect(b), both},
			{"minus", a.Minus(b), rest}, {"clip", a.Clip(limit), clipped},
		} {
			checkModel(t, c.name, c.got, c.want)
		}

		var free []int32
		for i := range limit {
			if !in[i] {
				free = append(free, i)
			}
		}
		if got := slices.Collect(a.Missing(limit)); !slices.Equal(got, free) {
			t.Fatalf("missing below %d of %v: %v, want %v", limit, a, got, free)
		}
	})
}

// checkModel compares the answers, the representation and the text of a set with its model.
func checkModel(t *rapid.T, name string, s job.Indexes, m indexModel) {
	if back, err := job.ParseIndexes(s.String()); err != nil || !back.Equal(s) {
		t.Fatalf("%s: %v reads back as %v, error %v", name, s, back, err)
	}

	want := slices.Sorted(maps.Keys(m))
	if got := slices.Collect(s.All()); !slices.Equal(got, want) {
		t.Fatalf("%s is %v, want %v", name, got, want)
	}
	if s.Len() != len(m) || !s.Equal(m.indexes()) || len(m) == 0 && !reflect.DeepEqual(s, job.Indexes{}) {
		t.Fatalf("%s: Len %d of %d, %#v", name, s.Len(), len(m), s)
	}

	at := rapid.Int32Range(-2, 45).Draw(t, "at")
	if s.Has(at) != m[at] {
		t.Fatalf("%s: Has(%d) is %v", name, at, s.Has(at))
	}

	before := int64(-2)
	for first, last := range s.Ranges() {
		if int64(first) <= before+1 || last < first {
			t.Fatalf("%s: range %d-%d comes after %d", name, first, last, before)
		}
		before = int64(last)
	}
}

// TestIndexes_Values checks that no operation changes an existing set. The sets are made from each
// other, so that they share memory if they can.
func TestIndexes_Values(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := []job.Indexes{{}}
		texts := []string{""}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			a := rapid.SampledFrom(sets).Draw(t, "a")
			b := rapid.SampledFrom(sets).Draw(t, "b")
			i := rapid.Int32Range(0, 20).Draw(t, "i")
			switch rapid.IntRange(0, 5).Draw(t, "operation") {
			case 0, 1:
				a = a.With(i, i+rapid.Int32Range(0, 2).Draw(t, "more"))
			case 2:
				a = a.Union(b)
			case 3:
				a = a.Intersect(b)
			case 4:
				a = a.Minus(b)
			case 5:
				a = a.Clip(i)
			}

			sets, texts = append(sets, a), append(texts, a.String())
			for n, s := range sets {
				if s.String() != texts[n] {
					t.Fatalf("%q became %q", texts[n], s)
				}
			}
		}
	})
}

// TestIndexes_EqualsSet compares Indexes with the set that the planner uses.
func TestIndexes_EqualsSet(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"0", "1", "2", "3-5", "4,5", "6-6", "9-7", "", "x", "1-", "-1", "12-40",
		"8191,8192", "2147483646", "2147483648", "03", "+4"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 9).Draw(t, "pieces"), ",")
		compareWithSet(t, text, rapid.SampledFrom([]int32{0, 4, 30, 10_000, math.MaxInt32}).Draw(t, "limit"))
	})
}

func compareWithSet(t interface{ Fatalf(string, ...any) }, text string, limit int32) {
	var set indexset.Set
	corrupt := set.AddText(text, limit).Corrupt
	s, err := job.ParseIndexes(text)
	if (err != nil) != (corrupt != nil) {
		t.Fatalf("%q: error %v, corrupt pieces %q", text, err, corrupt)
	}
	s = s.Clip(limit)
	if want := string(set.AppendText(nil)); s.String() != want || s.Len() != set.Len() {
		t.Fatalf("%q below %d is %q with %d, want %q with %d", text, limit, s, s.Len(), want, set.Len())
	}
}

func FuzzParseIndexes(f *testing.F) {
	for _, seed := range []string{"", "1", "1,2", "3-4", "1-3,5", "5-2", "2147483647", "2147483648", "0-2147483647",
		"00-01", "1,,2", "-", "1-2-3", "+1", "1_0", " 1", "7,1-9,3", "9999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		compareWithSet(t, text, math.MaxInt32)
		s, _ := job.ParseIndexes(text)
		back, err := job.ParseIndexes(s.String())
		if err != nil || !back.Equal(s) || back.String() != s.String() {
			t.Fatalf("%q is %v, and then %v, %v", text, s, back, err)
		}
	})
}

// everySecond returns a list of n indexes, no two of them adjacent: the longest text for n indexes.
func everySecond(n, first int) string {
	text := strconv.AppendInt(nil, int64(first), 10)
	for i := 1; i < n; i++ {
		text = strconv.AppendInt(append(text, ','), int64(2*i+first), 10)
	}
	return string(text)
}

func BenchmarkIndexes(b *testing.B) {
	text := everySecond(100_000, 0)
	even, err := job.ParseIndexes(text)
	must.OK(b, err)
	odd, err := job.ParseIndexes(everySecond(100_000, 1))
	must.OK(b, err)
	for name, holds := range map[string]func() bool{
		"Parse":  func() bool { s, err := job.ParseIndexes(text); return err == nil && s.Len() == 100_000 },
		"String": func() bool { return even.String() == text },
		"Union":  func() bool { return even.Union(odd).Len() == 200_000 },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !holds() {
					b.Fatal("indexes are lost")
				}
			}
		})
	}
}

// The example lists the indexes that a job with ten completions still has to run.
func ExampleIndexes() {
	completed, err := job.ParseIndexes("0-3,6")
	if err != nil {
		fmt.Println(err)
		return
	}
	failed := job.Indexes{}.With(8, 8)
	decided := completed.Union(failed)
	fmt.Println(decided, decided.Len())
	fmt.Println(slices.Collect(decided.Missing(10)))
	fmt.Println(decided.With(4, 5))

	someGood, err := job.ParseIndexes("1,2,x")
	fmt.Println(someGood, err)
	// Output:
	// 0-3,6,8 6
	// [4 5 7 9]
	// 0-6,8
	// 1,2 indexes: "x": is neither an index nor a range
}
