package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestJ13_IndexAnnotation(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Index
	}{
		{"zero is an index", "0", IndexAt(0)},
		{"the greatest index", "2147483646", IndexAt(2147483646)},
		{"a missing annotation", "", NoIndex()},
		{"a negative number", "-1", NoIndex()},
		{"a number that does not fit", "2147483648", NoIndex()},
		{"a number that fits nowhere", "99999999999999999999", NoIndex()},
		{"no number", "three", NoIndex()},
		{"a number with a space", " 3", NoIndex()},
		{"a fraction", "3.0", NoIndex()},
	} {
		if got := parseIndex(test.text); got != test.want {
			t.Errorf("%s: parseIndex(%q) = %v, want %v", test.name, test.text, got, test.want)
		}
	}
}

func TestJ18_CountAnnotation(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       int32
	}{
		{"a count", "7", 7},
		{"a count of two digits", "12", 12},
		{"a missing annotation", "", 0},
		{"a negative count", "-7", 0},
		{"no number", "seven", 0},
		{"a number that does not fit", "2147483648", 0},
	} {
		if got := parseCount(test.text); got != test.want {
			t.Errorf("%s: parseCount(%q) = %d, want %d", test.name, test.text, got, test.want)
		}
	}
}

// A pod whose annotations are read back is equal to Creation.Pod, so a backend needs to keep
// nothing else of a Creation.
func TestJ18_J33_AnnotationsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Creation{Index: IndexAt(rapid.Int32Range(-1, 9).Draw(t, "index")),
			Unlabeled: rapid.Bool().Draw(t, "unlabeled")}
		if c.PerIndex = c.Index != NoIndex() && rapid.Bool().Draw(t, "per index"); c.PerIndex {
			c.FailureCount = rapid.Int32Range(0, 9).Draw(t, "failures")
			c.IgnoredFailureCount = rapid.Int32Range(0, 9).Draw(t, "ignored")
		}
		want := c.Pod("j-x", "x", second(1))

		pod := Pod{Name: "j-x", UID: "x", Index: IndexAt(7), Detail: &PodDetail{CreationTimestamp: second(1)}}
		if rapid.Bool().Draw(t, "garbage") {
			pod.Detail.FailureCount, pod.Detail.IgnoredFailureCount = 3, 3
		}
		pod.ReadAnnotations(c.Annotations())
		if diff := cmp.Diff(want, pod, cmp.Comparer(func(a, b Index) bool { return a == b })); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestAnnotations_NoDetail: a pod without a detail gets one if its annotations have a failure
// count.
func TestAnnotations_NoDetail(t *testing.T) {
	for failures, want := range map[string]*PodDetail{"2": {FailureCount: 2}, "": nil} {
		var pod Pod
		pod.ReadAnnotations(map[string]string{failuresAnnotation: failures})
		if diff := cmp.Diff(want, pod.Detail); diff != "" {
			t.Errorf("%q: %s", failures, diff)
		}
	}
}
