package explain_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

var dump = flag.String("dump", "",
	"folder for the answers of TestVariants: write it before and after a change, and compare")

// TestVariants asks each question again with other times and other objects. The times are around
// each time in the answer, and the objects differ in one field. No person has read these answers.
// The file has a hash of the answers to each question. It shows for how many questions a change of
// the code changes an answer.
func TestVariants(t *testing.T) {
	const file = "testdata/variants.txt"
	stored := strings.Split(testfile.Read(t, file), "\n")
	var got strings.Builder
	asked := map[string]int{}
	for _, q := range questions(t) {
		t.Run(q.name, func(t *testing.T) {
			all := slices.Concat(atEdges(t, &q), withOtherFields(t, &q, asked))
			answers := []byte(strings.Join(all, "\n"))
			line := fmt.Sprintf("%s %d %.6x", q.name, len(all), sha256.Sum256(answers))
			got.WriteString(line + "\n")
			for _, wrong := range testfile.WrongCounts(string(answers)) {
				t.Errorf("wrong number: %q", wrong)
			}

			if *dump != "" {
				must.OK(t, os.WriteFile(filepath.Join(*dump, q.name), answers, 0o644))
			}
			if !*update && !slices.Contains(stored, line) {
				t.Error("some variants have other answers. Look at them with -dump, and write the file again with -update")
			}
		})
	}
	if *update {
		must.OK(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
}

// answer returns everything in the explanations except the plan, because the planner writes its
// text.
func answer(t *testing.T, title string, objects *read.Objects, o explain.Options) string {
	t.Helper()
	o.Timeline = true
	report := explain.All(objects, o)
	return fmt.Sprintf("== %s\n%s%s", title, text(t, report), encode(t, report))
}

var times = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// atEdges takes each time in the answer, a second before it, and a second after it. It explains the
// objects at each of these moments, and also at the time of the question with a forecast that ends
// at that moment.
func atEdges(t *testing.T, q *question) (all []string) {
	o := q.options
	o.For = time.Hour
	first := answer(t, "as it is", q.objects, o)
	var plot bytes.Buffer
	must.OK(t, explain.Plot(&plot, explain.All(q.objects, o).Objects))
	all = append(all, first, plot.String())
	found := times.FindAllString(first, -1)
	slices.Sort(found)
	for _, s := range slices.Compact(found) {
		at, err := time.Parse(time.RFC3339, s)
		must.OK(t, err)
		for _, by := range []time.Duration{-time.Second, 0, time.Second} {
			o := q.options
			if at.After(o.At) {
				o.For = at.Sub(o.At) + by
				all = append(all, answer(t, "for "+o.For.String(), q.objects, o))
				o.For = 0
			}
			o.At = at.Add(by)
			all = append(all, answer(t, "at "+o.At.String(), q.objects, o))
		}
	}
	return all
}

// enough is the number of questions in which the same field is changed.
const enough = 10

// withOtherFields explains objects in which one field is missing or has another value. It changes
// each field once. It leaves out a field that was already changed in enough questions.
func withOtherFields(t *testing.T, q *question, asked map[string]int) (all []string) {
	var list any
	must.OK(t, yaml.Unmarshal([]byte(testfile.Read(t, q.file+".yaml")), &list))
	ask := func(title string) {
		data, err := json.Marshal(list)
		must.OK(t, err)
		objects := &read.Objects{}
		stream := objects.Stream("variant.json")
		_, _ = stream.Write(data)
		_ = stream.Close()
		o := q.options
		o.For = time.Hour
		all = append(all, answer(t, title, objects, o))
	}

	seen := map[string]bool{}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok && path == ".items" {
					path = fmt.Sprint(m["kind"])
				}
				visit(path+"[]", e)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				name, was := path+"."+key, v[key]
				visit(name, was)
				message, _ := was.(string)
				for _, word := range numberInText.FindAllStringSubmatch(message, -1) {
					name += " " + word[1] // each kind of message
				}
				if seen[name] || asked[name] == enough {
					continue
				}
				seen[name] = true
				asked[name]++
				for _, other := range others(was) {
					v[key] = other
					ask(fmt.Sprintf("%s: %v", name, other))
				}
				delete(v, key)
				ask(name + ": none")
				v[key] = was
			}
		}
	}
	visit("", list)
	return all
}

// numberInText is a number in a message.
var numberInText = regexp.MustCompile(`([a-z]+) [0-9]+\b`)

// others returns other values than v.
func others(v any) []any {
	switch v := v.(type) {
	case bool:
		return []any{!v}
	case float64:
		return []any{v - 1, v + 1}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return []any{at.Add(-time.Second).Format(time.RFC3339), at.Add(time.Second).Format(time.RFC3339)}
		}
		if numberInText.MatchString(v) {
			return []any{numberInText.ReplaceAllString(v, "$1 -5"), numberInText.ReplaceAllString(v, "$1 99999999999999999999")}
		}
	}
	return nil
}
