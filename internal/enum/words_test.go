package enum_test

import (
	"encoding"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// words has a value of each exported type whose text is a word or a list of words. The value
// differs from the zero value.
var words = map[string]encoding.TextMarshaler{
	"cronjob.CatchUp":         cronjob.CatchUpAll,
	"cronjob.MarkPlace":       cronjob.InName,
	"cronjob.NameForm":        cronjob.NameCustom,
	"cronjobquirk.Set":        cronjobquirk.Of(release.V131()),
	"cronjobreason.Create":    cronjobreason.CreateTriggered,
	"cronjobreason.Delete":    cronjobreason.DeleteReplaced,
	"cronjobreason.Problem":   cronjobreason.ProblemUnknownTimeZone,
	"cronjobreason.Result":    cronjobreason.ResultDone,
	"cronjobreason.Unstarted": cronjobreason.UnstartedHeld,
	"cronjobreason.Wait":      cronjobreason.WaitSuspended,
	"job.PodPhase":            job.PodFailed,
	"jobgroup.Kind":           jobgroup.KindPodGroup,
	"jobgroup.Reason":         jobgroup.ReasonResized,
	"jobpod.Kind":             jobpod.Init,
	"jobpod.Ownership":        jobpod.Foreign,
	"jobpod.State":            jobpod.Running,
	"jobquirk.Set":            jobquirk.Of(release.V131()),
	"jobreason.Counted":       jobreason.CountedIndex,
	"jobreason.Create":        jobreason.CreateNew,
	"jobreason.Delete":        jobreason.DeleteSurplus,
	"jobreason.Result":        jobreason.ResultDone,
	"jobreason.Wait":          jobreason.WaitBackoff,
	"release.Gates":           release.GatesOf(release.JobManagedBy),
	"release.Release":         release.V133(),
}

// noWords lists the types that are read from text and are not in words.
var noWords = []string{"job.Indexes"} // numbers

// TestUnknownWords: an unknown word or a number is an error that quotes it, as text and as JSON,
// and changes nothing. Each value reads what it writes, and the empty text is the zero value.
func TestUnknownWords(t *testing.T) {
	for name, word := range words {
		t.Run(name, func(t *testing.T) {
			text, err := word.MarshalText()
			if err != nil || len(text) == 0 {
				t.Fatalf("text %q, %v", text, err)
			}
			read := func(text string) (any, error) {
				into := reflect.New(reflect.TypeOf(word))
				into.Elem().Set(reflect.ValueOf(word))
				err := into.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
				return into.Elem().Interface(), err
			}
			if got, err := read(string(text)); err != nil || got != word {
				t.Errorf("%q: got %v, %v", text, got, err)
			}
			if got, err := read(""); name != "release.Release" && (err != nil || !reflect.ValueOf(got).IsZero()) {
				t.Errorf("the empty text: got %v, %v", got, err)
			}
			for _, unknown := range []string{"Later", string(text) + "Later", "|", "1.99", "200"} {
				got, err := read(unknown)
				quoted := unknown[strings.LastIndex(unknown, ",")+1:]
				if err == nil || !strings.Contains(err.Error(), quoted) || got != word {
					t.Errorf("%q: got %v, error %v", unknown, got, err)
				}
			}
			for _, unknown := range []string{`"Later"`, `7`, `true`, `{}`} {
				into := reflect.New(reflect.TypeOf(word))
				if err := json.Unmarshal([]byte(unknown), into.Interface()); err == nil || !into.Elem().IsZero() {
					t.Errorf("%s: got %v, error %v", unknown, into.Elem(), err)
				}
			}
			readAll(t, reflect.TypeOf(word))
		})
	}

	for _, reply := range []any{&job.Reply{}, &cronjob.Reply{}} {
		for _, unknown := range []string{`"later"`, `{"result":"later"}`, `7`} {
			if err := json.Unmarshal([]byte(unknown), reply); err == nil {
				t.Errorf("%T: %s is read", reply, unknown)
			}
		}
	}
}

// aWord matches words, which are written like the names of constants.
var aWord = regexp.MustCompile(`^([A-Z][A-Za-z]*)?$`)

// readAll reads the text of each value of a numeric type. A value without a name has no text.
func readAll(t *testing.T, of reflect.Type) {
	t.Helper()
	if of.Kind() != reflect.Uint8 {
		return
	}
	named := 0
	for n := range 256 {
		value, into := reflect.New(of), reflect.New(of)
		value.Elem().SetUint(uint64(n))
		text, err := value.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			continue
		}
		err = into.Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
		if err != nil || into.Elem().Uint() != uint64(n) || named != n || !aWord.Match(text) {
			t.Errorf("%d writes %q, which is read as %d, %v", n, text, into.Elem().Uint(), err)
		}
		named++
	}
	if named < 2 || named > 100 {
		t.Errorf("%d values have names", named)
	}
}

// TestUnknownWords_Each: the lists words and noWords have every exported type that is read from
// text.
func TestUnknownWords_Each(t *testing.T) {
	const root = "../.."
	method := regexp.MustCompile(`(?m)^func \(\w* ?\*([A-Z]\w*)\) UnmarshalText\(`)
	found := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"internal", "cmd", "proof", "examples", "testdata", ".git"}, d.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, m := range method.FindAllStringSubmatch(testfile.Read(t, path), -1) {
			name := filepath.Base(filepath.Dir(path)) + "." + m[1]
			if found++; words[name] == nil && !slices.Contains(noWords, name) {
				t.Errorf("%s: %s is read from text: add it to words", path, name)
			}
		}
		return nil
	})
	must.OK(t, err)
	if want := len(words) + len(noWords); found != want {
		t.Errorf("%d types are read from text, and %d are listed", found, want)
	}
}
